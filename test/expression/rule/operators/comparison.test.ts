import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { ask } from "../evaluate-condition.js";

const values: Json[] = [
  null,
  true,
  false,
  0,
  1,
  "",
  "1",
  "a",
  "[1]",
  [],
  [1],
  ["1"],
  {},
  { a: 1 },
  { a: null },
];
const pairs = values.flatMap((actual) => values.map((expected) => ({ actual, expected })));

describe("eq, neq, in and not_in", () => {
  it.each(pairs)("tell $actual and $expected apart by type and content", ({ actual, expected }) => {
    const same = actual === expected;
    expect([ask("eq", actual, expected), ask("neq", actual, expected)]).toEqual([same, !same]);
    expect([ask("in", actual, ["b", expected]), ask("not_in", actual, ["b", expected])]).toEqual([
      same,
      !same,
    ]);
  });

  it.each([
    ["lists", [1, ["x"]], [1, ["x"]]],
    ["objects whatever the order of their keys", { a: 1, b: { c: 2 } }, { b: { c: 2 }, a: 1 }],
    ["zero and minus zero", 0, -0],
  ])("treat %s of the same content as equal", (_name, actual, expected) => {
    expect([ask("eq", actual, expected), ask("neq", actual, expected)]).toEqual([true, false]);
    expect([ask("in", actual, [expected]), ask("not_in", actual, [expected])]).toEqual([true, false]);
  });

  it("find nothing in an empty list", () => {
    expect([ask("in", "a", []), ask("not_in", "a", [])]).toEqual([false, true]);
  });

  it("find the last of very many items", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `item-${index}`);
    expect([ask("in", "item-9999", many), ask("in", "item-10000", many)]).toEqual([true, false]);
  });
});

describe("gt, gte, lt and lte", () => {
  it.each([
    [699, 700, false, false, true, true],
    [700, 700, false, true, false, true],
    [701, 700, true, true, false, false],
    [-1, 0, false, false, true, true],
    ["a", "b", false, false, true, true],
    ["b", "b", false, true, false, true],
    ["a", "Z", true, true, false, false],
    ["10", "9", false, false, true, true],
  ])("compare %j with %j", (actual, expected, ...answers) => {
    expect(["gt", "gte", "lt", "lte"].map((op) => ask(op, actual, expected))).toEqual(answers);
  });

  it("say which type they need", () => {
    expect(ask("gt", "701", 700)).toBe("`gt` needs a number, as its `value` is one, got text");
    expect(ask("lte", 5, "b")).toBe("`lte` needs text, as its `value` is text, got a number");
  });
});
