import type { Command } from "commander";
import type { Io, Stream } from "./io.js";
import { systemClock } from "../clock.js";
import { decisionTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { Entity } from "../model/lineage.js";
import type { Provenance } from "../model/record.js";
import type { TimeRange, Query } from "../model/store.js";
import { didYouMean } from "../text.js";
import type { Format, Style } from "../present/format.js";
import { formats, loadColours } from "../present/format.js";
import { parseTimeRange, parseRecordFilter } from "../record/record-query.js";

/** Flags of every command that prints data. */
export interface CommonFlags {
  readonly decisions?: string;
  readonly format?: string;
  readonly json?: boolean;
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Flags of the commands that read or write the store. */
export interface StoreFlags extends CommonFlags {
  readonly store?: string;
  readonly durability?: string;
}

/** Flags of the commands that make decisions. */
export interface DecideFlags extends StoreFlags {
  readonly requireApproval?: boolean;
  readonly unknownTools?: string;
}

/** For the commands that check tool calls. */
export function addUnknownToolsFlag(command: Command): Command {
  return command.option(
    "--unknown-tools <answer>",
    "deny or allow tools that no policy matches (default: allow, unless there is no policy at all)",
  );
}

export function addApprovalFlag(command: Command): Command {
  return command.option("--require-approval", "use approved definitions only");
}

export function addStoreFlags(command: Command): Command {
  return command.option("--store <dir>", "directory of the log and the cache");
}

export function addDurabilityFlag(command: Command): Command {
  return command.option("--durability <how>", "full: wait until the record is on disk; fast: do not wait");
}

export function addCommonFlags(command: Command, more: readonly string[] = []): Command {
  return command
    .option("--decisions <dir>", "directory of definitions")
    .option("--format <format>", `output format: ${[...formats, ...more].join(", ")}`)
    .option("--json", "same as --format json")
    .option("--no-color", "disable colours")
    .option("-q, --quiet", "print only the result and errors")
    .option("-v, --verbose", "print timings and the sources of settings");
}

/** Returns the output format. Default: a table on a terminal; in a pipe, JSON for one result and JSON Lines for many. */
export function formatFor<T extends string = Format>(
  flags: CommonFlags,
  io: Io,
  { answer, more = [] }: { readonly answer: "one" | "many"; readonly more?: readonly T[] },
): Format | T {
  const name = flags.format ?? (flags.json ? "json" : undefined);
  if (flags.json && name !== "json") {
    throw new DecisionError("usage", `--json and --format ${name} cannot be combined`, {
      hint: "remove one of them: --json is --format json",
    });
  }
  if (name === undefined) return io.out.isTerminal ? "table" : answer === "one" ? "json" : "jsonl";
  const available: readonly (Format | T)[] = [...formats, ...more];
  const format = available.find((each) => each === name);
  if (format !== undefined) return format;
  throw new DecisionError("usage", `unknown format \`${name}\``, {
    hint: didYouMean(name, available) ?? `choose one of ${available.join(", ")}`,
  });
}

export function wantsJsonErrors(argv: readonly string[]): boolean {
  const index = argv.indexOf("--format");
  const format = index === -1 ? "" : (argv[index + 1] ?? "");
  return (
    argv.includes("--json") || argv.some((each) => /^--format=jsonl?$/.test(each)) || /^jsonl?$/.test(format)
  );
}

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

/** Flags of the program itself; `start.ts` loads a small bundle for them. */
export const programFlags: readonly string[] = ["--help", "-h", "--version", "-V"];

/** Flags that identify the caller; recorded with the decision. */
export interface ProvenanceFlags {
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
}

interface ProvenanceTexts {
  /** The help of --session-id. */
  readonly session?: string;
  /** Whether the command records nothing. */
  readonly dryRun?: boolean;
}

export function addProvenanceFlags(
  command: Command,
  { session, dryRun = false }: ProvenanceTexts = {},
): Command {
  const text = (name: string, details = ""): string =>
    dryRun ? `${name} of the decision; not recorded` : `${name} to record with the decision${details}`;
  return command
    .option("--workflow-id <id>", text("workflow"))
    .option("--stage-id <id>", text("stage"))
    .option("--session-id <id>", session ?? text("session"))
    .option("--correlation-id <id>", text("id", ", to find it in the logs of other systems"));
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

/** Flags of the commands that read a time range of the log. */
export interface TimeRangeFlags {
  readonly since?: string;
  readonly until?: string;
}

export function addTimeRangeFlags(command: Command): Command {
  return command
    .option(
      "--since <time>",
      "start time (inclusive): 2026-11-15T10:30:00Z, 2026-11-15 (midnight UTC), or 7d (7 days ago)",
    )
    .option("--until <time>", "end time (inclusive)");
}

/** Parses --since and --until; durations count back from now. */
export const timeRange = ({ since, until }: TimeRangeFlags): TimeRange =>
  parseTimeRange({ since, until }, systemClock(), flagName);

const flagName = (field: string): string => `--${field}`;

/** Parses the value of --entity, TYPE:ID. A type has no colons; an id may have them. */
export function parseEntity(text: string): Entity {
  const colon = text.indexOf(":");
  if (colon > 0 && colon < text.length - 1) return { type: text.slice(0, colon), id: text.slice(colon + 1) };
  throw new DecisionError("usage", `--entity must be TYPE:ID (got \`${text}\`)`, {
    hint: "for example --entity customer:c-1042",
  });
}

/** Flags of the commands that filter records. */
export interface QueryFlags extends TimeRangeFlags {
  readonly decisionId?: string;
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
  readonly caller?: string;
  readonly label?: string;
  readonly target?: string;
  readonly type?: string;
  readonly kind?: string;
  readonly limit?: string;
}

export function addQueryFlags(command: Command): Command {
  return addFilterFlags(command, "decision").option(
    "--limit <n>",
    "maximum number of records; keeps the newest",
  );
}

/** Adds the flags that select records by what they contain. */
export function addFilterFlags(command: Command, defaultKind: "decision" | "all"): Command {
  const kinds = ["decision", "tool_result", "assessment", "note (repairs and prunes of the log)", "or all"];
  const kindText = kinds.map((each) => (each.endsWith(defaultKind) ? `${each} (default)` : each)).join(", ");
  command
    .option("--decision-id <id>", "filter by decision")
    .option("--workflow-id <id>", "filter by workflow")
    .option("--stage-id <id>", "filter by stage")
    .option("--session-id <id>", "filter by session")
    .option("--correlation-id <id>", "filter by correlation id")
    .option("--caller <subject>", "filter by caller: the subject of the token, or one who acts for it");
  return addTimeRangeFlags(command)
    .option("--label <label>", "filter by selected branch")
    .option("--target <target>", "filter by selected target")
    .option("--type <type>", `filter by type: ${decisionTypes.join(", ")}`)
    .option("--kind <kind>", `filter by kind: ${kindText}`);
}

/** Parses the filter flags; durations count back from now. */
export function queryFor(flags: QueryFlags): Query {
  const { decisionId, workflowId, stageId, sessionId, correlationId, ...others } = flags;
  const ids = {
    decision_id: decisionId,
    workflow_id: workflowId,
    stage_id: stageId,
    session_id: sessionId,
    correlation_id: correlationId,
  };
  return parseRecordFilter({ ...others, ...ids }, systemClock(), flagName);
}

export interface AllowEmptyFlag {
  readonly allowEmpty?: boolean;
}

export const addAllowEmptyFlag = (command: Command): Command =>
  command.option("--allow-empty", "succeed if there is nothing to check");

/** Throws for a check that had nothing to check, unless --allow-empty is given. */
export function failUnlessAllowed({ allowEmpty }: AllowEmptyFlag, reason: string): void {
  if (allowEmpty) return;
  throw new DecisionError("nothing_to_check", `nothing to check: ${reason}`, {
    hint: "add --allow-empty if that is expected",
  });
}
