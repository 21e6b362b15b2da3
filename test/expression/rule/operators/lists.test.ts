import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { ask } from "../evaluate-condition.js";

describe("contains_all, contains_any, intersects and subset_of", () => {
  it.each<[Json, Json, boolean, boolean, boolean]>([
    [["a", "b"], ["a"], true, true, false],
    [["a"], ["a", "b"], false, true, true],
    [["a", "b"], ["b", "a"], true, true, true],
    [["a"], ["b"], false, false, false],
    [["a", "a"], ["a"], true, true, true],
    [["a"], ["a", "a"], true, true, true],
    [["a", "a"], ["a", "b"], false, true, true],
    [[], ["a"], false, false, true],
    [["a"], [], true, false, false],
    [[], [], true, false, true],
    [[1], ["1"], false, false, false],
    [[null, false], [null], true, true, false],
    [[{ a: 1, b: 2 }, [3]], [{ b: 2, a: 1 }], true, true, false],
    [[{ a: 1 }], [{ a: 1 }, { a: 2 }], false, true, true],
    [["[3]"], [[3]], false, false, false],
    [[[3]], ["[3]"], false, false, false],
  ])("compare %j with %j by content", (actual, expected, all, any, subset) => {
    const operators = ["contains_all", "contains_any", "intersects", "subset_of"];
    expect(operators.map((op) => ask(op, actual, expected))).toEqual([all, any, any, subset]);
  });

  it("compare two long lists in the time it takes to read them", () => {
    const long = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    expect(ask("contains_all", long.toReversed(), long)).toBe(true);
    expect(ask("subset_of", long.toReversed(), long)).toBe(true);
  });
});
