import { describe, expect, it } from "vitest";
import { compile } from "../../src/expression/compile.js";
import { compilePattern } from "../../src/expression/pattern.js";
import { answer, refusalOf, scopeOf, whyErrored } from "./answers.js";

describe("a pattern", () => {
  it.each(["(", "[a", "*", "(?=a)", "(a)\\1", "(a{1000}){1000}"])(
    "%s is rejected when the expression is compiled",
    (pattern) => {
      expect(refusalOf(`x ~= '${pattern}'`).message).toMatch(/^invalid pattern: /);
    },
  );

  it("is rejected in the same way within matches", () => {
    expect(refusalOf("matches(x, '(')").message).toMatch(/^invalid pattern: /);
  });

  it("of more than 1,024 characters is rejected", () => {
    expect(refusalOf(`x ~= '${"a".repeat(1025)}'`).message).toContain("at most 1024 characters");
  });

  it("of 1,024 characters is used", () => {
    expect(answer(`x ~= '${"a".repeat(1024)}'`, { x: "a".repeat(1024) })).toBe(true);
  });

  it("answers the same each time it is used", () => {
    const pattern = compilePattern("a+b");
    if (typeof pattern === "string") throw new Error(pattern);
    expect([pattern.test("aab"), pattern.test("aab"), pattern.test("ac"), pattern.test("ab")]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  it("stays usable after many other patterns", () => {
    const expression = compile("text ~= pattern");
    const answers = Array.from({ length: 600 }, (_, index) =>
      expression.evaluate(scopeOf({ text: `item-${index}`, pattern: `^item-${index}$` })),
    );
    expect(answers.every((each) => each === true)).toBe(true);
  });

  it("that makes backtracking engines hang runs in linear time", () => {
    expect(answer("text ~= '^(([a-z])+.)+[A-Z]([a-z])+$'", { text: "a".repeat(20_000) })).toBe(false);
  }, 5_000);

  it("from the context that is too long makes the condition errored", () => {
    expect(whyErrored("'a' ~= pattern", { pattern: "a".repeat(2000) })).toContain("at most 1024 characters");
  });
});
