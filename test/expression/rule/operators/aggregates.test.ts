import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { ask, checkValue } from "../evaluate-condition.js";

const numbers = [1.5, 4, 2.5, -2];

describe("length and count", () => {
  it.each<[string, Json, number]>([
    ["length", "", 0],
    ["length", "abc", 3],
    ["length", "🦊é", 2],
    ["length", [], 0],
    ["length", [null, "a"], 2],
    ["count", [], 0],
    ["count", [null, "a"], 2],
  ])("%s of %j is %d", (op, actual, size) => {
    expect([ask(op, actual, size), ask(op, actual, size + 1)]).toEqual([true, false]);
  });

  it("count no characters", () => {
    expect(ask("count", "abc", 3)).toBe("`count` needs a list, got text");
  });
});

describe("min, max, sum and average", () => {
  it.each([
    ["min", -2],
    ["max", 4],
    ["sum", 6],
    ["average", 1.5],
  ])("%s of the list is %d", (op, answer) => {
    expect([ask(op, numbers, answer), ask(op, numbers, answer + 0.5)]).toEqual([true, false]);
  });

  it.each(["min", "max", "average"])("%s of an empty list has no answer", (op) => {
    expect(ask(op, [], 0)).toBe(`\`${op}\` needs at least one number`);
  });

  it("add nothing up to 0", () => {
    expect([ask("sum", [], 0), ask("sum", [], 1)]).toEqual([true, false]);
  });

  it.each(["min", "max", "sum", "average"])("%s needs numbers only", (op) => {
    expect(ask(op, [1, "2"], 1)).toBe(`\`${op}\` needs numbers only`);
    expect(ask(op, "12", 1)).toBe(`\`${op}\` needs a list of numbers, got text`);
  });

  it.each(["sum", "average"])("%s has a note if the numbers are too large", (op) => {
    expect(ask(op, [1e308, 1e308], { gt: 0 })).toBe(
      `the result of \`${op}\` is not a finite number (too large)`,
    );
  });

  it.each([
    ["sum", [0.1, 0.2], 0.3],
    ["sum", [-0.7, -0.1], -0.8],
    ["average", [0.1, 0.2], 0.15],
  ])("%s of %j equals %d, as computed numbers are equal within 1e-10", (op, list, value) => {
    expect([ask(op, list, value), ask(op, list, value + 1e-9)]).toEqual([true, false]);
  });

  it("keep what rounding would lose", () => {
    expect(ask("sum", [1e16, 1, 1, -1e16], 2)).toBe(true);
    expect(ask("sum", [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], 1)).toBe(true);
  });

  it("add up to the same in any order", () => {
    const finite = fc.double({ noNaN: true, min: -1e9, max: 1e9 });
    const sumOf = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
    const shuffled = fc
      .array(finite, { maxLength: 20 })
      .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const limit = sumOf(list);
        for (const value of [limit, { gt: limit }, { lt: limit }]) {
          expect(ask("sum", other, value)).toBe(ask("sum", list, value));
        }
      }),
    );
  });
});

describe("the value of a measure", () => {
  it.each<[Json, boolean]>([
    [3, true],
    [{ eq: 3 }, true],
    [{ eq: 4 }, false],
    [{ gt: 2 }, true],
    [{ gt: 3 }, false],
    [{ gte: 3 }, true],
    [{ gte: 4 }, false],
    [{ lt: 4 }, true],
    [{ lt: 3 }, false],
    [{ lte: 3 }, true],
    [{ lte: 2 }, false],
    [{ min: 3 }, true],
    [{ min: 4 }, false],
    [{ max: 3 }, true],
    [{ max: 2 }, false],
    [{ min: 1, max: 3 }, true],
    [{ gt: 1, lt: 3 }, false],
  ])("%j holds of three: %s", (value, answer) => {
    expect(ask("count", ["a", "b", "c"], value)).toBe(answer);
  });

  const faulty: Json[] = [
    "3",
    null,
    true,
    [],
    [3],
    {},
    { least: 3 },
    { min: "3" },
    { min: 1, most: 3 },
    { min: null },
  ];

  it.each(faulty.map((value) => ({ value })))("is not $value", ({ value }) => {
    const message =
      /^`value` must be a number or a map of `eq`, `gt`, `gte`, `lt`, `lte`, `min` and `max` to numbers/;
    for (const op of ["length", "min", "max", "sum", "average", "count"])
      expect(checkValue(op, value)).toMatch(message);
  });
});
