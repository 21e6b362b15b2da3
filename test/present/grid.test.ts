import { describe, expect, it } from "vitest";
import { fieldLine } from "../../src/present/format.js";
import { grid } from "../../src/present/grid.js";
import { displayWidth } from "../../src/present/text-width.js";

const green = (text: string): string => `\u001b[32m${text}\u001b[39m`;
const style = (columns: number): { columns: number; paint: (colour: string, text: string) => string } => ({
  columns,
  paint: (_, text) => text,
});

const id = "01a1ee8f-dad4-7a39-815d-e04c79fa8a32";
const columns = [{ title: "record" }, { title: "why", flexible: true }];

describe("a table", () => {
  it("wraps flexible columns at spaces", () => {
    expect(grid(columns, [[id, "the second of three reasons"]], style(52)).split("\n")).toEqual([
      "RECORD                                WHY",
      `${id}  the second of`,
      "                                      three reasons",
    ]);
  });

  it("becomes a list where it would be too wide without breaking a word", () => {
    const rows = [
      [id, "an extraordinarily long reason"],
      [id, ""],
    ];
    expect(grid(columns, rows, style(48)).split("\n")).toEqual([
      `RECORD  ${id}`,
      "WHY     an extraordinarily long reason",
      "",
      `RECORD  ${id}`,
    ]);
  });

  it("continues a marked cell below its text, in its colour", () => {
    const rows = [[green("→ income / unaffordable"), "x".repeat(20)]];
    const lines = grid([{ title: "  case", flexible: true }, { title: "y" }], rows, style(40)).split("\n");
    expect(lines.slice(1)).toEqual([
      `${green("→ income /")}          ${"x".repeat(20)}`,
      green("  unaffordable"),
    ]);
  });

  it.each([
    ["accents", "ﬁ e\u0301 \u05d0\u05b8\u05d1\u05b7"],
    ["vowels of Arabic", "\u0645\u064e\u0631\u06e1"],
    ["wide characters", "東京都"],
    ["emoji of several characters", "👩‍👩‍👧 🫠 🇩🇪"],
    ["private characters", "\u{f0000}\u{100000}"],
  ])("keeps %s whole, and the columns after them in place", (_, text) => {
    const rows = [
      [text, "x"],
      [green(text), "y"],
      ["plain", "z"],
    ];
    const lines = grid([{ title: "a" }, { title: "b" }], rows, style(80)).split("\n");
    const start = Math.max(displayWidth(text), "plain".length) + 2;
    expect(lines.map((line) => displayWidth(line))).toEqual([start + 1, start + 1, start + 1, start + 1]);
    expect(lines.slice(1, 3).map((line) => line.includes(text))).toEqual([true, true]);
  });

  it("has its full width in a pipe", () => {
    const text = "word ".repeat(100).trim();
    expect(grid(columns, [[id, text]], style(Infinity)).split("\n")).toHaveLength(2);
  });
});

describe("a field", () => {
  it.each([
    ["short", "value", ["  name      value"]],
    [
      "continued below itself",
      "one two three four five six",
      ["  name      one two three four", "            five six"],
    ],
    ["next to its name if a word is too wide", `1:${"f".repeat(21)}`, [`  name 1:${"f".repeat(21)}`]],
    [
      "further to the left if it is too wide for that, too",
      `1:${"f".repeat(22)}`,
      ["  name", `    1:${"f".repeat(22)}`],
    ],
  ])("is %s", (_, text, lines) => {
    expect(fieldLine("name", text, style(30)).split("\n")).toEqual(lines);
  });
});
