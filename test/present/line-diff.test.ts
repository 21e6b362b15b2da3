import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "../../src/present/diff-view.js";

describe("a line diff", () => {
  it.each([
    { name: "no lines for equal texts", before: "a\nb\n", after: "a\nb\n", lines: [] },
    { name: "a changed line", before: "a\nb\nc\n", after: "a\nx\nc\n", lines: [" a", "-b", "+x", " c"] },
    { name: "a new line", before: "a\nc\n", after: "a\nb\nc\n", lines: [" a", "+b", " c"] },
    { name: "a text that is new", before: "", after: "a\n", lines: ["+a"] },
    { name: "a text that is gone", before: "a\n", after: "", lines: ["-a"] },
    { name: "repeated lines", before: "a\na\n", after: "a\na\na\n", lines: [" a", " a", "+a"] },
    { name: "a missing line break at the end", before: "a\nb", after: "a\nc", lines: [" a", "-b", "+c"] },
  ])("shows $name", ({ before, after, lines }) => {
    expect(diffLines(before, after)).toEqual(lines);
  });

  it("always leads from one text to the other", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before.join() !== after.join());
        const lines = diffLines(`${before.join("\n")}\n`, `${after.join("\n")}\n`, Infinity);
        const without = (sign: string): readonly string[] =>
          lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
        expect(without("+")).toEqual(before);
        expect(without("-")).toEqual(after);
      }),
    );
  });

  it("stays fast where nearly all lines differ", () => {
    const many = (prefix: string): string =>
      Array.from({ length: 3000 }, (_, at) => `${prefix}${at}`).join("\n");
    expect(diffLines(many("a"), many("b"))).toHaveLength(6000);
  });

  it("omits lines that are far from a change", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(diffLines(before, before.replace("5", "x"), 1)).toEqual([" 4", "-5", "+x", " 6", "…"]);
    const twice = before.replace("1", "y").replace("9", "z");
    expect(diffLines(before, twice, 1)).toEqual(["-1", "+y", " 2", "…", " 8", "-9", "+z"]);
  });
});
