import { describe, expect, it } from "vitest";
import type { Count, Counter } from "../../src/model/store.js";
import {
  countSince,
  incrementCounter,
  isLimitReached,
  sumSince,
  zeroCounter,
} from "../../src/record/counters.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { groupContract } from "../store/contract.js";
import { newId, TestClock } from "../store/entries.js";
import { storeDirectory } from "../store/jsonl-log.js";

const timed = (at: number, keep = 2): { counter: string; keep: number; at: number } => ({
  counter: "c",
  keep,
  at,
});

describe("a counter", () => {
  it("starts at zero", () => {
    expect(zeroCounter).toEqual({ count: 0, seq: 0 });
    expect(Object.isFrozen(zeroCounter)).toBe(true);
  });

  it("grows by one and has the number of the entry", () => {
    const once = incrementCounter(zeroCounter, "c", 7);
    expect([once, incrementCounter(once, "c", 9)]).toEqual([
      { count: 1, seq: 7 },
      { count: 2, seq: 9 },
    ]);
  });

  it("keeps the requested number of newest times", () => {
    let counter: Counter = zeroCounter;
    for (const [index, at] of [10, 20, 30].entries())
      counter = incrementCounter(counter, timed(at), index + 1);
    expect(counter).toEqual({ count: 3, seq: 3, times: [20, 30] });
    expect(incrementCounter(counter, timed(40, 5), 4).times).toEqual([20, 30, 40]);
    expect(incrementCounter(counter, timed(40, 1), 4).times).toEqual([40]);
  });

  it("keeps its times where it grows without one", () => {
    expect(incrementCounter({ count: 1, seq: 1, times: [5] }, "c", 2)).toEqual({
      count: 2,
      seq: 2,
      times: [5],
    });
  });

  it("does not change the previous counter", () => {
    const counter = Object.freeze({ count: 1, seq: 1, times: Object.freeze([5]) });
    incrementCounter(counter, timed(6), 2);
    expect(counter).toEqual({ count: 1, seq: 1, times: [5] });
  });
});

describe("the count after a time", () => {
  const counter = { count: 9, seq: 9, times: [10, 20, 20, 30] };

  it.each([
    [undefined, 9],
    [9, 4],
    [10, 3],
    [19, 3],
    [20, 1],
    [30, 0],
  ])("%s is %i", (after, count) => {
    expect(countSince(counter, after)).toBe(count);
  });

  it("is nothing where no times are kept", () => {
    expect(countSince({ count: 9, seq: 9 }, 0)).toBe(0);
    expect(countSince({ count: 9, seq: 9 }, undefined)).toBe(9);
  });

  it("reaches a limit, or not", () => {
    const reached = (most: number, after?: number): boolean =>
      isLimitReached({ counter: "c", most, ...(after !== undefined && { after }) }, counter);
    expect([reached(9), reached(10), reached(3, 10), reached(4, 10), reached(0, 99)]).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
  });
});

describe("entries that are appended together", () => {
  describe("to the memory store", () => groupContract(() => ({ store: openMemoryStore() })));

  describe.each([
    { name: "with few segments", options: {} },
    { name: "with a segment for each record", options: { segmentSize: 1, checkpointEvery: 1 } },
  ])("to the jsonl store, $name", ({ options }) =>
    groupContract(() => {
      const common = { directory: storeDirectory(), clock: new TestClock().read, newId };
      return { store: openJsonlStore({ ...common, durability: "fast", ...options }) };
    }),
  );
});

describe("a sum", () => {
  const hour = 3_600_000_000;
  const spend = (add: number, at: number, window = hour): Count => ({ counter: "c", add, at, window });
  const spent = (counts: readonly Count[]): Counter =>
    counts.reduce((counter, count, index) => incrementCounter(counter, count, index + 1), zeroCounter);

  it("adds up amounts, for ever or with their times", () => {
    expect(spent([{ counter: "c", add: 2 }, "c", { counter: "c", add: 3 }])).toEqual({
      count: 3,
      seq: 3,
      sum: 5,
    });
    const counter = spent([spend(2, 10), spend(3, 20)]);
    expect(counter).toEqual({
      count: 2,
      seq: 2,
      sum: 5,
      amounts: [
        [10, 2],
        [20, 3],
      ],
    });
    expect([undefined, 9, 10, 20].map((after) => sumSince(counter, after))).toEqual([5, 5, 3, 0]);
    expect(sumSince(zeroCounter, undefined)).toBe(0);
    expect(sumSince(zeroCounter, 5)).toBe(0);
  });

  it("is limited by what it would be", () => {
    const counter = spent([spend(2, 10), spend(3, 20)]);
    const reached = (add: number, most: number, after?: number): boolean =>
      isLimitReached({ counter: "c", most, add, ...(after !== undefined && { after }) }, counter);
    expect([reached(5, 10), reached(6, 10), reached(7, 10, 10), reached(8, 10, 10)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it("forgets amounts that no window contains any more", () => {
    expect(spent([spend(2, 0), spend(3, 1), spend(4, hour)]).amounts).toEqual([
      [1, 3],
      [hour, 4],
    ]);
  });

  it("keeps at most 200 amounts, and never counts less than all of them", () => {
    const all = Array.from({ length: 5000 }, (_, index): readonly [number, number] => [
      index * (hour / 1500),
      1 + (index % 7),
    ]);
    let counter: Counter = zeroCounter;
    for (const [index, [at, add]] of all.entries()) {
      counter = incrementCounter(counter, spend(add, at), index + 1);
      expect(counter.amounts?.length).toBeLessThanOrEqual(200);
      if (index % 50 !== 0) continue;
      const exact = (after: number): number =>
        all.slice(0, index + 1).reduce((sum, [time, amount]) => (time > after ? sum + amount : sum), 0);
      const since = sumSince(counter, at - hour);
      expect(since).toBeGreaterThanOrEqual(exact(at - hour));
      // An amount counts for at most one hundredth of the window longer.
      expect(since).toBeLessThanOrEqual(exact(at - hour * 1.01));
    }
  });

  it("keeps at most 200 amounts where the clock jumps", () => {
    const counts = Array.from({ length: 500 }, (_, index) => spend(1, (500 - index) * hour));
    const counter = spent(counts);
    expect(counter.amounts).toHaveLength(200);
    expect(sumSince(counter, 0)).toBe(500);
  });

  it("does not exceed the numbers that are exact", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const counter = spent([spend(most, 10), spend(most, 20)]);
    expect([counter.sum, sumSince(counter, 5)]).toEqual([most, most]);
  });
});
