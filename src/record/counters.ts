import type { Count, Counter, Entry, Limit } from "../model/store.js";

export const zeroCounter: Counter = Object.freeze({ count: 0, seq: 0 });

/** The counter after one more entry. */
export function incrementCounter(counter: Counter, count: Count, seq: number): Counter {
  const next = { count: counter.count + 1, seq };
  if (typeof count === "string")
    return counter.times === undefined ? next : { ...next, times: counter.times };
  return { ...next, times: [...(counter.times ?? []), count.at].slice(-count.keep) };
}

/** How much of a counter lies after a time, as far as its times are kept. */
export function countSince({ count, times = [] }: Counter, after: number | undefined): number {
  return after === undefined ? count : times.filter((time) => time > after).length;
}

export const isLimitReached = (limit: Limit, counter: Counter): boolean =>
  countSince(counter, limit.after) >= limit.most;

/**
 * The bodies of entries that are taken together. What they count stands in them, so that the counters can be
 * worked out from the log, and how many they are, so that half of them can be told from all.
 */
export function groupBodies(group: readonly Entry[]): readonly string[] {
  return group.map(({ body, counts = [] }, index) => {
    const counted = counts.length === 0 ? "" : `,"counted":${JSON.stringify(counts)}`;
    return body + counted + (index === 0 && group.length > 1 ? `,"together":${group.length}` : "");
  });
}

/** How often a tool has succeeded in a session. */
export const successCounter = (session: string, tool: string): string =>
  JSON.stringify(["succeeded", session, tool]);

/** The calls of a tool that were allowed in a session, whichever decisions were asked. */
export const callCounter = (session: string, tool: string): string =>
  JSON.stringify(["called", session, tool]);

/** The calls of a tool whose result is known. */
export const resultCounter = (session: string, tool: string): string =>
  JSON.stringify(["answered", session, tool]);

/** The same of calls with certain params, by their digest: calls may be on their way at the same time. */
export const callWithParamsCounter = (session: string, tool: string, digest: string): string =>
  JSON.stringify(["called", session, tool, digest]);

export const resultWithParamsCounter = (session: string, tool: string, digest: string): string =>
  JSON.stringify(["answered", session, tool, digest]);

/** Whether a counter is about calls that were made, whichever decisions were asked. */
export const isCallCounter = (counter: string): boolean => counter.startsWith('["called",');

/** What a policy of a decision counts. */
interface PolicyReference {
  readonly decision: string;
  readonly policy: string;
}

/** That a path was read in a session by one of the tools that the policy names. */
export const pathReadCounter = (
  { decision, policy }: PolicyReference,
  session: string,
  path: string,
): string => JSON.stringify(["read", decision, policy, session, path]);

/** The calls that were allowed in a session, for `max_calls`. */
export const allowedCallCounter = ({ decision, policy }: PolicyReference, session: string): string =>
  JSON.stringify(["allowed", decision, policy, session]);

/** How often an override was applied. */
export const overrideUseCounter = ({ decision, policy }: PolicyReference): string =>
  JSON.stringify(["applied", decision, policy]);
