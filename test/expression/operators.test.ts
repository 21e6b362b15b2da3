import { describe, expect, it } from "vitest";
import { Failure } from "../../src/expression/failure.js";
import type { Json } from "../../src/model/json.js";
import { answer, whyErrored } from "./answers.js";

describe("equality", () => {
  const values: Json[] = [null, true, false, 0, 1, "", "1", "a", [], [1], ["1"], {}, { a: 1 }, { a: null }];
  const pairs = values.flatMap((a) => values.map((b) => ({ a, b, same: a === b })));

  it.each(pairs)("tells $a and $b apart by type and content", ({ a, b, same }) => {
    expect([answer("a == b", { a, b }), answer("a != b", { a, b })]).toEqual([same, !same]);
  });

  it.each([
    ["lists", [1, ["x"]], [1, ["x"]], true],
    ["lists of another order", [1, 2], [2, 1], false],
    ["a list and a longer one", [1], [1, null], false],
    ["a longer list and its beginning", [1, null], [1], false],
    ["objects whatever the order of their keys", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ["objects of other keys", { a: null }, { b: null }, false],
    ["an object and one with a key more", { a: 1 }, { a: 1, b: null }, false],
    ["an empty list and an empty object", [], {}, false],
    ["a list and an object with its indices", ["x"], { 0: "x" }, false],
    ["zero and minus zero", 0, -0, true],
    ["objects within lists", [{ a: [null] }], [{ a: [null] }], true],
  ])("of %s holds by content", (_name, a, b, same) => {
    expect(answer("a == b", { a, b })).toBe(same);
  });

  it("does not find an inherited key in the other object", () => {
    expect(answer("a == b", { a: { toString: null }, b: { x: null } })).toBe(false);
  });

  it.each(["a === 1", "a == 1", "!(a !== 1)", "not (a != 1)"])("is also spelt %s", (expression) => {
    expect(answer(expression, { a: 1 })).toBe(true);
  });
});

describe("ordering", () => {
  it.each([
    ["1 < 2", true],
    ["2 <= 2", true],
    ["3 > 3", false],
    ["3 >= 3", true],
    ["'a' < 'b'", true],
    ["'Z' < 'a'", true],
    ["'10' < '9'", true],
    ["'' < 'a'", true],
    ["1 < 2 < 3", true],
    ["1 < 3 < 2", false],
    ["3 > 2 >= 2", true],
    ["1 < 2 == 2", true],
    ["1 == 1 < 2", true],
  ])("%s is %s", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  const kinds: Json[] = [null, true, 1, "1", [1], { a: 1 }];
  const mixed = kinds.flatMap((a) => kinds.map((b) => ({ a, b })));
  const unordered = mixed.filter(
    ({ a, b }) => typeof a !== typeof b || (typeof a !== "number" && typeof a !== "string"),
  );

  it.each(unordered)("of $a and $b is errored, whatever the operator", ({ a, b }) => {
    const answers = ["<", "<=", ">", ">="].map((operator) => answer(`a ${operator} b`, { a, b }));
    expect(answers.every((each) => each instanceof Failure)).toBe(true);
  });

  it("says which two types it was given", () => {
    expect(whyErrored("a < b", { a: "5", b: null })).toBe(
      "`<` needs two numbers or two texts, got text and null",
    );
  });

  it("of a chain stops at the first comparison that does not hold", () => {
    expect(answer("5 < 1 < 'x'")).toBe(false);
  });
});

describe("membership", () => {
  it.each([
    ["'a' in ('a', 'b')", true],
    ["'c' in ('a', 'b')", false],
    ["'c' not in ('a', 'b')", true],
    ["'a' not in ['a']", false],
    ["'a' in ('a')", true],
    ["'a' in (('a'))", true],
    ["-5 in (-5)", true],
    ["'a' in some.list", true],
    ["'a' in (some.list)", true],
    ["'z' in some.list", false],
    ["1 in ('1', true)", false],
    ["null in (null, 1)", true],
    ["[1] in ([1], [2])", true],
    ["'a' in []", false],
    ["'a' not in []", true],
    ["not 'a' in ('b')", true],
    ["('a' in ('a')) == true", true],
  ])("%s is %s", (expression, expected) => {
    expect(answer(expression, { some: { list: ["a"] } })).toBe(expected);
  });

  it.each([
    ["text", "abc"],
    ["a number", 5],
    ["null", null],
    ["an object", { a: 1 }],
    ["true or false", true],
  ])("in %s is errored", (type, list) => {
    expect(whyErrored("'a' in list", { list })).toBe(`\`in\` needs a list, got ${type}`);
  });

  it("of a missing item is errored also when negated", () => {
    expect(whyErrored("absent not in ('a')")).toBe("`absent` is missing");
  });
});

describe("arithmetic", () => {
  it.each([
    ["1 + 2", 3],
    ["'a' + 'b'", "ab"],
    ["5 - 7", -2],
    ["5 - -7", 12],
    ["3 * 4", 12],
    ["7 / 2", 3.5],
    ["7 % 3", 1],
    ["7 mod 3", 1],
    ["-7 % 3", 2],
    ["7 % -3", -2],
    ["-7 % -3", -1],
    ["6 % 3", 0],
    ["2 ^ 10", 1024],
    ["2 ^ 3 ^ 2", 512],
    ["2 ^ -1", 0.5],
    ["-2 ^ 2", -4],
    ["(-2) ^ 2", 4],
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["2 * 3 ^ 2", 18],
    ["10 - 4 - 3", 3],
    ["100 / 10 / 2", 5],
    ["100 % 7 * 2", 4],
    ["- - 3", 3],
    ["1 - 1 == 0", true],
  ])("%s is %s", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each([
    ["0.1 % 7", 0.1],
    ["5.3 % 360", 5.3],
    ["-0.5 % 7", 6.5],
    ["1e308 % 1.7e308", 1e308],
  ])("%s is exact if the answer can be", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each([
    "1 / 0",
    "0 / 0",
    "5 % 0",
    "1e308 * 10",
    "1e308 + 1e308",
    "-1e308 - 1e308",
    "10 ^ 400",
    "(-1) ^ 0.5",
  ])("%s has no finite answer, so it is errored", (expression) => {
    expect(whyErrored(expression)).toMatch(/not a finite number/);
  });

  const wrong: Json[] = [null, true, "1", [1], { a: 1 }];
  const operators = ["-", "*", "/", "%", "^"];
  const cells = wrong.flatMap((x) => operators.map((operator) => ({ operator, x })));

  it.each(cells)("$operator with $x on either side is errored", ({ operator, x }) => {
    const sides = [answer(`x ${operator} 2`, { x }), answer(`2 ${operator} x`, { x })];
    expect(sides.every((each) => each instanceof Failure)).toBe(true);
  });

  it.each([
    ["text and a number", "a", 1],
    ["a number and text", 1, "a"],
    ["null and null", null, null],
    ["a list and a list", [1], [2]],
    ["true or false and true or false", true, true],
  ])("+ of %s is errored", (types, a, b) => {
    expect(whyErrored("a + b", { a, b })).toBe(`\`+\` needs two numbers or two texts, got ${types}`);
  });

  it.each([[null], ["5"], [true], [[5]]])("the negative of %j is errored", (x) => {
    expect(whyErrored("-x", { x })).toMatch(/^`-` needs numbers/);
  });
});

describe("pattern search", () => {
  it("names the operator and what it got instead of text", () => {
    expect(whyErrored("x ~= 'a'", { x: 5 })).toBe("`~=` and `matches` need text, got a number");
  });

  it.each([
    ["'abc' ~= 'b'", true],
    ["'abc' ~= '^b'", false],
    ["'abc' ~= '^abc$'", true],
    ["'a1' ~= '\\d$'", true],
    ["'abc' ~= ''", true],
    ["'' ~= '^$'", true],
    ["'ABC' ~= 'b'", false],
    ["'ABC' ~= '(?i)b'", true],
    ["'größe' ~= 'ö'", true],
  ])("%s is %s", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it("takes a pattern from the context", () => {
    expect(answer("text ~= pattern", { text: "order-17", pattern: "-[0-9]+$" })).toBe(true);
  });

  it("is errored by a bad pattern from the context", () => {
    expect(whyErrored("'a' ~= pattern", { pattern: "(" })).toMatch(/invalid pattern/);
  });
});
