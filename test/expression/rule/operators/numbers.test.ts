import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { ask, checkValue } from "../evaluate-condition.js";

describe("between", () => {
  it.each([
    [0.99, false],
    [1, true],
    [3, true],
    [5, true],
    [5.01, false],
  ])("takes both ends in: %d is %s", (actual, answer) => {
    expect([ask("between", actual, [1, 5]), ask("between", actual, { max: 5, min: 1 })]).toEqual([
      answer,
      answer,
    ]);
  });

  it.each([
    ["b", true],
    ["az", false],
    ["d", true],
    ["da", false],
  ])("compares texts as text: %s is %s", (actual, answer) => {
    expect(ask("between", actual, ["b", "d"])).toBe(answer);
  });

  it("holds of one value if both ends are the same", () => {
    expect([ask("between", 5, [5, 5]), ask("between", 4, [5, 5])]).toEqual([true, false]);
  });

  it("needs the type of its bounds", () => {
    expect(ask("between", "3", [1, 5])).toBe("`between` needs a number, as its `value` is one, got text");
    expect(ask("between", 3, ["1", "5"])).toBe("`between` needs text, as its `value` is text, got a number");
  });

  const faulty: Json[] = [
    5,
    "1-5",
    null,
    [],
    [1],
    [1, 2, 3],
    [5, 1],
    ["b", "a"],
    [1, "5"],
    ["1", 5],
    [null, 5],
    {},
    { min: 1 },
    { max: 1 },
    { min: 1, max: 2, step: 1 },
    { min: 1, most: 2 },
    { min: 1, max: null },
  ];

  it.each(faulty.map((value) => ({ value })))("rejects $value", ({ value }) => {
    expect(checkValue("between", value)).toMatch(/^`value` must be \[min, max\] or \{min, max\}/);
  });
});

describe("modulo", () => {
  it.each([
    [10, 3, 1, true],
    [9, 3, 0, true],
    [10, 3, 0, false],
    [-1, 7, 6, true],
    [-1, 7, -1, false],
    [1, -7, -6, true],
    [-8, -7, -1, true],
    [-7, 7, 0, true],
    [7.5, 2, 1.5, true],
  ])("of %d by %d leaves %d: %s", (actual, divisor, remainder, answer) => {
    const answers = [[divisor, remainder], { remainder, divisor }].map((value) =>
      ask("modulo", actual, value),
    );
    expect(answers).toEqual([answer, answer]);
  });

  const faulty: Json[] = [
    3,
    [3],
    [3, 1, 1],
    [0, 0],
    ["3", 1],
    [3, "1"],
    {},
    { divisor: 3 },
    { divisor: 0, remainder: 0 },
  ];

  it.each(faulty.map((value) => ({ value })))("rejects $value", ({ value }) => {
    expect(checkValue("modulo", value)).toMatch(/^`value` must be \[divisor, remainder\]/);
  });
});
