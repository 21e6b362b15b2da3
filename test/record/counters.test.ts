import { describe, expect, it } from "vitest";
import type { Counter } from "../../src/model/store.js";
import { countSince, incrementCounter, isLimitReached, zeroCounter } from "../../src/record/counters.js";
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
