import type { Count, Counter, Entry, Limit } from "../model/store.js";

export const zeroCounter: Counter = Object.freeze({ count: 0, seq: 0 });

/** Returns the counter after one more entry. */
export function incrementCounter(counter: Counter, count: Count, seq: number): Counter {
  const next = { count: counter.count + 1, seq };
  if (typeof count === "string")
    return counter.times === undefined ? next : { ...next, times: counter.times };
  return { ...next, times: [...(counter.times ?? []), count.at].slice(-count.keep) };
}

/** Counts the entries after a time, as far as the counter's times are kept. */
export function countSince({ count, times = [] }: Counter, after: number | undefined): number {
  return after === undefined ? count : times.filter((time) => time > after).length;
}

export const isLimitReached = (limit: Limit, counter: Counter): boolean =>
  countSince(counter, limit.after) >= limit.most;

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

/** A policy of a decision. */
interface PolicyReference {
  readonly decision: string;
  readonly policy: string;
}

/** Counts allowed reads of a path in a session by the tools that a policy names. */
export const pathReadCounter = (
  { decision, policy }: PolicyReference,
  session: Session,
  path: string,
): string => JSON.stringify(["read_evidence", decision, policy, session, path]);

/** Counts calls that a policy allowed in a session, for `max_calls`. */
export const allowedCallCounter = ({ decision, policy }: PolicyReference, session: Session): string =>
  JSON.stringify(["allowed", decision, policy, session]);

/** Counts applications of an override. */
export const overrideUseCounter = ({ decision, policy }: PolicyReference): string =>
  JSON.stringify(["applied", decision, policy]);
