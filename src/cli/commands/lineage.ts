import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { drawImpact, drawTrace } from "../../lineage/draw-lineage.js";
import type { Downstream } from "../../lineage/trace.js";
import { findImpact, traceRecord } from "../../lineage/trace.js";
import type { Entity } from "../../model/lineage.js";
import type { RelatedRange } from "../../model/store.js";
import { impactView, traceView } from "../../present/drawing-view.js";
import { createLogWriter } from "../../present/log-writer.js";
import { parseLimit } from "../../record/record-query.js";
import { findRecord } from "../../record/find-records.js";
import type { StoreFlags, TimeRangeFlags } from "../flags.js";
import {
  addCommonFlags,
  addStoreFlags,
  formatFor,
  addTimeRangeFlags,
  timeRange,
  styleFor,
} from "../flags.js";
import type { Io } from "../io.js";
import { drawingFormats, writeDrawing, RecordPrinter } from "../output.js";
import { note, openRecords, warn } from "../world.js";

export function addLineageCommand(parent: Command, io: Io): void {
  const command = parent
    .command("lineage")
    .argument("[record]", "a record's id or the beginning of it, its number in the log, or latest")
    .option("--artifact <id>", "list the decisions that had this artifact as an input, newest first")
    .option("--entity <type:id>", "list the decisions that were about this entity, newest first")
    .option("--impact <artifact>", "draw everything that came of this artifact")
    .option("--limit <n>", `at most so many records (else ${defaultLimit})`);
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)), drawingFormats)
    .summary("draw what a decision rested on, and what rests on it")
    .description(
      "Of a record, draws the artifacts, entities, inputs and policies that it rested on, its parents, precedents and " +
        "the record that a cached answer is from; and where it led, the decisions and tool results that rest on it, " +
        "and the other decisions of the same check. --impact follows an artifact to all decisions that had it as an " +
        "input and on to what rests on those: child decisions, tool results, cached answers, and decisions that had one " +
        "of these records as an artifact. A target is shown, but never followed as an artifact of the same name. " +
        "A tree on a terminal; mermaid and dot for pages and pictures; in a pipe JSON. " +
        "--artifact and --entity list records as `log` does; --since and --until are theirs alone.",
    )
    .addHelpText(
      "after",
      `
In JSON, RECORD answers with fields of the record itself; rested_on {artifacts, artifact_records, entities, inputs,
policies, override, allowed_by, parents (nearest first), cached_from, precedents}; led_to {branches, proposed,
decisions, tool_results}; same_check; complete (false: there is more than --limit lets in); nodes and edges.
--impact answers with {artifact, decisions, tool_results, targets, complete, nodes, edges}. A record that was reached
says what it rests on (from) and how (relation: child, result, input_of or cached_answer); one that another names but
that is not in the log is {kind: "missing", record_id}. The id of a node begins with what it is: record:, artifact:,
entity:, input:, policy:, override: or target:.

Examples:
  $ agent-33 decision lineage latest
  $ agent-33 decision lineage 12 --format mermaid > lineage.mmd
  $ agent-33 decision lineage --artifact build-42 --since 7d
  $ agent-33 decision lineage --entity customer:c-1042 --limit 20 --json
  $ agent-33 decision lineage --impact build-42`,
    )
    .action(async (record: string | undefined, flags: LineageFlags) => {
      await answer(parseQuestion(record, flags), flags, io);
    });
}

function answer(question: LineageQuestion, flags: LineageFlags, io: Io): Promise<void> {
  switch (question.about) {
    case "list":
      return listRelated(question, flags, io);
    case "record":
      return showTrace(question, flags, io);
    case "impact":
      return showImpact(question, flags, io);
  }
}

type QuestionAbout<T extends LineageQuestion["about"]> = Extract<LineageQuestion, { readonly about: T }>;

const limitHint = "lower --limit";

async function showTrace(
  { record: reference, limit }: QuestionAbout<"record">,
  flags: LineageFlags,
  io: Io,
): Promise<void> {
  const format = formatFor(flags, io, { answer: "one", more: drawingFormats });
  const records = await openRecords(flags, io);
  const { record, intact } = await findRecord(reference, records);
  const trace = await traceRecord(record, records.log, limit);
  if (trace === undefined) {
    throw new DecisionError("usage", `record \`${reference}\` is a note about the log, not a decision`, {
      hint: "a note has no lineage; `agent-33 decision explain` says what it is about",
    });
  }
  const drawing = drawTrace(trace);
  await writeDrawing({ drawing, view: traceView(trace, drawing), format, smaller: limitHint }, flags, io);
  if (!intact) {
    warn(
      flags,
      io,
      `record ${record.seq} was changed since it was written; see \`agent-33 decision verify\``,
    );
  }
  warnOfGaps(trace, limit, (message) => warn(flags, io, message));
}

async function showImpact(
  { artifact, limit }: QuestionAbout<"impact">,
  flags: LineageFlags,
  io: Io,
): Promise<void> {
  const format = formatFor(flags, io, { answer: "one", more: drawingFormats });
  const { log } = await openRecords(flags, io);
  const impact = await findImpact(artifact, log, limit);
  const drawing = drawImpact(impact);
  await writeDrawing({ drawing, view: impactView(impact, drawing), format, smaller: limitHint }, flags, io);
  if (impact.steps.length === 0 && !flags.quiet && io.err.isTerminal) {
    note(io, `no decision had the artifact \`${artifact}\` as an input`);
  }
  warnOfGaps(impact, limit, (message) => warn(flags, io, message));
}

/** What is not in the drawing, but should be. */
function warnOfGaps(
  { complete, damaged }: Pick<Downstream, "complete" | "damaged">,
  limit: number,
  warning: (message: string) => void,
): void {
  if (!complete) warning(`this is not all: at most ${limit} records are followed; --limit N follows N`);
  if (damaged) warning("records that are damaged were left out; see `agent-33 decision verify`");
}

interface LineageFlags extends StoreFlags, TimeRangeFlags {
  readonly artifact?: string;
  readonly entity?: string;
  readonly impact?: string;
  readonly limit?: string;
}

/** What is asked of the lineage. */
type LineageQuestion =
  | { readonly about: "record"; readonly record: string; readonly limit: number }
  | { readonly about: "impact"; readonly artifact: string; readonly limit: number }
  | {
      readonly about: "list";
      readonly key: { readonly artifact: string } | { readonly entity: Entity };
      readonly range: RelatedRange & { readonly limit: number };
    };

const defaultLimit = 100;

/** The one thing that is asked; more than one, or none, is a wrong request. */
function parseQuestion(record: string | undefined, flags: LineageFlags): LineageQuestion {
  const { artifact, entity, impact } = flags;
  assertExactlyOne({ RECORD: record, "--artifact": artifact, "--entity": entity, "--impact": impact });
  const limit = flags.limit === undefined ? defaultLimit : parseLimit(flags.limit, "--limit");
  if (artifact !== undefined || entity !== undefined) {
    const key =
      entity === undefined
        ? { artifact: nonEmptyId("--artifact", artifact) }
        : { entity: parseEntity(entity) };
    return { about: "list", key, range: { ...timeRange(flags), limit } };
  }
  assertNoTimeRange(flags);
  if (impact !== undefined) return { about: "impact", artifact: nonEmptyId("--impact", impact), limit };
  return { about: "record", record: record ?? "", limit };
}

function assertExactlyOne(given: Readonly<Record<string, string | undefined>>): void {
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length === 1) return;
  const hint = "give one of RECORD, --artifact ID, --entity TYPE:ID and --impact ARTIFACT";
  if (names.length === 0) throw new DecisionError("usage", "it is not said whose lineage is meant", { hint });
  throw new DecisionError("usage", `${names.join(" and ")} exclude each other`, { hint });
}

function assertNoTimeRange({ since, until }: LineageFlags): void {
  if (since === undefined && until === undefined) return;
  throw new DecisionError("usage", `${since === undefined ? "--until" : "--since"} is for lists only`, {
    hint: "use it with --artifact or --entity; a lineage has no beginning and no end but its own",
  });
}

function nonEmptyId(flag: string, id = ""): string {
  if (id !== "") return id;
  throw new DecisionError("usage", `${flag} names nothing`, { hint: "such as `build-42`" });
}

/** Types have no colon; ids may have many. */
function parseEntity(text: string): Entity {
  const colon = text.indexOf(":");
  if (colon > 0 && colon < text.length - 1) return { type: text.slice(0, colon), id: text.slice(colon + 1) };
  throw new DecisionError("usage", `--entity must be TYPE:ID (got \`${text}\`)`, {
    hint: "such as `customer:c-1042`",
  });
}

type ListQuestion = Extract<LineageQuestion, { readonly about: "list" }>;

/** Lists the decisions that have to do with something, newest first, as the log does. */
async function listRelated({ key, range }: ListQuestion, flags: LineageFlags, io: Io): Promise<void> {
  assertListFormat(flags);
  const format = formatFor(flags, io, { answer: "many" });
  const { log } = await openRecords(flags, io);
  const printer = new RecordPrinter(io, await createLogWriter(format, await styleFor(flags, io)));
  let seen = 0;
  // One more than is shown tells whether there are more.
  for await (const line of log.related(key, { ...range, limit: range.limit + 1 })) {
    if (seen++ < range.limit) printer.print(line);
  }
  printer.end();
  if (seen > range.limit && flags.limit === undefined) {
    warn(flags, io, `these are the newest ${range.limit} of more; --limit N shows the newest N`);
  }
  if (seen === 0 && !flags.quiet && io.err.isTerminal) note(io, `no decision ${relationText(key)}`);
  if (printer.damaged > 0) {
    warn(flags, io, "records that are damaged were left out; see `agent-33 decision verify`");
  }
}

function relationText(key: ListQuestion["key"]): string {
  if ("artifact" in key) return `had the artifact \`${key.artifact}\` as an input`;
  return `was about the entity \`${key.entity.type}:${key.entity.id}\``;
}

function assertListFormat({ format }: LineageFlags): void {
  if (!drawingFormats.some((each) => each === format)) return;
  throw new DecisionError("usage", `a list of decisions cannot be drawn as \`${format ?? ""}\``, {
    hint: "name one of them to draw its lineage, or use --impact to draw all that came of an artifact",
  });
}
