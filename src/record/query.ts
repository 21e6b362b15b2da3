import type { LogRecord } from "../model/record.js";
import type { Query } from "../model/store.js";
import { microsecondsOf } from "./moment.js";

/** Whether a record is one of those asked for. */
export function matches(record: LogRecord, query: Query): boolean {
  if (query.kind !== undefined && record.kind !== query.kind) return false;
  if (query.after !== undefined && record.seq <= query.after) return false;
  if (!isWithin(record.timestamp, query)) return false;
  if (record.kind !== "decision") return !asksForDecision(query);
  return (
    isEqual(query.decision_id, record.decision_id) &&
    isEqual(query.workflow_id, record.workflow_id) &&
    isEqual(query.stage_id, record.stage_id) &&
    isEqual(query.session_id, record.session_id) &&
    isEqual(query.correlation_id, record.correlation_id) &&
    isEqual(query.type, record.type) &&
    (query.label === undefined || record.selected_labels.includes(query.label)) &&
    (query.target === undefined || record.selected_targets.includes(query.target))
  );
}

const isEqual = (wanted: string | undefined, found: string | undefined): boolean =>
  wanted === undefined || wanted === found;

/** Only decisions have these. */
const ofDecisions = [
  "decision_id",
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "type",
  "label",
  "target",
] as const;

const asksForDecision = (query: Query): boolean => ofDecisions.some((name) => query[name] !== undefined);

function isWithin(timestamp: string, { since, until }: Query): boolean {
  if (since === undefined && until === undefined) return true;
  const time = microsecondsOf(timestamp);
  return time >= (since ?? -Infinity) && time <= (until ?? Infinity);
}
