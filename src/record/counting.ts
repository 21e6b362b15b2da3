import type { Count, Counter, Entry, Limit } from "../model/store.js";

export const nothingCounted: Counter = Object.freeze({ count: 0, seq: 0 });

/** The counter after one more entry. */
export function grown(counter: Counter, count: Count, seq: number): Counter {
  const next = { count: counter.count + 1, seq };
  if (typeof count === "string")
    return counter.times === undefined ? next : { ...next, times: counter.times };
  return { ...next, times: [...(counter.times ?? []), count.at].slice(-count.keep) };
}

/** How much of a counter lies after a time, as far as its times are kept. */
export function countedAfter({ count, times = [] }: Counter, after: number | undefined): number {
  return after === undefined ? count : times.filter((time) => time > after).length;
}

export const isReached = (limit: Limit, counter: Counter): boolean =>
  countedAfter(counter, limit.after) >= limit.most;

/**
 * The bodies of entries that are taken together. What they count stands in them, so that the counters can be
 * worked out from the log, and how many they are, so that half of them can be told from all.
 */
export function bodiesOf(group: readonly Entry[]): readonly string[] {
  return group.map(({ body, counts = [] }, index) => {
    const counted = counts.length === 0 ? "" : `,"counted":${JSON.stringify(counts)}`;
    return body + counted + (index === 0 && group.length > 1 ? `,"together":${group.length}` : "");
  });
}
