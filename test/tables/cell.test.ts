import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cell, Test } from "../../src/tables/cell.js";
import { cellText, parseCell, parseText, parseValue, textCell, valueCell } from "../../src/tables/cell.js";
import { cells, numbers, texts } from "./arbitraries.js";

const one = (test: Test): Cell => ({ negated: false, tests: [test] });
const all = (...values: (string | number | boolean | null)[]): Cell => ({
  negated: false,
  tests: values.map((value) => ({ kind: "equals", value })),
});

describe("a cell", () => {
  it.each<[text: string, cell: Cell | undefined]>([
    ["-", undefined],
    [" - ", undefined],
    ["5", all(5)],
    ["-5", all(-5)],
    ["0.25", all(0.25)],
    ["1e3", all(1000)],
    ["true", all(true)],
    ["FALSE", all(false)],
    ["null", all(null)],
    ["gold", all("gold")],
    ["stage-x y", all("stage-x y")],
    ["'gold'", all("gold")],
    ['"gold"', all("gold")],
    ["'5'", all("5")],
    ["'-'", all("-")],
    ["''", all("")],
    [String.raw`'it\'s'`, all("it's")],
    ["it's", all("it's")],
    ["10.0.0.1", all("10.0.0.1")],
    ["2026-01-31", all("2026-01-31")],
    ["a, b", all("a", "b")],
    ["5, 'x, y', true", all(5, "x, y", true)],
    ["in(-5, 3)", all(-5, 3)],
    ["< 5", one({ kind: "order", operator: "<", bound: 5 })],
    ["<=-5.5", one({ kind: "order", operator: "<=", bound: -5.5 })],
    ["> 'm'", one({ kind: "order", operator: ">", bound: "m" })],
    [">= 2026-01-31", one({ kind: "order", operator: ">=", bound: "2026-01-31" })],
    [
      "< date('2026-01-31T12:00:00Z')",
      one({ kind: "order", operator: "<", bound: { instant: "2026-01-31T12:00:00Z" } }),
    ],
    ["[1..10]", one({ kind: "range", from: 1, fromOpen: false, to: 10, toOpen: false })],
    ["[1..10)", one({ kind: "range", from: 1, fromOpen: false, to: 10, toOpen: true })],
    ["(1..10]", one({ kind: "range", from: 1, fromOpen: true, to: 10, toOpen: false })],
    ["( -1.5 .. 10 )", one({ kind: "range", from: -1.5, fromOpen: true, to: 10, toOpen: true })],
    ["]1..10[", one({ kind: "range", from: 1, fromOpen: true, to: 10, toOpen: true })],
    [
      "[2026-01-31..2026-02-01T00:00:00Z)",
      one({ kind: "range", from: "2026-01-31", fromOpen: false, to: "2026-02-01T00:00:00Z", toOpen: true }),
    ],
    ["between(1, 10)", one({ kind: "range", from: 1, fromOpen: false, to: 10, toOpen: false })],
    ["not(a)", { ...all("a"), negated: true }],
    ["NOT (a, 5)", { ...all("a", 5), negated: true }],
    ["not(< 5)", { ...one({ kind: "order", operator: "<", bound: 5 }), negated: true }],
    ["exists()", one({ kind: "call", name: "exists", negated: false, args: [] })],
    ["not exists()", one({ kind: "call", name: "exists", negated: true, args: [] })],
    ["contains('x')", one({ kind: "call", name: "contains", negated: false, args: ["x"] })],
    [
      "< 5, 'x', [7..8]",
      {
        negated: false,
        tests: [
          { kind: "equals", value: "x" },
          { kind: "order", operator: "<", bound: 5 },
          { kind: "range", from: 7, fromOpen: false, to: 8, toOpen: false },
        ],
      },
    ],
  ])("%s is read", (text, cell) => {
    expect(parseCell(text)).toEqual(cell);
  });

  it.each<[text: string, message: string]>([
    ["", "the cell is empty"],
    ["-x", "`-x` starts with `-`"],
    ["=1+1", "`=1+1` starts with `=`"],
    ["!= 5", "`!= 5` starts with `!`"],
    ["@x", "`@x` starts with `@`"],
    ["+5", "`+5` looks like a number"],
    ["007", "`007` looks like a number"],
    [".5", "`.5` looks like a number"],
    ["1..10", "`1..10` looks like an interval"],
    ["–", "`–` is a dash that is longer than `-`"],
    ["'open", "`'open` has no closing quote"],
    ["'a' b", "unexpected `b`"],
    ["a (b)", "`a(…)` cannot be used in a cell"],
    ["5 [b]", "unexpected `[b]`"],
    ["foo(b)", "`foo(…)` cannot be used in a cell"],
    ["contain('x')", "`contain(…)` cannot be used in a cell"],
    ["a,", "a value is missing in `a,`"],
    ["not()", "a value is missing in `not()`"],
    ["not(a", "expected `)`, got the end of the cell"],
    ["not(a), b", "unexpected `, b`"],
    ["< abc", "`abc` is compared with something that is not a number, a date or a quoted text"],
    ["< 5%", "`%` is compared with something that is not a number, a date or a quoted text"],
    ["[1..10", "expected `]` or `)`, got the end of the cell"],
    ["[1, 2]", "`[1, 2]` is not an interval"],
    ["[10..1]", "the interval `[10..1]` is empty"],
    ["(1..1]", "the interval `(1..1]` is empty"],
    ["[1..'a']", "the ends of an interval must both be numbers or both be texts"],
    ["< 5, < 'a'", "the cell compares the value with different types"],
    ["12345678901234567890", "`12345678901234567890` is an integer that a number cannot represent exactly"],
    ["1e999", "`1e999` is too large a number"],
    ["date('yesterday')", "`date('yesterday')` has an invalid date"],
    ["contains(x)", "`contains(x)` has an argument that is not a number or a quoted text"],
  ])("%s is refused", (text, message) => {
    expect(() => parseCell(text)).toThrow(message);
  });

  it.each<[text: string, hint: string]>([
    ["1..10", "write an interval as [1..10]; write '1..10' for this text"],
    ["a..b", "write an interval as [1..10]; write 'a..b' for this text"],
    ["007", "write '007' for this text"],
  ])("%s is refused with a hint", (text, hint) => {
    expect(() => parseCell(text)).toThrow(expect.objectContaining({ hint }) as Error);
  });

  it("reads what it writes", () => {
    fc.assert(
      fc.property(cells, (cell) => {
        expect(parseCell(cellText(cell))).toEqual(cell);
      }),
    );
  });

  it("never looks like a formula", () => {
    fc.assert(
      fc.property(cells, (cell) => {
        const text = cellText(cell);
        expect(/^[=+@\t\r]/.test(text) || (text.startsWith("-") && !Number.isFinite(Number(text)))).toBe(
          false,
        );
      }),
    );
  });

  it("reads values and texts that it writes", () => {
    const literals = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(literals, (value) => {
        expect(parseValue(valueCell(value))).toEqual({ value });
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseText(textCell(text))).toBe(text);
        expect(textCell(text)).not.toMatch(/^[=+\-@\t\r]/);
      }),
    );
  });

  it("refuses a value that starts like a formula", () => {
    expect(() => parseValue("=1+1")).toThrow("`=1+1` starts like a formula");
    expect(() => parseText("-cmd")).toThrow("`-cmd` starts like a formula");
    expect(parseValue("-5")).toEqual({ value: -5 });
    expect(parseText("'-cmd'")).toBe("-cmd");
  });
});
