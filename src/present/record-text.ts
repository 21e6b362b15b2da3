import type { Json, JsonObject } from "../model/json.js";
import type { Precedent } from "../model/lineage.js";
import type {
  AssessmentRecord,
  DecisionRecord,
  LogRecord,
  NoteRecord,
  ToolResultRecord,
} from "../model/record.js";
import type { Check } from "../model/result.js";
import type { ExplainedCondition, Explanation } from "../record/explain.js";
import { maskMarker } from "../record/mask.js";
import { callersOf } from "../record/record-keys.js";
import { formatCount } from "./text.js";

/** Formats a timestamp for reading, still in UTC. */
export const readableTime = (timestamp: string): string => timestamp.replace("T", " ").replace("Z", "");

/** The same to the second, with its time zone. */
export const readableSeconds = (timestamp: string): string => `${readableTime(timestamp).slice(0, 19)} UTC`;

/** Returns the ids of workflow, stage and session. */
export function originIds({
  workflow_id,
  stage_id,
  session_id,
}: DecisionRecord | ToolResultRecord | AssessmentRecord): readonly string[] {
  return [workflow_id, stage_id, session_id].filter((each) => each !== undefined);
}

function isDefaultRoute({ selected_labels }: DecisionRecord): boolean {
  return selected_labels[0] === "default";
}

/** Returns the answer of a record in a few words. */
export function answerOf(record: LogRecord): string {
  if (record.kind === "note") return record.note.replace("_", " ");
  if (record.kind === "tool_result") return toolOutcome(record);
  if (record.kind === "assessment") return record.severity;
  const targets = record.selected_targets.join(" ");
  const labels = record.selected_labels.join(", ");
  if (record.blocked && labels === "") return "blocked";
  const branch = targets === "" || targets === labels ? labels : `${targets} (${labels})`;
  return branch + outputsSuffix(record);
}

const maxOutputLength = 40;

/** Returns the outputs of a record, shortened. A damaged record may contain anything. */
function outputsSuffix({ outputs = [] }: DecisionRecord): string {
  if (!Array.isArray(outputs) || outputs.every((output) => output === null)) return "";
  const text = outputs.map((output: Json) => JSON.stringify(output)).join(", ");
  return `: ${text.length > maxOutputLength ? `${text.slice(0, maxOutputLength - 1)}…` : text}`;
}

/** Returns the answer without its label, unless it is the default. */
export function targetOf(record: LogRecord): string {
  if (record.kind !== "decision" || isDefaultRoute(record)) return answerOf(record);
  const targets = record.selected_targets.join(" ");
  return targets === "" ? answerOf(record) : targets + outputsSuffix(record);
}

/** Returns the decision, tool or observer of a record. */
export function subjectOf(record: LogRecord): string {
  switch (record.kind) {
    case "note":
      return "(the log)";
    case "tool_result":
      return record.tool;
    case "assessment":
      return record.observer;
    case "decision":
      return record.decision_id;
  }
}

/** Returns the reason for the answer in one line. */
export function reasonOf(record: LogRecord): string {
  switch (record.kind) {
    case "note":
      return noteSentence(record);
    case "tool_result":
      return toolResultSentence(record);
    case "assessment":
      return record.summary;
    case "decision":
      return record.because.join("; ");
  }
}

/** Returns the outcome of a call. A result that is not linked to an allowed call is marked. */
export function toolOutcome({
  ok,
  decision_records,
}: Pick<ToolResultRecord, "ok" | "decision_records">): string {
  return (ok ? "ok" : "failed") + (decision_records.length === 0 ? " (not linked)" : "");
}

export function toolResultSentence({
  tool,
  ok,
  decision_records: [first, ...others],
}: Pick<ToolResultRecord, "tool" | "ok" | "decision_records">): string {
  const outcome = `${tool} ${ok ? "succeeded" : "failed"}`;
  if (first === undefined) return `${outcome}; not linked to an allowed call`;
  return `${outcome}; allowed by record ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

export function noteSentence({ note, details }: NoteRecord): string {
  switch (note) {
    case "tail_repaired":
      return `the log ended in an incomplete line after a crash; ${countPhrase(details, "bytes", "byte")} moved to \`${detailText(details, "file")}\``;
    case "tail_lost":
      return `records ${detailText(details, "from")} to ${detailText(details, "to")} were lost in a power failure, because writes were not synced to disk`;
    case "pruned":
      return `the oldest ${countPhrase(details, "records", "record")} removed, up to number ${detailText(details, "through")}${pruneOptionText(details)}`;
    case "counters_migrated":
      return "the counters of limits were taken over from an earlier version";
    case "approvals_seen":
      return `a new approval lock was used; the sum of all serial numbers is ${detailText(details, "approvals")}`;
  }
}

const countPhrase = (details: JsonObject, name: string, noun: string): string =>
  `${detailText(details, name)} ${noun}${details[name] === 1 ? " was" : "s were"}`;

function pruneOptionText(details: JsonObject): string {
  const option = ["before", "keep"].find((name) => Object.hasOwn(details, name));
  return option === undefined ? "" : ` (prune --${option} ${detailText(details, option)})`;
}

function detailText(details: JsonObject, name: string): string {
  const value = details[name];
  if (typeof value === "number") return formatCount(value);
  return typeof value === "string" ? value : "?";
}

/** Returns the error of a condition and the values it read, one text per path. */
export function readValueTexts(
  condition: Pick<ExplainedCondition, "error" | "values" | "missing" | "not_recorded">,
): readonly string[] {
  const { error, values, missing = [], not_recorded = [] } = condition;
  const isListedBelow = missing.length > 0 && error?.endsWith(" is missing");
  return [
    ...(error === undefined || isListedBelow ? [] : [`! ${error}`]),
    ...Object.entries(values).map(([path, value]) => assignmentText(path, value)),
    ...missing.map((path) => `${path}: missing`),
    ...not_recorded.map((path) => `${path}: not recorded`),
  ];
}

/** Formats a value with its name. A masked value is not quoted. */
export const assignmentText = (name: string, value: Json | undefined): string =>
  `${name} = ${value === maskMarker ? maskMarker : JSON.stringify(value)}`;

/** A named line in the description of a record. */
export interface RecordRow {
  readonly name: string;
  readonly text: string;
  /** Details, indented below. */
  readonly under?: readonly string[];
}

export function decisionText(record: DecisionRecord): string {
  const { decision_id, decision_name: name, decision_version: version } = record;
  return `${decision_id}${name === undefined ? "" : ` (${name})`}${version === undefined ? "" : ` ${version}`}`;
}

export function identityRows(record: LogRecord, intact: boolean): readonly RecordRow[] {
  return [
    { name: "when", text: `${readableTime(record.timestamp)} UTC` },
    { name: "record", text: recordText(record, intact) },
  ];
}

export function recordText({ record_id, seq }: LogRecord, intact: boolean): string {
  return `${record_id}, number ${formatCount(seq)}${intact ? "" : ", changed since it was written"}`;
}

export function provenanceRows(
  record: DecisionRecord | ToolResultRecord | AssessmentRecord,
): readonly RecordRow[] {
  return presentRows({
    workflow: record.workflow_id,
    stage: record.stage_id,
    session: record.session_id,
    correlation: record.correlation_id,
    parent: record.parent_record_id,
    check: record.check_id,
    caller: callersOf(record).join(", by ") || undefined,
  });
}

/** Makes a row of each text. A damaged record may contain other types. */
const presentRows = (texts: Readonly<Record<string, string | undefined>>): readonly RecordRow[] =>
  Object.entries(texts).flatMap(([name, text]) => (typeof text === "string" ? [{ name, text }] : []));

/** Returns rows for the entities, artifacts and precedents of a decision. */
export function lineageRows({ lineage }: DecisionRecord): readonly RecordRow[] {
  if (lineage === undefined) return [];
  return [
    ...lineage.entities.map(({ type, id }) => ({ name: "entity", text: `${type}:${id}` })),
    ...lineage.artifacts.map((text) => ({ name: "artifact", text })),
    ...lineage.precedents.map((each) => ({
      name: "precedent",
      text: `${each.record_id}, ${precedentText(each)}`,
    })),
  ];
}

export const precedentText = ({ similarity, outcome_matched, match_reason }: Precedent): string =>
  `similarity ${similarity}, ${outcome_matched ? "same outcome" : "different outcome"}: ${match_reason}`;

export const passedGuardrailRows = ({ guardrails }: DecisionRecord): readonly RecordRow[] =>
  guardrails
    .filter(({ passed }) => passed)
    .map(({ check_name, message }) => ({ name: "guardrail", text: `${check_name} passed: ${message}` }));

export function definitionText({ definition }: Explanation, isShort: boolean): string {
  const { version, hash, available } = definition;
  const name = isShort ? hash.slice(0, 12) : hash;
  return `${version === undefined ? "" : `${version}, `}${name}${available ? "" : " (no longer stored)"}`;
}

export function cachedText({ cached, cached_from, cache_key }: DecisionRecord): string {
  if (cached) return cached_from === undefined ? "yes" : `yes, from record ${cached_from}`;
  return cache_key === undefined ? "no" : "no (cache miss)";
}

/** Returns the rows that only a verbose explanation has. */
export function verboseRows(record: DecisionRecord, intact: boolean): readonly RecordRow[] {
  const { facts, context, feedback } = record;
  return presentRows({
    facts: JSON.stringify(facts),
    context: context && JSON.stringify(context),
    feedback: feedback && JSON.stringify(feedback),
    environment: record.environment_hash,
    deterministic: record.deterministic_hash,
    "cache key": record.cache_key,
    previous: record.prev_hash,
    hash: record.hash,
    line: intact ? "intact" : "changed since it was written",
  });
}

export const guardrailCheckText = ({ check_name, passed, message }: Check): string =>
  `${check_name}: ${passed ? "passed" : "failed"}, ${message}`;
