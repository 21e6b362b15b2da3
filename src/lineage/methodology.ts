import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, PolicyRecord, ToolResultRecord } from "../model/record.js";
import { consultedPolicies, explainOverride, changedParams } from "../record/explain-call.js";
import { sanitizeRecord } from "../record/sanitize-record.js";

/** The decisions of a session with their authorities and results, for the methodology section of a report. */
export interface Methodology {
  /** One per decision, in order. */
  readonly steps: readonly MethodologyStep[];
  /** Results of calls that none of these decisions allowed. */
  readonly unauthorizedResults: readonly ToolResultRecord[];
  readonly sources: readonly Source[];
  readonly artifacts: readonly string[];
}

export interface MethodologyStep {
  /** Sanitized. */
  readonly record: DecisionRecord;
  /** Whether the action could proceed: a call was allowed, a branch selected, a gate opened. */
  readonly isCarriedOut: boolean;
  /** The policies, overrides or guardrails that decided; empty where no policy was in effect. */
  readonly per: readonly Authority[];
  /** The params that overrides set. */
  readonly set: JsonObject;
  /** The most similar precedents with the same and with another outcome. */
  readonly consistentWith: string | undefined;
  readonly differsFrom: string | undefined;
  /** Whether the call succeeded, once per recorded result. */
  readonly results: readonly boolean[];
}

/** A policy, an override, a guardrail, or the decision itself. */
export interface Authority {
  readonly name: string;
  readonly version?: string;
}

/** A top-level part of the context, with the keys that were read. */
interface Source {
  readonly source: string;
  readonly keys: readonly string[];
}

interface SessionHistory {
  /** Oldest first. */
  readonly decisions: readonly DecisionRecord[];
  readonly results: readonly ToolResultRecord[];
}

/** Builds the methodology of a session from its records. */
export function buildMethodology({ decisions, results }: SessionHistory): Methodology {
  const records = decisions.map(sanitizeRecord);
  const denied = new Set(records.filter(isDenied).flatMap(({ check_id = [] }) => check_id));
  const recordIds = new Set(records.map(({ record_id }) => record_id));
  const outcomes = outcomesByDecision(results);
  return {
    steps: records.map((record) => ({
      ...toStep(record),
      // A call that one decision allows and another denies does not proceed.
      isCarriedOut: letsProceed(record) && !denied.has(record.check_id ?? ""),
      results: outcomes.get(record.record_id) ?? [],
    })),
    unauthorizedResults: results.filter(
      ({ decision_records: allowed }) => !allowed.some((id) => recordIds.has(id)),
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

function toStep(record: DecisionRecord): Omit<MethodologyStep, "isCarriedOut" | "results"> {
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

/** Returns the applied overrides; without any, the policies that allowed the call, or those whose denial stands. */
function decidingPolicies(record: PolicyRecord): StepAuthority {
  const policies = consultedPolicies(record);
  const overrides = [...new Set(policies.flatMap(({ override = [] }) => override))];
  if (record.outcome === "allowed_by_exception" && overrides.length > 0) {
    const context = { record, definition: undefined, isOnlyOne: overrides.length === 1 };
    const applied = overrides.map((name) => explainOverride(name, context));
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
      const sourceKeys = keys.get(source) ?? new Set();
      for (const key of read) sourceKeys.add(key);
      keys.set(source, sourceKeys);
    }
  }
  return [...keys].map(([source, read]) => ({ source, keys: [...read] }));
}
