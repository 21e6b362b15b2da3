import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { PolicyRecord } from "../record/explain-call.js";
import { consultedPolicies, explainOverride, changedParams } from "../record/explain-call.js";
import { sanitizeRecord } from "../record/sanitize-record.js";

/** What was decided and done, and on whose word: what a report says of its method. */
export interface Methodology {
  /** One for each decision, in their order. */
  readonly steps: readonly MethodologyStep[];
  /** Calls that were made without any of these decisions. */
  readonly unauthorizedResults: readonly ToolResultRecord[];
  readonly sources: readonly Source[];
  readonly artifacts: readonly string[];
}

export interface MethodologyStep {
  /** A sound one. */
  readonly record: DecisionRecord;
  /** Whether it let something happen: a call was allowed, a way taken, a gate opened. */
  readonly isDone: boolean;
  /** Whose word it was; nobody's where no policy was in effect. */
  readonly per: readonly Authority[];
  /** What overrides set of the params. */
  readonly set: JsonObject;
  /** The most similar earlier record that came out the same, and the one that did not. */
  readonly consistentWith: string | undefined;
  readonly differsFrom: string | undefined;
  /** Whether the call succeeded; as often as its result was recorded. */
  readonly results: readonly boolean[];
}

/** A policy, an override, a guardrail, or the decision itself. */
export interface Authority {
  readonly name: string;
  readonly version?: string;
}

/** A part of the context, and what was read of it. */
interface Source {
  readonly source: string;
  readonly keys: readonly string[];
}

interface SessionHistory {
  /** Oldest first. */
  readonly decisions: readonly DecisionRecord[];
  readonly results: readonly ToolResultRecord[];
}

export function buildMethodology({ decisions, results }: SessionHistory): Methodology {
  const records = decisions.map(sanitizeRecord);
  const denied = new Set(records.filter(isDenied).flatMap(({ check_id = [] }) => check_id));
  const known = new Set(records.map(({ record_id }) => record_id));
  const outcomes = outcomesByDecision(results);
  return {
    steps: records.map((record) => ({
      ...toStep(record),
      // What one decision allows and another denies is not done.
      isDone: letsProceed(record) && !denied.has(record.check_id ?? ""),
      results: outcomes.get(record.record_id) ?? [],
    })),
    unauthorizedResults: results.filter(
      ({ decision_records: allowed }) => !allowed.some((id) => known.has(id)),
    ),
    sources: sourcesOf(records),
    artifacts: [...new Set(records.flatMap(({ lineage }) => lineage?.artifacts ?? []))],
  };
}

const isDenied = (record: DecisionRecord): boolean => record.type === "policy" && !record.allowed;

function letsProceed(record: DecisionRecord): boolean {
  switch (record.type) {
    case "policy":
      return record.allowed;
    case "gate":
      return record.status === "GREEN" || record.status === "GREEN-SKIP";
    default:
      return !record.blocked;
  }
}

function outcomesByDecision(results: readonly ToolResultRecord[]): ReadonlyMap<string, readonly boolean[]> {
  const outcomes = new Map<string, boolean[]>();
  for (const { ok, decision_records } of results) {
    for (const id of decision_records) outcomes.set(id, [...(outcomes.get(id) ?? []), ok]);
  }
  return outcomes;
}

function toStep(record: DecisionRecord): Omit<MethodologyStep, "isDone" | "results"> {
  const precedents = record.lineage?.precedents ?? [];
  return {
    record,
    ...authorityOf(record),
    consistentWith: precedents.find(({ outcome_matched }) => outcome_matched)?.record_id,
    differsFrom: precedents.find(({ outcome_matched }) => !outcome_matched)?.record_id,
  };
}

type StepAuthority = Pick<MethodologyStep, "per" | "set">;

function authorityOf(record: DecisionRecord): StepAuthority {
  if (record.blocked || record.escalated) {
    const failed = record.guardrails.filter(({ passed, on_fail }) => !passed && on_fail !== "warn");
    return { per: failed.map(({ check_name: name }) => ({ name })), set: {} };
  }
  if (record.type === "policy") return decidingPolicies(record);
  const { decision_id: name, decision_version: version } = record;
  return { per: [{ name, ...(version !== undefined && { version }) }], set: {} };
}

/** The overrides where there were any; else all that allowed, or those whose denial stands. */
function decidingPolicies(record: PolicyRecord): StepAuthority {
  const policies = consultedPolicies(record);
  const overrides = [...new Set(policies.flatMap(({ override = [] }) => override))];
  if (record.outcome === "allowed_by_exception" && overrides.length > 0) {
    const circumstances = { record, definition: undefined, isOnlyOne: overrides.length === 1 };
    const applied = overrides.map((name) => explainOverride(name, circumstances));
    return { per: applied.map(toAuthority), set: changedParams(record) };
  }
  if (record.allowed) return { per: policies.map(toAuthority), set: {} };
  const denials = policies.filter(({ allows }) => !allows);
  const standing = denials.filter(({ override }) => override === undefined);
  return { per: (standing.length > 0 ? standing : denials).map(toAuthority), set: {} };
}

const toAuthority = ({ name, version }: { readonly name: string; readonly version?: string }): Authority => ({
  name,
  ...(version !== undefined && { version }),
});

function sourcesOf(records: readonly DecisionRecord[]): readonly Source[] {
  const keys = new Map<string, Set<string>>();
  for (const { lineage } of records) {
    for (const { source, keys: read } of lineage?.inputs ?? []) {
      const known = keys.get(source) ?? new Set();
      for (const key of read) known.add(key);
      keys.set(source, known);
    }
  }
  return [...keys].map(([source, read]) => ({ source, keys: [...read] }));
}
