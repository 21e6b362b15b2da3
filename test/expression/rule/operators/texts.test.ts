import { describe, expect, it } from "vitest";
import { ask, checkValue } from "../evaluate-condition.js";

describe("contains", () => {
  it.each([
    ["abc", "b", true],
    ["abc", "", true],
    ["abc", "B", false],
    [["a", "b"], "b", true],
    [["a", "b"], "c", false],
    [["ab"], "b", false],
    [[1, null], null, true],
    [[{ a: 1, b: 2 }], { b: 2, a: 1 }, true],
    [[[1]], 1, false],
    [[], "a", false],
  ])("finds in %j %j: %s", (actual, expected, answer) => {
    expect(ask("contains", actual, expected)).toBe(answer);
  });

  it("looks for nothing but text in text", () => {
    expect(ask("contains", "a5", 5)).toBe("`contains` needs a list to find a number in, got text");
  });
});

describe("starts_with and ends_with", () => {
  it.each([
    ["abc", "ab", true, false],
    ["abc", "bc", false, true],
    ["abc", "abc", true, true],
    ["abc", "", true, true],
    ["abc", "abcd", false, false],
    ["", "a", false, false],
  ])("find of %j %j", (actual, part, starts, ends) => {
    expect([ask("starts_with", actual, part), ask("ends_with", actual, part)]).toEqual([starts, ends]);
  });
});

describe("matches", () => {
  it.each([
    ["order-17", "\\d+", true],
    ["order-17", "^\\d+$", false],
    ["", "^$", true],
    ["ABC", "(?i)b", true],
  ])("searches %j for %j: %s", (actual, pattern, answer) => {
    expect(ask("matches", actual, pattern)).toBe(answer);
  });

  it("has a note if the text is too long for the pattern", () => {
    const note = "the text is too long to be searched for a pattern of this size";
    expect(ask("matches", "a".repeat(200_000), "(?:a{100}){9}b")).toBe(note);
  });

  it.each([
    ["(", /^invalid pattern: /],
    ["(?=a)", /^invalid pattern: /],
    ["a".repeat(1025), /^invalid pattern: a pattern has at most 1024 characters$/],
    [5, /^`value` must be text \(got 5\)$/],
  ])("rejects the pattern %j", (pattern, message) => {
    expect(checkValue("matches", pattern)).toMatch(message);
  });
});
