import { callersOf } from "./record-keys.js";
import { microsecondsOf, parseTime, formatTimestamp } from "./timestamp.js";
import { decisionTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { LogRecord } from "../model/record.js";
import type { Query, TimeRange, Ledger, LogLine } from "../model/store.js";
import { didYouMean } from "../text.js";

/** A filter for records as a user writes it. */
export interface RecordFilter extends TimeRangeFilter {
  readonly decision_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly stage_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  /** The subject of the token, or one who acts for it. */
  readonly caller?: string | undefined;
  readonly label?: string | undefined;
  readonly target?: string | undefined;
  readonly type?: string | undefined;
  /** Absent: decisions. */
  readonly kind?: string | undefined;
  readonly limit?: string | undefined;
}

export const recordKinds = ["decision", "tool_result", "assessment", "note", "all"] as const;

/** Parses a filter; durations are relative to `at`. Throws a usage error for invalid values. */
export function parseRecordFilter(filter: RecordFilter, at: string, nameOf: FieldDisplayName): Query {
  const { decision_id, workflow_id, stage_id, session_id, correlation_id, caller, label, target } = filter;
  const kind = parseChoice("kind", filter.kind ?? "decision", recordKinds);
  return {
    ...parseTimeRange(filter, at, nameOf),
    ...(kind !== "all" && { kind }),
    ...(filter.type !== undefined && { type: parseChoice("type", filter.type, decisionTypes) }),
    ...(filter.limit !== undefined && { limit: parseLimit(filter.limit, nameOf("limit")) }),
    ...(decision_id !== undefined && { decision_id }),
    ...(workflow_id !== undefined && { workflow_id }),
    ...(stage_id !== undefined && { stage_id }),
    ...(session_id !== undefined && { session_id }),
    ...(correlation_id !== undefined && { correlation_id }),
    ...(caller !== undefined && { caller }),
    ...(label !== undefined && { label }),
    ...(target !== undefined && { target }),
  };
}

export function parseChoice<T extends string>(what: string, text: string, choices: readonly T[]): T {
  const found = choices.find((each) => each === text);
  if (found !== undefined) return found;
  throw new DecisionError("usage", `unknown ${what} \`${text}\``, {
    hint: didYouMean(text, choices) ?? `choose one of ${choices.join(", ")}`,
  });
}

export function parseLimit(text: string, name: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && Number.isSafeInteger(limit)) return limit;
  throw new DecisionError("usage", `${name} must be a whole number of 1 or more (got \`${text}\`)`, {
    hint: `such as ${name} 20`,
  });
}

/** A time range as a user writes it. */
interface TimeRangeFilter {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Returns the name of a field as the user knows it, for example `--since`. */
type FieldDisplayName = (field: string) => string;

/** Parses a time range; durations are counted back from `at`. */
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
      hint: `swap them: they are ${formatTimestamp(range.since)} and ${formatTimestamp(range.until)}`,
    });
  }
  return range;
}

/** Parses a time in microseconds; a duration is counted back from `now`. */
export function parseTimeField(name: string, text: string, now: number): number {
  const time = parseTime(text, now);
  if (time !== undefined) return time;
  const isWithoutZone = parseTime(`${text}Z`, now) !== undefined;
  throw new DecisionError("usage", `${name} \`${text}\` is not a time`, {
    hint: isWithoutZone
      ? `add a time zone: \`${text}Z\` is UTC`
      : "use a timestamp (2026-11-15T10:30:00Z), a date (2026-11-15) or a duration (30m, 24h, 7d)",
  });
}

/** Whether a record matches a query. */
export function matchesQuery(record: LogRecord, query: Query): boolean {
  if (query.kind !== undefined && record.kind !== query.kind) return false;
  if (query.after !== undefined && record.seq <= query.after) return false;
  if (!isInTimeRange(record.timestamp, query)) return false;
  if (record.kind === "note") return !filtersBy(callerFields, query) && !filtersBy(decisionFields, query);
  const isOfCaller = callerFields.every((name) => isUnsetOrEqual(query[name], record[name]));
  if (record.kind !== "decision") return isOfCaller && !filtersBy(decisionFields, query);
  return (
    isOfCaller &&
    isUnsetOrEqual(query.decision_id, record.decision_id) &&
    isUnsetOrEqual(query.type, record.type) &&
    (query.caller === undefined || callersOf(record).includes(query.caller)) &&
    (query.label === undefined || record.selected_labels.includes(query.label)) &&
    (query.target === undefined || record.selected_targets.includes(query.target))
  );
}

const isUnsetOrEqual = (expected: string | undefined, actual: string | undefined): boolean =>
  expected === undefined || expected === actual;

/** Notes about the log have none of these fields. */
const callerFields = ["workflow_id", "stage_id", "session_id", "correlation_id"] as const;

/** Only decisions have these fields. */
const decisionFields = ["decision_id", "type", "caller", "label", "target"] as const;

const filtersBy = (names: readonly (keyof Query)[], query: Query): boolean =>
  names.some((name) => query[name] !== undefined);

function isInTimeRange(timestamp: string, { since, until }: Query): boolean {
  if (since === undefined && until === undefined) return true;
  // A damaged record may lack its timestamp.
  const time = typeof (timestamp as unknown) === "string" ? microsecondsOf(timestamp) : Number.NaN;
  return time >= (since ?? -Infinity) && time <= (until ?? Infinity);
}

/** A ledger reads the newest records into memory to reverse them; at most this many. */
const maxHeld = 10_000;

/** Yields the matching records, oldest first, without reading many into memory. */
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
