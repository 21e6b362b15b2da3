import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { drawImpact, drawTrace } from "../../lineage/draw-lineage.js";
import type { Downstream } from "../../lineage/trace.js";
import { findImpact, traceRecord } from "../../lineage/trace.js";
import type { Entity } from "../../model/lineage.js";
import type { RelatedRange } from "../../model/store.js";
import { impactView, traceView } from "../../present/drawing-view.js";
import { parseLimit } from "../../record/record-query.js";
import { findRecord } from "../../record/find-records.js";
import type { StoreFlags, TimeRangeFlags } from "../flags.js";
import {
  addCommonFlags,
  addStoreFlags,
  formatFor,
  addTimeRangeFlags,
  timeRange,
  parseEntity,
} from "../flags.js";
import type { Io } from "../io.js";
import { drawingFormats, openPrinter, warnAboutModifiedRecord, writeDrawing } from "../output.js";
import { note, openRecords, warn } from "../world.js";

export function addLineageCommand(parent: Command, io: Io): void {
  const command = parent
    .command("lineage")
    .argument("[record]", "record id or a unique prefix, number in the log, or latest")
    .option("--artifact <id>", "list the decisions with this artifact as an input, newest first")
    .option("--entity <type:id>", "list the decisions about this entity, newest first")
    .option("--impact <artifact>", "draw everything that depends on this artifact")
    .option("--limit <n>", `maximum number of records (default ${defaultLimit})`);
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)), drawingFormats)
    .summary("show what a decision depends on, and what depends on it")
    .description(
      "Draw the lineage of a record: the artifacts, entities, inputs, policies, parents and precedents it depends on and " +
        "the record that a cached result is from; the decisions and tool results that depend on it; and the other " +
        "decisions of the same check. --impact draws all decisions with an artifact as an input and everything that " +
        "depends on them: child decisions, tool results, cached results, and decisions with one of these records as an " +
        "artifact. Targets are shown but not followed. Prints a tree on a terminal and JSON in a pipe; --format mermaid " +
        "or dot for diagrams. --artifact and --entity list records like `log`, optionally with --since and --until.",
    )
    .addHelpText(
      "after",
      `
JSON of RECORD: fields of the record; rested_on {artifacts, artifact_records,
entities, inputs, policies, override, allowed_by, parents (nearest first),
cached_from, precedents}; led_to {branches, proposed, decisions, tool_results};
same_check; complete (false: cut off by --limit); nodes and edges.
JSON of --impact: {artifact, decisions, tool_results, targets, complete, nodes,
edges}. Each dependent record has the record it depends on (from) and how
(relation: child, result, input_of or cached_answer). A record that is
referenced but not in the log is {kind: "missing", record_id}. Node ids start
with the kind of node: record:, artifact:, entity:, input:, policy:, override:
or target:.

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
    const what = record.kind === "assessment" ? "an assessment of a session" : "a note about the log";
    throw new DecisionError("usage", `record \`${reference}\` is ${what}, not a decision`, {
      hint: `it has no lineage; use \`agent-33 decision explain ${reference}\``,
    });
  }
  const drawing = drawTrace(trace);
  await writeDrawing({ drawing, view: traceView(trace, drawing), format, sizeHint: limitHint }, flags, io);
  if (!intact) {
    warnAboutModifiedRecord(record, flags, io);
  }
  warnAboutGaps(trace, limit, (message) => warn(flags, io, message));
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
  await writeDrawing({ drawing, view: impactView(impact, drawing), format, sizeHint: limitHint }, flags, io);
  if (impact.steps.length === 0 && !flags.quiet && io.err.isTerminal) {
    note(io, `no decisions with the artifact \`${artifact}\` as an input`);
  }
  warnAboutGaps(impact, limit, (message) => warn(flags, io, message));
}

/** Warns about records that are missing from the diagram. */
function warnAboutGaps(
  { complete, damaged }: Pick<Downstream, "complete" | "damaged">,
  limit: number,
  warning: (message: string) => void,
): void {
  if (!complete) warning(`incomplete: stopped after ${limit} records; use --limit N for more`);
  if (damaged) warning("skipped damaged records; run `agent-33 decision verify`");
}

interface LineageFlags extends StoreFlags, TimeRangeFlags {
  readonly artifact?: string;
  readonly entity?: string;
  readonly impact?: string;
  readonly limit?: string;
}

type LineageQuestion =
  | { readonly about: "record"; readonly record: string; readonly limit: number }
  | { readonly about: "impact"; readonly artifact: string; readonly limit: number }
  | {
      readonly about: "list";
      readonly key: { readonly artifact: string } | { readonly entity: Entity };
      readonly range: RelatedRange & { readonly limit: number };
    };

const defaultLimit = 100;

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

function assertExactlyOne(options: Readonly<Record<string, string | undefined>>): void {
  const names = Object.keys(options).filter((name) => options[name] !== undefined);
  if (names.length === 1) return;
  const hint = "use one of RECORD, --artifact ID, --entity TYPE:ID or --impact ARTIFACT";
  if (names.length === 0) throw new DecisionError("usage", "specify a record, artifact or entity", { hint });
  throw new DecisionError("usage", `${names.join(" and ")} cannot be combined`, { hint });
}

function assertNoTimeRange({ since, until }: LineageFlags): void {
  if (since === undefined && until === undefined) return;
  throw new DecisionError(
    "usage",
    `${since === undefined ? "--until" : "--since"} requires --artifact or --entity`,
    {
      hint: "remove it, or list records with --artifact or --entity",
    },
  );
}

function nonEmptyId(flag: string, id = ""): string {
  if (id !== "") return id;
  throw new DecisionError("usage", `${flag} must not be empty`, {
    hint: `specify an id, such as ${flag} build-42`,
  });
}

type ListQuestion = Extract<LineageQuestion, { readonly about: "list" }>;

/** Lists the decisions with an artifact or entity, newest first, in the formats of `log`. */
async function listRelated({ key, range }: ListQuestion, flags: LineageFlags, io: Io): Promise<void> {
  assertListFormat(flags);
  const format = formatFor(flags, io, { answer: "many" });
  const { log } = await openRecords(flags, io);
  const printer = await openPrinter(flags, io, format);
  let seen = 0;
  // Read one more than printed, to know whether there are more.
  for await (const line of log.related(key, { ...range, limit: range.limit + 1 })) {
    if (seen++ < range.limit) printer.print(line);
  }
  printer.end();
  if (seen > range.limit && flags.limit === undefined) {
    warn(flags, io, `showing the newest ${range.limit} records; use --limit N for more`);
  }
  if (seen === 0 && !flags.quiet && io.err.isTerminal) note(io, `no decisions ${relationText(key)}`);
  if (printer.damaged > 0) {
    warn(flags, io, "skipped damaged records; run `agent-33 decision verify`");
  }
}

function relationText(key: ListQuestion["key"]): string {
  if ("artifact" in key) return `with the artifact \`${key.artifact}\` as an input`;
  return `about the entity \`${key.entity.type}:${key.entity.id}\``;
}

function assertListFormat({ format }: LineageFlags): void {
  if (!drawingFormats.some((each) => each === format)) return;
  throw new DecisionError("usage", `--format ${format ?? ""} requires a record or --impact`, {
    hint: "--artifact and --entity print lists, which cannot be drawn as a diagram",
  });
}
