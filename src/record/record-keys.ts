import type { Entity } from "../model/lineage.js";
import type { Json } from "../model/json.js";
import type { DecisionRecord, LogRecord } from "../model/record.js";
import type { NeighbourTraits, RecordKey, RelatedRange } from "../model/store.js";
import { isObject } from "../expression/equal.js";
import { microsecondsOf } from "./timestamp.js";

/** Whether a record matches a key. A damaged record may contain anything. */
export function matchesKey(record: LogRecord, key: RecordKey): boolean {
  if ("session_id" in key) return "session_id" in record && record.session_id === key.session_id;
  if ("refers_to" in key) return referencesOf(record).includes(key.refers_to);
  if (record.kind !== "decision") return false;
  if ("entity" in key) return entitiesOf(record).some((each) => isSameEntity(each, key.entity));
  if ("artifact" in key) return listOf(record.lineage?.artifacts).includes(key.artifact);
  return policiesOf(record).includes(key.policy);
}

/** Returns the ids of the records that a record refers to. */
export function referencesOf(record: LogRecord): readonly string[] {
  switch (record.kind) {
    case "decision":
      return [record.parent_record_id, record.cached_from].filter((each) => each !== undefined);
    case "tool_result":
      return listOf(record.decision_records);
    case "assessment":
    case "note":
    default:
      return [];
  }
}

export const entitiesOf = (record: LogRecord): readonly Entity[] =>
  record.kind === "decision" ? listOf(record.lineage?.entities).filter(isStructured) : [];

/** Returns the names of the consulted policies and of the applied overrides. */
export function policiesOf(record: LogRecord): readonly string[] {
  if (record.kind !== "decision") return [];
  const policies = listOf(record.lineage?.policies).filter(isStructured);
  return [
    ...new Set(policies.flatMap(({ name, override }) => (override === null ? [name] : [name, override]))),
  ];
}

/** Returns the subject that a decision was made for and those who act for it. A damaged record may contain anything. */
export function callersOf(record: LogRecord): readonly string[] {
  const caller: unknown = record.kind === "decision" ? record.facts["authenticated_caller"] : undefined;
  if (!isObject(caller)) return [];
  const actors = (Array.isArray(caller["actors"]) ? caller["actors"] : []) as readonly unknown[];
  const subjects = [caller, ...actors].map((each) => (isObject(each) ? each["subject"] : undefined));
  return subjects.filter((each) => typeof each === "string");
}

/** Returns the organisation that the caller of a decision was bound to. */
export function orgOfCaller({ facts }: DecisionRecord): string | undefined {
  const caller: Json = facts["authenticated_caller"] ?? null;
  const org = isObject(caller) ? caller["org_id"] : undefined;
  return typeof org === "string" ? org : undefined;
}

export const isSameEntity = (a: Entity, b: Entity): boolean => a.type === b.type && a.id === b.id;

/** Returns the parts of the context that a decision read, and the names of the params of its tool call. */
export const traitsOf = (record: LogRecord): NeighbourTraits => ({
  sources:
    record.kind === "decision"
      ? listOf(record.lineage?.inputs)
          .filter(isStructured)
          .map(({ source }) => source)
      : [],
  params: paramNamesOf(record),
});

/** Older records do not list the names, but most have the params. */
function paramNamesOf(record: LogRecord): readonly string[] {
  if (record.kind !== "decision" || record.type !== "policy") return [];
  const { lineage } = record as DecisionRecord;
  const names: unknown = lineage?.param_names;
  if (Array.isArray(names)) return (names as readonly unknown[]).filter((each) => typeof each === "string");
  const params = [record.context?.["params"], record.params].find(isObject);
  return params === undefined ? [] : Object.keys(params).sort();
}

/** Returns the tool that a policy decided about. */
export function toolOf(record: LogRecord): string | undefined {
  if (record.kind !== "decision" || record.type !== "policy") return undefined;
  const tool: unknown = record.tool;
  return typeof tool === "string" ? tool : undefined;
}

export function isInRelatedRange(
  record: LogRecord,
  { since = -Infinity, until = Infinity, label }: RelatedRange,
): boolean {
  const at = timeOf(record);
  if (at < since || at > until) return false;
  return (
    label === undefined || (record.kind === "decision" && listOf(record.selected_labels).includes(label))
  );
}

function timeOf({ timestamp }: { readonly timestamp: unknown }): number {
  return typeof timestamp === "string" ? microsecondsOf(timestamp) : Number.NaN;
}

/** Returns an empty list for anything else: a damaged record may contain anything. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [];
}

const isStructured = (value: object | null): boolean => typeof value === "object" && value !== null;
