import { describe, expect, it } from "vitest";
import { answer, whyErrored } from "../answers.js";

const context = {
  tags: ["vip", "early"],
  none: [],
  mixed: [1, "1", null, [1], { a: 1 }],
  wanted: ["vip", "x"],
};

describe("length", () => {
  it.each([
    ["length(tags)", 2],
    ["length(none)", 0],
    ["length('')", 0],
    ["length('abc')", 3],
    ["length('größe')", 5],
    ["length('💡')", 1],
    ["length('👩‍💻')", 3],
  ])("%s is %i", (expression, expected) => {
    expect(answer(expression, context)).toBe(expected);
  });

  it("says which types it takes", () => {
    expect(whyErrored("length(5)")).toContain("needs text or a list");
  });
});

describe("any_of, all_of and none_of", () => {
  it.each([
    ["(tags, 'vip')", true, true, false],
    ["(tags, 'vip', 'early')", true, true, false],
    ["(tags, 'vip', 'x')", true, false, false],
    ["(tags, 'x', 'y')", false, false, true],
    ["(tags, ('vip', 'x'))", true, false, false],
    ["(tags, ['vip'])", true, true, false],
    ["(tags, wanted)", true, false, false],
    ["(tags, none)", false, true, true],
    ["(none, 'vip')", false, false, true],
    ["(mixed, 1, '1')", true, true, false],
    ["(mixed, null)", true, true, false],
    ["(mixed, true)", false, false, true],
    ["(mixed, [[1]])", true, true, false],
    ["(mixed, [1], 5)", true, false, false],
  ])("of %s are %s, %s and %s", (args, any, all, none) => {
    const answers = ["any_of", "all_of", "none_of"].map((name) => answer(`${name}${args}`, context));
    expect(answers).toEqual([any, all, none]);
  });
});
