import { describe, expect, it } from "vitest";
import { certainErrors, isNeverBoolean } from "../../src/expression/certain-errors.js";
import type { NodePositions } from "../../src/expression/parse.js";
import { parse } from "../../src/expression/parse.js";

/** Returns the errors of an expression as `position: message`. */
function errorsOf(text: string): readonly string[] {
  const positions: NodePositions = new Map();
  const tree = parse(text, positions);
  return certainErrors(tree).map(({ part, message }) => `${positions.get(part) ?? "nowhere"}: ${message}`);
}

describe("an expression that can never be evaluated", () => {
  it.each([
    ["upper(5) > 3", ["0: `upper` needs text, got a number"]],
    ["'a' < 1", ["4: `<` needs two numbers or two texts, got text and a number"]],
    ["length(true)", ["0: `length` needs text or a list, got true or false"]],
    ["contains(x, 'a') < 3", ["17: `<` needs two numbers or two texts, got true or false and a number"]],
    ["x > [1]", ["2: `>` needs two numbers or two texts, got a list"]],
    ["!x > 5", ["3: `>` needs two numbers or two texts, got true or false and a number"]],
    ["upper(length(x))", ["0: `upper` needs text, got a number"]],
    ["lower(x) + 1", ["9: `+` needs two numbers or two texts, got text and a number"]],
    ["x * 'a'", ["2: `*` needs numbers, got text"]],
    ["-lower(x)", ["0: `-` needs numbers, got text"]],
    ["not length(x)", ["0: `not` needs true or false, got a number"]],
    ["if length(x) then 1 else 2", ["0: `if` needs true or false, got a number"]],
    ["x in lower(y)", ["2: `in` needs a list, got text"]],
    ["x / 0", ["2: a division by 0 has no result"]],
    ["x % 0 == 1", ["2: a division by 0 has no result"]],
    ["1 / 0", ["2: a division by 0 has no result"]],
    ["before(x, 'tomorrow')", ['0: `before` needs an ISO 8601 date (a time needs a zone), got "tomorrow"']],
    [
      "duration('P1M') > 5",
      [
        "0: `duration` cannot convert years and months, whose length varies: use `add_duration(date, duration)`",
      ],
    ],
    ["sqrt(-4) > 1", ["0: `sqrt` needs a number that is not negative"]],
    ["between(x, 1, 'a')", ["0: `between` needs three numbers or three texts"]],
    ["contains('abc', 5)", ["0: `contains` needs text to look for in text, got a number"]],
    ["contains(lower(x), length(y))", ["0: `contains` needs text to look for in text, got a number"]],
    ["get(x, true)", ["0: `get` needs a text or a number as its key"]],
    [
      "in_polygon(x, [[0, 0]])",
      [
        "0: `in_polygon` needs a list of at least three places: {lat, lon} or [lat, lon], with a latitude of -90 to 90 and a longitude of -180 to 180, got a list",
      ],
    ],
    ["exists(upper(5))", ["7: `upper` needs text, got a number"]],
    ["x ~= length(y)", ["2: `matches` needs text, got a number"]],
    ["(if x then 'a' else 'b') < 1", ["25: `<` needs two numbers or two texts, got text and a number"]],
  ])("%s is reported where it fails", (text, errors) => {
    expect(errorsOf(text)).toEqual(errors);
  });
});

describe("a part that can never be evaluated", () => {
  it.each([
    ["x and upper(5) == 'A'", ["6: `upper` needs text, got a number"]],
    ["x or 'b'", ["5: one side of `or` is never true or false"]],
    ["'b' and x", ["0: one side of `and` is never true or false"]],
    ["1 < x < [2]", ["6: `<` needs two numbers or two texts, got a list"]],
    ["if x then upper(5) else y", ["10: `upper` needs text, got a number"]],
    ["upper(5) == lower(6)", ["0: `upper` needs text, got a number", "12: `lower` needs text, got a number"]],
  ])("%s is reported, too", (text, errors) => {
    expect(errorsOf(text)).toEqual(errors);
  });
});

describe("an expression that some input can make work", () => {
  it.each([
    "x > 5",
    "x > y",
    "upper(x) > 'a'",
    "x + y > 'a'",
    "x + 1 > y",
    "'a' == 1",
    "upper(x) == 5",
    "true or x",
    "x.y in z",
    "get(x, 'k') > 5",
    "min(x, 5) < 3",
    "if x then 1 else 'a'",
    "between(x, y, 5)",
    "before(x, '2026-01-01')",
    "length(x) > 0 and x / y > 1",
    "x / 0.5 > 1",
    "matches(x, y)",
    "[1, x] == y",
    "null == x",
    "not x",
    "in_polygon(x, y)",
  ])("%s is not reported", (text) => {
    expect(errorsOf(text)).toEqual([]);
  });
});

describe("a condition that is never true or false", () => {
  it.each([
    ["a + b", true],
    ["length(a)", true],
    ["if a then 1 else 2", true],
    ["[a]", true],
    ["'text'", true],
    ["-a", true],
    ["if a then 1 else b", false],
    ["a", false],
    ["get(a, 'b')", false],
    ["a > 1", false],
    // It is reported as an error instead.
    ["upper(5)", false],
  ])("%s: %s", (text, expected) => {
    expect(isNeverBoolean(parse(text))).toBe(expected);
  });
});
