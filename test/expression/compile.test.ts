import { describe, expect, it } from "vitest";
import { compile } from "../../src/expression/compile.js";
import { Failure } from "../../src/expression/failure.js";
import type { Json } from "../../src/model/json.js";
import { answer, bothAnswers, refusalOf, scopeOf, whyErrored } from "./answers.js";

describe("an expression without an answer", () => {
  it.each([
    ["absent", "`absent` is missing"],
    ["a.b.c", "`a.b.c` is missing"],
    ["absent == 1", "`absent` is missing"],
    ["absent == null", "`absent` is missing"],
    ["absent != null", "`absent` is missing"],
    ["not absent", "`absent` is missing"],
    ["lower(absent)", "`absent` is missing"],
    ["1 + absent > 2", "`absent` is missing"],
    ["[absent]", "`absent` is missing"],
    ["exists(lower(absent))", "`absent` is missing"],
    ["n > '1'", "`>` needs two numbers or two texts, got a number and text"],
    ["not n", "expected true or false, got a number"],
    ["n and true", "expected true or false, got a number"],
    ["t or true", "expected true or false, got text"],
    ["if list then 1 else 2", "expected true or false, got a list"],
    ["(if true then n else false) and true", "expected true or false, got a number"],
  ])("%s says why", (expression, message) => {
    expect(whyErrored(expression, { a: { b: 1 }, n: 1, t: "true", list: [true] })).toBe(message);
  });

  it("is a Failure and no Error, and never thrown", () => {
    const value = answer("absent");
    expect([value instanceof Failure, value instanceof Error]).toEqual([true, false]);
  });

  it("gives the same Failure message each time it is evaluated", () => {
    const [interpreted, compiled] = bothAnswers(compile("a > 'x'"), scopeOf({ a: 1 }));
    expect(interpreted).toBeInstanceOf(Failure);
    expect(compiled).toEqual(interpreted);
  });
});

describe("a truthy value in place of a truth", () => {
  const values: Json[] = [1, 0, "true", "", null, [], [true], {}, { a: true }];
  const uses = [
    "x and true",
    "true and x",
    "x or true",
    "false or x",
    "not x",
    "!x",
    "if x then true else true",
  ];
  const cells = values.flatMap((x) => uses.map((expression) => ({ expression, x })));

  it.each(cells)("is errored in $expression with $x", ({ expression, x }) => {
    expect(answer(expression, { x })).toBeInstanceOf(Failure);
  });
});

describe("and, or, not over true, false and errored", () => {
  it.each([
    ["true and true", true],
    ["true and false", false],
    ["false and true", false],
    ["false and absent", false],
    ["absent and false", "errored"],
    ["true and absent", "errored"],
    ["absent and true", "errored"],
    ["absent and absent", "errored"],
    ["true or absent", true],
    ["absent or true", "errored"],
    ["false or absent", "errored"],
    ["absent or false", "errored"],
    ["false or false", false],
    ["false or true", true],
    ["not absent", "errored"],
    ["not (absent and false)", "errored"],
    ["not (false and absent)", true],
    ["false and absent or true", true],
    ["true or absent and absent", true],
    ["absent and false or true", "errored"],
    ["true and true and true and absent", "errored"],
    ["true and false and absent and absent", false],
    ["false or false or true or absent", true],
    ["false or absent or true", "errored"],
    ["false and (1 < 'x')", false],
    ["true or (1 < 'x')", true],
    ["if true then 1 else absent", 1],
    ["if false then absent else 2", 2],
    ["if absent then 1 else 2", "errored"],
    ["exists(absent) and absent > 1", false],
    ["not exists(absent) or absent > 1", true],
  ])("%s is %s", (expression, expected) => {
    const value = answer(expression);
    expect(value instanceof Failure ? "errored" : value).toBe(expected);
  });

  it("stops at the first false of a chain of hundreds", () => {
    expect(answer(`${"true and ".repeat(200)}false${" and absent".repeat(200)}`)).toBe(false);
  });

  it("is errored by the first operand that is, before a later false", () => {
    expect(whyErrored("true and first and false and second")).toBe("`first` is missing");
  });
});

describe("a value that is null", () => {
  it.each([
    ["x == null", true],
    ["x != null", false],
    ["exists(x)", false],
    ["empty(x)", true],
    ["get(x, 'a', 'none')", "none"],
    ["x in (null)", true],
    ["x == false", false],
    ["x == ''", false],
  ])("is there, so %s is %j", (expression, expected) => {
    expect(answer(expression, { x: null })).toBe(expected);
  });

  it("has no parts", () => {
    expect(whyErrored("x.y", { x: null })).toBe("`x.y` is missing");
  });
});

describe("compile", () => {
  it("keeps the text as it was written", () => {
    expect(compile("a  &&  b").text).toBe("a  &&  b");
  });

  it("rejects a wrong expression at once, not when it runs", () => {
    expect(refusalOf("a == 'open").message).toBe("the text has no closing quote");
  });

  it("answers for each scope on its own", () => {
    const expression = compile("a > 1");
    const answers = [1, 2, 1].map((a) => expression.evaluate(scopeOf({ a })));
    expect(answers).toEqual([false, true, false]);
  });

  it.each([
    ["null", null],
    ["list", [1, { a: null }]],
    ["document", { b: { c: [] } }],
    ["text", ""],
    ["number", 0],
    ["no", false],
    ["[number, text, null]", [0, "", null]],
  ])("gives the value of %s with its type", (expression, expected) => {
    const context = { list: [1, { a: null }], document: { b: { c: [] } }, text: "", number: 0, no: false };
    expect(answer(expression, context)).toEqual(expected);
  });

  it.each(["p0", "c0", "f0", "f1", "std", "ops", "data", "call", "prop", "undefined", "arguments", "this"])(
    "takes %s for a path of the context, whatever the engine below calls its own names",
    (name) => {
      const context = { [name]: 7 };
      expect([answer(`${name} + 0`, context), answer(`${name} + 0`)]).toEqual([7, expect.any(Failure)]);
    },
  );

  it.each(["of", "log", "sqrt", "random"])("gives the name %s no meaning of its own", (name) => {
    expect(answer(`${name} == 'mine'`, { [name]: "mine" })).toBe(true);
  });

  it.each(["ceiling(1)", "random()", "now()", "eval('1')"])(
    "does not let %s through to the engine below",
    (expression) => {
      expect(refusalOf(expression).message).toMatch(/^there is no function/);
    },
  );
});
