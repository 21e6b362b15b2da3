import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { displayWidth, truncate, truncateWords, wrap, wrapMessages } from "../../src/present/text-width.js";

describe("the display width", () => {
  it.each([
    { name: "plain letters", text: "abc", width: 3 },
    { name: "wide characters", text: "漢字", width: 4 },
    { name: "an accent as a character of its own", text: "e\u0301", width: 1 },
    { name: "an emoji of several characters", text: "👩‍👩‍👧", width: 2 },
    { name: "colour codes", text: "\u001b[31mred\u001b[39m", width: 3 },
  ])("counts $name", ({ text, width }) => {
    expect(displayWidth(text)).toBe(width);
  });
});

it("counts every character as string-width does, also where it is not loaded", () => {
  const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
  const different = characters.filter((each) => displayWidth(each) !== stringWidth(each));
  expect(different).toEqual([]);
});

describe("truncating", () => {
  it.each([
    { name: "keeps a text that fits", text: "abc", columns: 3, short: "abc" },
    { name: "marks the end of a shorter text", text: "abcd", columns: 3, short: "ab…" },
    { name: "does not exceed the width with a wide character", text: "a漢字", columns: 3, short: "a…" },
    { name: "does not take an emoji apart", text: "👩‍👩‍👧👩‍👩‍👧", columns: 3, short: "👩‍👩‍👧…" },
  ])("$name", ({ text, columns, short }) => {
    expect(truncate(text, columns)).toBe(short);
  });
});

describe("truncating between words", () => {
  it.each([
    { name: "keeps a text that fits", text: "abc", columns: 3, short: "abc" },
    { name: "ends behind a comma", text: '{"a":1,"bb":"cc"}', columns: 12, short: '{"a":1,…' },
    { name: "ends behind a space", text: "one two three", columns: 10, short: "one two…" },
    {
      name: "cuts a word where the rest would be short",
      text: "a extraordinarily",
      columns: 9,
      short: "a extrao…",
    },
  ])("$name", ({ text, columns, short }) => {
    expect(truncateWords(text, columns)).toBe(short);
  });
});

it("wraps at spaces and never breaks a word", () => {
  expect(wrap("one two extraordinarily three", { first: 4, rest: 9 })).toEqual([
    "one",
    "two",
    "extraordinarily",
    "three",
  ]);
});

it("continues a word that is too wide after a comma", () => {
  expect(wrap('x {"a":1,"bb":2,"c":3}', { first: 12, rest: 12 })).toEqual(['x {"a":1,', '"bb":2,', '"c":3}']);
  expect(wrap("a,b", { first: 12, rest: 12 })).toEqual(["a,b"]);
});

describe("a message", () => {
  it.each([
    ["a line that fits", "error: short", ["error: short"]],
    ["a long line", "warning: one two three four", ["warning: one two", "  three four"]],
    ["a command to copy", "hint: please run `a b c`", ["hint: please run", "  `a b c`"]],
    [
      "a command that fits on no line",
      "hint: run `aaaa bbbb cccc dddd eeee`",
      ["hint: run `aaaa", "  bbbb cccc dddd", "  eeee`"],
    ],
    ["an indented line", "  x: one two three four", ["  x: one two three", "    four"]],
    ["short text above a caret", "a and b or c or d\n  ^", ["a and b or c or d", "  ^"]],
    ["text above a caret near its start", "  a long expression with\n    ^", ["  a long expressi…", "    ^"]],
    [
      "text above a caret near its end",
      "  long text with a place\n                   ^",
      ["  …t with a place", "            ^"],
    ],
    [
      "text above a caret in the middle",
      "a long expression with a place\n              ^",
      ["…ong expression w…", "            ^"],
    ],
  ])("of a terminal is wrapped: %s", (_, text, lines) => {
    expect(wrapMessages(text, 18).split("\n")).toEqual(lines);
  });
});
