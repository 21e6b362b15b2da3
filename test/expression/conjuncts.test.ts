import { describe, expect, it } from "vitest";
import { conjunctsOf, leadingEquality } from "../../src/expression/syntax.js";
import { parse } from "../../src/expression/parse.js";

describe("leadingEquality", () => {
  it.each([
    ["a == 1", ["a"], [1]],
    ["1 == a", ["a"], [1]],
    ["a.b.0 == 'x'", ["a", "b", "0"], ["x"]],
    ["a == null", ["a"], [null]],
    ["a == -1", ["a"], [-1]],
    ["a in ('x', 2, true)", ["a"], ["x", 2, true]],
    ["a in ['x']", ["a"], ["x"]],
    ["a in ('x')", ["a"], ["x"]],
    ["a in []", ["a"], []],
    ["a == 1 and b > 2", ["a"], [1]],
    ["(a == 1 and b) and c", ["a"], [1]],
    ["a == 1 and (b or c)", ["a"], [1]],
  ])("of %s is on %j with %j", (text, segments, values) => {
    expect(leadingEquality(parse(text))).toEqual({ segments, values });
  });

  it.each([
    ["there is none", "a > 1"],
    ["it is only one of the ways to match", "a == 1 or b == 2"],
    ["another part comes first and could be errored", "b > 2 and a == 1"],
    ["it is negated", "not a == 1"],
    ["it is unequal", "a != 1"],
    ["it is not in", "a not in (1)"],
    ["it is between two paths", "a == b"],
    ["it is between two literals", "1 == 1"],
    ["it is a chain", "a == 1 == true"],
    ["the list has a path in it", "a in (1, b)"],
    ["the list is a path", "a in b"],
    ["the item is no path", "lower(a) in ('x')"],
    ["the value is a list", "a == [1]"],
    ["a calculation stands beside it", "a + 1 == 2"],
  ])("is absent if %s", (_why, text) => {
    expect(leadingEquality(parse(text))).toBeUndefined();
  });
});

describe("conjunctsOf", () => {
  it.each([
    ["a", 1],
    ["a and b", 2],
    ["a and b and c", 3],
    ["(a and b) and (c and d)", 4],
    ["a and (b or c)", 2],
    ["a or b and c", 1],
    ["not (a and b)", 1],
  ])("of %s are %i", (text, count) => {
    expect(conjunctsOf(parse(text))).toHaveLength(count);
  });
});
