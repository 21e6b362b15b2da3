import { isObject } from "../expression/equal.js";
import type { Count, Counter, Entry, Limit, TimedAmount } from "../model/store.js";

export const zeroCounter: Counter = Object.freeze({ count: 0, seq: 0 });

export const counterName = (count: Count): string => (typeof count === "string" ? count : count.counter);

/** Returns the counter after one more entry. */
export function incrementCounter(counter: Counter, count: Count, seq: number): Counter {
  const next = { ...counter, count: counter.count + 1, seq };
  if (typeof count === "string") return next;
  if ("keep" in count) return { ...next, times: [...(counter.times ?? []), count.at].slice(-count.keep) };
  const { add, at, window } = count;
  const sum = addSafely(counter.sum ?? 0, add);
  if (at === undefined || window === undefined) return { ...next, sum };
  return { ...next, sum, amounts: addAmount(counter.amounts ?? [], [at, add], window) };
}

/** Increments counters in place. */
export function countEntry(counters: Map<string, Counter>, counted: readonly Count[], seq: number): void {
  for (const count of counted) {
    const name = counterName(count);
    counters.set(name, incrementCounter(counters.get(name) ?? zeroCounter, count, seq));
  }
}

/** Beyond this, sums are no longer exact; every limit is far below. */
const addSafely = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

const maxAmounts = 200;

/**
 * Adds an amount to those of the last window. Of more than 200, those within one hundredth of the window become one at
 * the time of the last: the number is bounded, and an amount may count for a little longer, but never for less.
 */
function addAmount(
  amounts: readonly TimedAmount[],
  added: TimedAmount,
  window: number,
): readonly TimedAmount[] {
  const recent = [...amounts.filter(([time]) => time > added[0] - window), added];
  if (recent.length <= maxAmounts) return recent;
  const cells = new Map<number, TimedAmount>();
  for (const [time, amount] of recent) {
    const cell = Math.floor(time / (window / 100));
    const [last, sum] = cells.get(cell) ?? [time, 0];
    cells.set(cell, [Math.max(last, time), addSafely(sum, amount)]);
  }
  const merged = [...cells.values()].sort(([a], [b]) => a - b);
  // Only clocks that are set back create more cells; the oldest ones are merged.
  const surplus = merged.splice(0, Math.max(0, merged.length - maxAmounts + 1));
  const [last] = surplus.at(-1) ?? [];
  const oldest = surplus.reduce((sum, [, amount]) => addSafely(sum, amount), 0);
  return last === undefined ? merged : [[last, oldest], ...merged];
}

/** Counts the entries after a time, as far as the counter's times are kept. */
export function countSince({ count, times = [] }: Counter, after: number | undefined): number {
  return after === undefined ? count : times.filter((time) => time > after).length;
}

/** Adds up the amounts after a time. */
export function sumSince({ sum = 0, amounts = [] }: Counter, after: number | undefined): number {
  if (after === undefined) return sum;
  return amounts.reduce((total, [time, amount]) => (time > after ? addSafely(total, amount) : total), 0);
}

export const isLimitReached = ({ most, after, add }: Limit, counter: Counter): boolean =>
  add === undefined ? countSince(counter, after) >= most : sumSince(counter, after) + add > most;

/**
 * Returns the bodies of entries that are appended atomically. They contain what they count, so that counters can
 * be rebuilt from the log, and the size of the group, so that a partly written group is detected.
 */
export function groupBodies(group: readonly Entry[]): readonly string[] {
  return group.map(({ body, counts = [] }, index) => {
    const counted = counts.length === 0 ? "" : `,"counted":${JSON.stringify(counts)}`;
    return body + counted + (index === 0 && group.length > 1 ? `,"together":${group.length}` : "");
  });
}

/*
 * Counters of calls and of their results. Earlier versions also counted results that no check had allowed, and calls
 * that no check was about; their counters `called`, `answered`, `succeeded` and `read` are no longer used.
 */

/** A session, with its organisation if it has one: equal ids of two organisations are two sessions. */
export type Session = string | readonly [org: string, id: string];

interface SessionName {
  readonly session_id?: string;
  readonly caller?: { readonly org_id?: string | undefined } | undefined;
}

/** Returns the session of a request or a record; undefined: it belongs to none. */
export function sessionOf(named: SessionName & { readonly session_id: string }): Session;
export function sessionOf(named: SessionName): Session | undefined;
export function sessionOf({ session_id: id, caller }: SessionName): Session | undefined {
  return id === undefined || caller?.org_id === undefined ? id : [caller.org_id, id];
}

/** Counts successful calls of a tool in a session that a check allowed. */
export const successCounter = (session: Session, tool: string): string =>
  JSON.stringify(["evidence", session, tool]);

/** Counts calls of a tool in a session that a check allowed; with a digest, those with these params. */
export const callCounter = (session: Session, tool: string, digest?: string): string =>
  JSON.stringify(["checked", session, tool, ...(digest === undefined ? [] : [digest])]);

const callPrefix = '["checked",';

/** Whether a count is that of an allowed call. */
export const isCallCounter = (count: Count): count is string =>
  typeof count === "string" && count.startsWith(callPrefix);

/** Counts the results of the calls that a call counter counts. */
export const resultCounter = (callCounterName: string): string =>
  `["reported",${callCounterName.slice(callPrefix.length)}`;

/** Counts the result of one call: there is at most one. */
export const callResultCounter = (checkId: string): string => JSON.stringify(["reported", checkId]);

/** Counts the calls of a session that sent its state: those of callers who may report, or of one other caller. */
export const sessionStateCounter = (session: Session, ...owner: StateOwner): string =>
  JSON.stringify(["session_state", session, ...owner]);

/** For whose calls a state is kept; nothing: for all of the session. */
export type StateOwner = readonly [] | CallerSubject | readonly ["unidentified"];

/** Counts the recorded decisions of a session, where there are observers. */
export const sessionDecisionCounter = (session: Session): string => JSON.stringify(["decisions", session]);

/** A policy of a decision. */
export interface PolicyReference {
  readonly decision: string;
  readonly policy: string;
}

/** Counts allowed reads of a path in a session by the tools that a policy names. */
export const pathReadCounter = (
  { decision, policy }: PolicyReference,
  session: Session,
  path: string,
): string => JSON.stringify(["read_evidence", decision, policy, session, path]);

/** Whose calls a limit counts together: those of a session, of a caller for one organisation, or of an organisation. */
export type LimitSubject = readonly [Session] | CallerSubject | readonly ["org", org: string];

/** A caller, for one organisation. */
type CallerSubject = readonly ["caller", issuer: string, subject: string, org?: string];

/** Returns the subject of what is counted or kept for a caller; undefined for one without an identity. */
export function callerSubject(caller: unknown): CallerSubject | undefined {
  const { issuer, subject, org_id } = isObject(caller) ? caller : {};
  if (!isText(issuer) || !isText(subject)) return undefined;
  return isText(org_id) ? ["caller", issuer, subject, org_id] : ["caller", issuer, subject];
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Counts calls that a policy or a gate allowed, for `max_calls`. */
export const allowedCallCounter = ({ decision, policy }: PolicyReference, ...subject: LimitSubject): string =>
  JSON.stringify(["allowed", decision, policy, ...subject]);

/** Adds up the amounts of allowed calls, for `max_sum`. */
export const allowedSumCounter = ({ decision, policy }: PolicyReference, ...subject: LimitSubject): string =>
  JSON.stringify(["sum", decision, policy, ...subject]);

/** Whose applications of an override are counted; nothing: those of callers without an organisation. */
type UseSubject = readonly [] | readonly ["org", org: string] | readonly ["orgs"];

/** Counts applications of an override, by callers without an organisation, by those of one, or of all of them. */
export const overrideUseCounter = ({ decision, policy }: PolicyReference, ...subject: UseSubject): string =>
  JSON.stringify(["applied", decision, policy, ...subject]);
