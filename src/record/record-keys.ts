import type { Entity } from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";
import type { RecordKey, RelatedRange } from "../model/store.js";
import { microsecondsOf } from "./timestamp.js";

/** Whether a record has to do with what a key names; whatever a damaged one may hold. */
export function matchesKey(record: LogRecord, key: RecordKey): boolean {
  if ("session_id" in key) return "session_id" in record && record.session_id === key.session_id;
  if ("refers_to" in key) return referencesOf(record).includes(key.refers_to);
  if (record.kind !== "decision") return false;
  if ("entity" in key) return entitiesOf(record).some((each) => isSameEntity(each, key.entity));
  if ("artifact" in key) return listOf(record.lineage?.artifacts).includes(key.artifact);
  return policiesOf(record).includes(key.policy);
}

/** The records that a record names. */
export function referencesOf(record: LogRecord): readonly string[] {
  switch (record.kind) {
    case "decision":
      return [record.parent_record_id, record.cached_from].filter((each) => each !== undefined);
    case "tool_result":
      return listOf(record.decision_records);
    case "note":
    default:
      return [];
  }
}

export const entitiesOf = (record: LogRecord): readonly Entity[] =>
  record.kind === "decision" ? listOf(record.lineage?.entities).filter(isObject) : [];

/** The policies that were consulted, and the overrides that were applied. */
export function policiesOf(record: LogRecord): readonly string[] {
  if (record.kind !== "decision") return [];
  const policies = listOf(record.lineage?.policies).filter(isObject);
  return [
    ...new Set(policies.flatMap(({ name, override }) => (override === null ? [name] : [name, override]))),
  ];
}

export const isSameEntity = (a: Entity, b: Entity): boolean => a.type === b.type && a.id === b.id;

/** What a record read of its context. */
export const inputSourcesOf = (record: LogRecord): readonly string[] =>
  record.kind === "decision"
    ? listOf(record.lineage?.inputs)
        .filter(isObject)
        .map(({ source }) => source)
    : [];

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

/** Whatever stands in its place: a damaged record may hold anything. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [];
}

const isObject = (value: object | null): boolean => typeof value === "object" && value !== null;
