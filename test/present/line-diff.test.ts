import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineDiff, withContextLines } from "../../src/present/diff-view.js";

const shown = (before: string, after: string): readonly string[] =>
  lineDiff(before, after).map(({ sign, text }) => sign + text);

describe("a difference of lines", () => {
  it.each([
    { name: "equal texts", before: "a\nb\n", after: "a\nb\n", lines: [" a", " b"] },
    { name: "a changed line", before: "a\nb\nc", after: "a\nx\nc", lines: [" a", "-b", "+x", " c"] },
    { name: "a new line", before: "a\nc", after: "a\nb\nc", lines: [" a", "+b", " c"] },
    { name: "nothing and something", before: "", after: "a\n", lines: ["+a"] },
    { name: "something and nothing", before: "a\n", after: "", lines: ["-a"] },
    { name: "repeated lines", before: "a\na", after: "a\na\na", lines: [" a", " a", "+a"] },
  ])("shows $name", ({ before, after, lines }) => {
    expect(shown(before, after)).toEqual(lines);
  });

  it("always leads from one text to the other", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
        expect(lines.filter(({ sign }) => sign !== "+").map((line) => line.text)).toEqual(before);
        expect(lines.filter(({ sign }) => sign !== "-").map((line) => line.text)).toEqual(after);
      }),
    );
  });

  it("stays quick where nearly everything differs", () => {
    const many = (prefix: string): string =>
      Array.from({ length: 3000 }, (_, at) => `${prefix}${at}`).join("\n");
    expect(lineDiff(many("a"), many("b"))).toHaveLength(6000);
  });

  it("leaves out what is far from a change", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9";
    const lines = withContextLines(lineDiff(before, before.replace("5", "x")), 1);
    expect(lines.map((line) => (line === undefined ? "…" : line.sign + line.text))).toEqual([
      " 4",
      "-5",
      "+x",
      " 6",
      "…",
    ]);
  });
});
