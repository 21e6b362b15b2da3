import { describe, expect, it } from "vitest";
import { Failure } from "../../../src/expression/failure.js";
import { answer } from "../answers.js";

describe("functions on numbers", () => {
  it.each([
    ["abs(-3)", 3],
    ["abs(3)", 3],
    ["ceil(1.2)", 2],
    ["ceil(2)", 2],
    ["floor(-1.2)", -2],
    ["round(1.4)", 1],
    ["round(1.5)", 2],
    ["round(2.5)", 3],
    ["round(-2.5)", -2],
    ["round(1.25, 1)", 1.3],
    ["round(3.14159, 2)", 3.14],
    ["round(-3.14159, 4)", -3.1416],
    ["round(120, 2)", 120],
    ["round(0.1, 15)", 0.1],
    ["min(3)", 3],
    ["min(3, 1, 2)", 1],
    ["max(3, 1, 2)", 3],
    ["min((3, 1, 2))", 1],
    ["max([3])", 3],
    ["min(-1, -2)", -2],
    ["between(2, 1, 3)", true],
    ["between(1, 1, 3)", true],
    ["between(3, 1, 3)", true],
    ["between(0, 1, 3)", false],
    ["between(4, 1, 3)", false],
    ["between(2, 3, 1)", false],
    ["between('b', 'a', 'c')", true],
    ["between('d', 'a', 'c')", false],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each(["min([])", "max([])", "min([[1]])", "max(['1'])"])("%s has no answer", (expression) => {
    expect(answer(expression)).toBeInstanceOf(Failure);
  });

  it.each([
    ["round(x, 15)", 1e300],
    ["round(x, 1)", Number.MAX_VALUE],
    ["round(x, 2)", -1e308],
  ])("%s of %d is never infinite", (expression, x) => {
    const value = answer(expression, { x });
    expect(value instanceof Failure || Number.isFinite(value)).toBe(true);
  });
});
