import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Precedent } from "../model/lineage.js";
import type { DecisionRecord, LogRecord, ToolResultRecord } from "../model/record.js";
import type { Check } from "../model/result.js";
import type { Explanation } from "../record/explain.js";
import { count } from "./amounts.js";
import { readableTime } from "./record-text.js";

/** Something that is told of a record. */
export interface Row {
  readonly name: string;
  readonly text: string;
  /** What belongs to it. */
  readonly under?: readonly string[];
}

export function decisionText(record: DecisionRecord): string {
  const { decision_id, decision_name: name, decision_version: version } = record;
  return `${decision_id}${name === undefined ? "" : ` (${name})`}${version === undefined ? "" : ` ${version}`}`;
}

export function identityOf(record: LogRecord, intact: boolean): readonly Row[] {
  return [
    { name: "when", text: `${readableTime(record.timestamp)} UTC` },
    { name: "record", text: recordText(record, intact) },
  ];
}

export function recordText({ record_id, seq }: LogRecord, intact: boolean): string {
  return `${record_id}, number ${count(seq)}${intact ? "" : ", changed since it was written"}`;
}

export function provenanceOf(record: DecisionRecord | ToolResultRecord): readonly Row[] {
  return presentRows({
    workflow: record.workflow_id,
    stage: record.stage_id,
    session: record.session_id,
    correlation: record.correlation_id,
    parent: record.parent_record_id,
    check: record.check_id,
    caller: record.kind === "decision" ? callerText(record.facts) : undefined,
  });
}

/** On whose behalf it was asked, and by whom; a damaged record may hold something else. */
function callerText({ authenticated_caller: caller }: JsonObject): string | undefined {
  if (caller === undefined || !isObject(caller) || typeof caller["subject"] !== "string") return undefined;
  const actors = (Array.isArray(caller["actors"]) ? caller["actors"] : []) as readonly Json[];
  const subjects = actors.flatMap((each) => (isObject(each) ? [each["subject"]] : []));
  const names = [caller["subject"], ...subjects].filter((each) => typeof each === "string");
  return names.join(", by ");
}

/** A row for each text that there is; a damaged record may hold something else. */
const presentRows = (texts: Readonly<Record<string, string | undefined>>): readonly Row[] =>
  Object.entries(texts).flatMap(([name, text]) => (typeof text === "string" ? [{ name, text }] : []));

/** What a decision was about, and which earlier ones it was found similar to. */
export function lineageRows({ lineage }: DecisionRecord): readonly Row[] {
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
  `similarity ${similarity}, ${outcome_matched ? "same outcome" : "another outcome"}: ${match_reason}`;

export const passedRows = ({ guardrails }: DecisionRecord): readonly Row[] =>
  guardrails
    .filter(({ passed }) => passed)
    .map(({ check_name, message }) => ({ name: "guardrail", text: `${check_name} passed: ${message}` }));

export function definitionText({ definition }: Explanation, isShort: boolean): string {
  const { version, hash, available } = definition;
  const name = isShort ? hash.slice(0, 12) : hash;
  return `${version === undefined ? "" : `${version}, `}${name}${available ? "" : " (no longer kept as it was)"}`;
}

export function cachedText({ cached, cached_from, cache_key }: DecisionRecord): string {
  if (cached) return cached_from === undefined ? "yes" : `yes, from record ${cached_from}`;
  return cache_key === undefined ? "no" : "no, it was not in the cache";
}

/** What a short explanation goes without. */
export function everythingElse(record: DecisionRecord, intact: boolean): readonly Row[] {
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
    line: intact ? "intact" : "not what was written",
  });
}

export const checkText = ({ check_name, passed, message }: Check): string =>
  `${check_name}: ${passed ? "passed" : "failed"}, ${message}`;
