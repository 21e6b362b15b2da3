import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { Downstream } from "../../lineage/downstream.js";
import { drawTrace } from "../../lineage/draw-trace.js";
import { drawImpact, impactOf } from "../../lineage/impact.js";
import { traceOf } from "../../lineage/trace.js";
import { impactView, traceView } from "../../present/lineage-view.js";
import type { Io } from "../io.js";
import { addCommonFlags, addStoreFlags, formatFor } from "../flags.js";
import type { LineageFlags, LineageQuestion } from "../lineage-question.js";
import { lineageQuestion, usualLimit } from "../lineage-question.js";
import { listRelated } from "../list-related.js";
import { findRecord } from "../../record/record-reference.js";
import { addTimeRangeFlags } from "../time-range.js";
import { note, openRecords, warn } from "../world.js";
import { pictures, writeDrawing } from "../write-drawing.js";

export function addLineageCommand(parent: Command, io: Io): void {
  const command = parent
    .command("lineage")
    .argument("[record]", "a record's id or the beginning of it, its number in the log, or latest")
    .option("--artifact <id>", "list the decisions that had this artifact as an input, newest first")
    .option("--entity <type:id>", "list the decisions that were about this entity, newest first")
    .option("--impact <artifact>", "draw everything that came of this artifact")
    .option("--limit <n>", `at most so many records (else ${usualLimit})`);
  addCommonFlags(addStoreFlags(addTimeRangeFlags(command)), pictures)
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
      await answer(lineageQuestion(record, flags), flags, io);
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

type Asked<T extends LineageQuestion["about"]> = Extract<LineageQuestion, { readonly about: T }>;

const smaller = "lower --limit";

async function showTrace(
  { record: reference, limit }: Asked<"record">,
  flags: LineageFlags,
  io: Io,
): Promise<void> {
  const format = formatFor(flags, io, { answer: "one", more: pictures });
  const records = await openRecords(flags, io);
  const { record, intact } = await findRecord(reference, records);
  const trace = await traceOf(record, records.log, limit);
  if (trace === undefined) {
    throw new DecisionError("usage", `record \`${reference}\` is a note about the log, not a decision`, {
      hint: "a note has no lineage; `agent-33 decision explain` says what it is about",
    });
  }
  const drawing = drawTrace(trace);
  await writeDrawing({ drawing, view: traceView(trace, drawing), format, smaller }, flags, io);
  if (!intact) {
    warn(
      flags,
      io,
      `record ${record.seq} was changed since it was written; see \`agent-33 decision verify\``,
    );
  }
  warnOfGaps(trace, limit, (message) => warn(flags, io, message));
}

async function showImpact({ artifact, limit }: Asked<"impact">, flags: LineageFlags, io: Io): Promise<void> {
  const format = formatFor(flags, io, { answer: "one", more: pictures });
  const { log } = await openRecords(flags, io);
  const impact = await impactOf(artifact, log, limit);
  const drawing = drawImpact(impact);
  await writeDrawing({ drawing, view: impactView(impact, drawing), format, smaller }, flags, io);
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
