import type { LogRecord } from "../model/record.js";
import type { Query } from "../model/store.js";
import { microsecondsOf } from "./moment.js";

/** Whether a record is one of those asked for. */
export function matches(record: LogRecord, query: Query): boolean {
  if (query.kind !== undefined && record.kind !== query.kind) return false;
  if (query.after !== undefined && record.seq <= query.after) return false;
  if (!isWithin(record.timestamp, query)) return false;
  if (record.kind === "note") return !asksFor(ofCallers, query) && !asksFor(ofDecisions, query);
  const isTheirs = ofCallers.every((name) => isEqual(query[name], record[name]));
  if (record.kind === "tool_result") return isTheirs && !asksFor(ofDecisions, query);
  return (
    isTheirs &&
    isEqual(query.decision_id, record.decision_id) &&
    isEqual(query.type, record.type) &&
    (query.label === undefined || record.selected_labels.includes(query.label)) &&
    (query.target === undefined || record.selected_targets.includes(query.target))
  );
}

const isEqual = (wanted: string | undefined, found: string | undefined): boolean =>
  wanted === undefined || wanted === found;

/** What happened to the log itself has none of these. */
const ofCallers = ["workflow_id", "stage_id", "session_id", "correlation_id"] as const;

/** Only decisions have these. */
const ofDecisions = ["decision_id", "type", "label", "target"] as const;

const asksFor = (names: readonly (keyof Query)[], query: Query): boolean =>
  names.some((name) => query[name] !== undefined);

function isWithin(timestamp: string, { since, until }: Query): boolean {
  if (since === undefined && until === undefined) return true;
  // A damaged record may have none.
  const time = typeof (timestamp as unknown) === "string" ? microsecondsOf(timestamp) : Number.NaN;
  return time >= (since ?? -Infinity) && time <= (until ?? Infinity);
}
