import { microsecondsOf, parseTime, formatTimestamp } from "./timestamp.js";
import { decisionTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { LogRecord } from "../model/record.js";
import type { Query, TimeRange, Ledger, LogLine } from "../model/store.js";
import { didYouMean } from "../text.js";

/** Which records are meant, as somebody writes it. */
export interface RecordFilter extends TimeRangeFilter {
  readonly decision_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly stage_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly label?: string | undefined;
  readonly target?: string | undefined;
  readonly type?: string | undefined;
  /** Absent: decisions. */
  readonly kind?: string | undefined;
  readonly limit?: string | undefined;
}

export const recordKinds = ["decision", "tool_result", "note", "all"] as const;

/** What is meant by it at this moment; throws where that is nothing. */
export function parseRecordFilter(asked: RecordFilter, at: string, nameOf: FieldDisplayName): Query {
  const { decision_id, workflow_id, stage_id, session_id, correlation_id, label, target } = asked;
  const kind = parseChoice("kind", asked.kind ?? "decision", recordKinds);
  return {
    ...parseTimeRange(asked, at, nameOf),
    ...(kind !== "all" && { kind }),
    ...(asked.type !== undefined && { type: parseChoice("type", asked.type, decisionTypes) }),
    ...(asked.limit !== undefined && { limit: parseLimit(asked.limit, nameOf("limit")) }),
    ...(decision_id !== undefined && { decision_id }),
    ...(workflow_id !== undefined && { workflow_id }),
    ...(stage_id !== undefined && { stage_id }),
    ...(session_id !== undefined && { session_id }),
    ...(correlation_id !== undefined && { correlation_id }),
    ...(label !== undefined && { label }),
    ...(target !== undefined && { target }),
  };
}

export function parseChoice<T extends string>(what: string, given: string, known: readonly T[]): T {
  const found = known.find((each) => each === given);
  if (found !== undefined) return found;
  throw new DecisionError("usage", `there is no ${what} \`${given}\``, {
    hint: didYouMean(given, known) ?? `choose one of ${known.join(", ")}`,
  });
}

export function parseLimit(text: string, name: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && Number.isSafeInteger(limit)) return limit;
  throw new DecisionError("usage", `${name} must be a whole number from 1 (got \`${text}\`)`, {
    hint: `such as ${name} 20`,
  });
}

/** A stretch of the log, as somebody writes it. */
interface TimeRangeFilter {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** How a field is called where it was written, as in `--since`. */
type FieldDisplayName = (field: string) => string;

/** What is meant by it at this moment; durations are counted back from then. */
export function parseTimeRange(
  { since, until }: TimeRangeFilter,
  at: string,
  nameOf: FieldDisplayName,
): TimeRange {
  const now = microsecondsOf(at);
  const range = {
    ...(since !== undefined && { since: parseTimeField(nameOf("since"), since, now) }),
    ...(until !== undefined && { until: parseTimeField(nameOf("until"), until, now) }),
  };
  if (range.since !== undefined && range.until !== undefined && range.since > range.until) {
    throw new DecisionError("usage", `${nameOf("since")} is later than ${nameOf("until")}`, {
      hint: `they mean ${formatTimestamp(range.since)} and ${formatTimestamp(range.until)}: exchange them`,
    });
  }
  return range;
}

function parseTimeField(name: string, text: string, now: number): number {
  const moment = parseTime(text, now);
  if (moment !== undefined) return moment;
  const isWithoutZone = parseTime(`${text}Z`, now) !== undefined;
  throw new DecisionError("usage", `${name} \`${text}\` is not a moment`, {
    hint: isWithoutZone
      ? `a time needs its zone: \`${text}Z\` is UTC`
      : "give an instant (2026-11-15T10:30:00Z), a date (2026-11-15), or how long ago (30m, 24h, 7d)",
  });
}

/** Whether a record is one of those asked for. */
export function matchesQuery(record: LogRecord, query: Query): boolean {
  if (query.kind !== undefined && record.kind !== query.kind) return false;
  if (query.after !== undefined && record.seq <= query.after) return false;
  if (!isInTimeRange(record.timestamp, query)) return false;
  if (record.kind === "note") return !filtersBy(callerFields, query) && !filtersBy(decisionFields, query);
  const isTheirs = callerFields.every((name) => isUnsetOrEqual(query[name], record[name]));
  if (record.kind === "tool_result") return isTheirs && !filtersBy(decisionFields, query);
  return (
    isTheirs &&
    isUnsetOrEqual(query.decision_id, record.decision_id) &&
    isUnsetOrEqual(query.type, record.type) &&
    (query.label === undefined || record.selected_labels.includes(query.label)) &&
    (query.target === undefined || record.selected_targets.includes(query.target))
  );
}

const isUnsetOrEqual = (wanted: string | undefined, found: string | undefined): boolean =>
  wanted === undefined || wanted === found;

/** What happened to the log itself has none of these. */
const callerFields = ["workflow_id", "stage_id", "session_id", "correlation_id"] as const;

/** Only decisions have these. */
const decisionFields = ["decision_id", "type", "label", "target"] as const;

const filtersBy = (names: readonly (keyof Query)[], query: Query): boolean =>
  names.some((name) => query[name] !== undefined);

function isInTimeRange(timestamp: string, { since, until }: Query): boolean {
  if (since === undefined && until === undefined) return true;
  // A damaged record may have none.
  const time = typeof (timestamp as unknown) === "string" ? microsecondsOf(timestamp) : Number.NaN;
  return time >= (since ?? -Infinity) && time <= (until ?? Infinity);
}

/** A ledger holds the newest ones in memory to turn them around; so many may be. */
const maxHeld = 10_000;

/** The records that fit, oldest first, without ever holding many of them. */
export async function* newestRecords(
  log: Pick<Ledger, "select">,
  query: Query,
  held = maxHeld,
): AsyncGenerator<LogLine> {
  const { limit = Infinity, reverse = false } = query;
  if (limit <= held || limit === Infinity || reverse) {
    yield* log.select(query);
    return;
  }
  let first = 0;
  for await (const { record } of log.select({ ...query, reverse: true })) first = record.seq;
  if (first === 0) return;
  let left = limit;
  for await (const line of log.select({ ...query, limit: Infinity, after: first - 1 })) {
    if (left-- === 0) return;
    yield line;
  }
}
