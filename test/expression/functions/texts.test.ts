import { describe, expect, it } from "vitest";
import { answer } from "../answers.js";

describe("functions on text", () => {
  it.each([
    ["contains('abc', 'b')", true],
    ["contains('abc', '')", true],
    ["contains('abc', 'B')", false],
    ["contains('', 'a')", false],
    ["contains('a.c', 'b')", false],
    ["contains(('a', 'b'), 'b')", true],
    ["contains((1, 2), '1')", false],
    ["contains([[1], [2]], [2])", true],
    ["contains([null], null)", true],
    ["contains([], 'a')", false],
    ["starts_with('abc', 'ab')", true],
    ["starts_with('abc', 'bc')", false],
    ["starts_with('abc', '')", true],
    ["ends_with('abc', 'bc')", true],
    ["ends_with('abc', 'ab')", false],
    ["ends_with('a', 'aa')", false],
    ["matches('abc', '^a.c$')", true],
    ["matches('abc', 'x')", false],
    ["lower('ÄRA')", "ära"],
    ["upper('straße')", "STRASSE"],
    ["lower('')", ""],
    ["trim('\u00a0\t a b \n')", "a b"],
    ["trim('')", ""],
    ["lower(trim(' A ')) == 'a'", true],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });
});
