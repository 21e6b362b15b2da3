import type { Command } from "commander";
import type { Io, Stream } from "./io.js";
import { systemClock } from "../clock.js";
import { decisionTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { Provenance } from "../model/record.js";
import type { TimeRange, Query } from "../model/store.js";
import { didYouMean } from "../text.js";
import type { Format, Style } from "../present/format.js";
import { formats, loadColours } from "../present/format.js";
import { parseTimeRange, parseRecordFilter } from "../record/record-query.js";

/** Flags that every command which prints data has. */
export interface CommonFlags {
  readonly decisions?: string;
  readonly format?: string;
  readonly json?: boolean;
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Flags of the commands that write to the store or read it. */
export interface StoreFlags extends CommonFlags {
  readonly store?: string;
  readonly durability?: string;
}

/** Flags of the commands that decide. */
export interface DecideFlags extends StoreFlags {
  readonly requireApproval?: boolean;
}

export function addApprovalFlag(command: Command): Command {
  return command.option("--require-approval", "decide only by definitions that are approved");
}

export function addStoreFlags(command: Command): Command {
  return command.option("--store <dir>", "the directory of the log and the cache");
}

export function addDurabilityFlag(command: Command): Command {
  return command.option("--durability <how>", "full: wait until the record is on the disk; fast: do not");
}

export function addCommonFlags(command: Command, more: readonly string[] = []): Command {
  return command
    .option("--decisions <dir>", "the directory of definitions")
    .option("--format <format>", `how to write the answer: ${[...formats, ...more].join(", ")}`)
    .option("--json", "short for --format json")
    .option("--no-color", "no colours")
    .option("-q, --quiet", "only the answer and errors")
    .option("-v, --verbose", "timings, and where settings came from");
}

/** A table on a terminal; in a pipe, JSON for one thing and JSON lines for many. */
export function formatFor<T extends string = Format>(
  flags: CommonFlags,
  io: Io,
  { answer, more = [] }: { readonly answer: "one" | "many"; readonly more?: readonly T[] },
): Format | T {
  const wanted = flags.format ?? (flags.json ? "json" : undefined);
  if (wanted === undefined) return io.out.isTerminal ? "table" : answer === "one" ? "json" : "jsonl";
  const known: readonly (Format | T)[] = [...formats, ...more];
  const format = known.find((each) => each === wanted);
  if (format !== undefined) return format;
  throw new DecisionError("usage", `there is no format \`${wanted}\``, {
    hint: didYouMean(wanted, known) ?? `choose one of ${known.join(", ")}`,
  });
}

export function wantsJsonErrors(argv: readonly string[]): boolean {
  const format = argv.indexOf("--format");
  const named = format === -1 ? undefined : argv[format + 1];
  return (
    argv.includes("--json") ||
    argv.some((each) => /^--format=jsonl?$/.test(each)) ||
    /^jsonl?$/.test(named ?? "")
  );
}

/** Colour is decided once per stream. */
function wantsColour(color: boolean, { env }: Io, stream: Stream): boolean {
  if (!color || env["NO_COLOR"] || env["FORCE_COLOR"] === "0") return false;
  if (env["FORCE_COLOR"]) return true;
  return stream.isTerminal && env["TERM"] !== "dumb";
}

export async function styleFor(
  flags: Pick<CommonFlags, "color">,
  io: Io,
  stream: Stream = io.out,
): Promise<Style> {
  const { columns } = stream;
  if (!wantsColour(flags.color, io, stream)) return { columns, paint: (_colour, text) => text };
  return { columns, paint: await loadColours() };
}

/** What is answered without any of the commands of `decision`. */
export const programFlags: readonly string[] = ["--help", "-h", "--version", "-V"];

/** Flags that say on whose behalf something is asked. */
export interface ProvenanceFlags {
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
}

export function addProvenanceFlags(command: Command): Command {
  return command
    .option("--workflow-id <id>", "the workflow that asks; recorded")
    .option("--stage-id <id>", "the stage that asks; recorded")
    .option("--session-id <id>", "the session that asks; recorded")
    .option("--correlation-id <id>", "what ties this to other systems' logs; recorded");
}

export function provenanceOf(flags: ProvenanceFlags): Provenance {
  const { workflowId, stageId, sessionId, correlationId } = flags;
  return {
    ...(workflowId !== undefined && { workflow_id: workflowId }),
    ...(stageId !== undefined && { stage_id: stageId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
  };
}

/** Flags of the commands that look at a stretch of the log. */
export interface TimeRangeFlags {
  readonly since?: string;
  readonly until?: string;
}

export function addTimeRangeFlags(command: Command): Command {
  return command
    .option(
      "--since <time>",
      "from this moment on: 2026-11-15T10:30:00Z, 2026-11-15 (midnight in UTC), or 7d (that long ago)",
    )
    .option("--until <time>", "up to this moment, itself included");
}

/** What the flags mean at this moment. */
export const timeRange = ({ since, until }: TimeRangeFlags): TimeRange =>
  parseTimeRange({ since, until }, systemClock(), flagName);

const flagName = (field: string): string => `--${field}`;

/** Flags of the commands that look at some of the records. */
export interface QueryFlags extends TimeRangeFlags {
  readonly decisionId?: string;
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
  readonly label?: string;
  readonly target?: string;
  readonly type?: string;
  readonly kind?: string;
  readonly limit?: string;
}

export function addQueryFlags(command: Command): Command {
  command
    .option("--decision-id <id>", "only this decision")
    .option("--workflow-id <id>", "only on behalf of this workflow")
    .option("--stage-id <id>", "only on behalf of this stage")
    .option("--session-id <id>", "only on behalf of this session")
    .option("--correlation-id <id>", "only what is tied together by this");
  return addTimeRangeFlags(command)
    .option("--label <label>", "only where this branch was taken")
    .option("--target <target>", "only where this was the target")
    .option("--type <type>", `only decisions of this type: ${decisionTypes.join(", ")}`)
    .option(
      "--kind <kind>",
      "decision (the default), tool_result (how a call went), note (what happened to the log itself) or all",
    )
    .option("--limit <n>", "only the newest so many");
}

/** What the flags mean at this moment. */
export function queryFor(flags: QueryFlags): Query {
  const { decisionId, workflowId, stageId, sessionId, correlationId, ...others } = flags;
  const named = {
    decision_id: decisionId,
    workflow_id: workflowId,
    stage_id: stageId,
    session_id: sessionId,
    correlation_id: correlationId,
  };
  return parseRecordFilter({ ...others, ...named }, systemClock(), flagName);
}
