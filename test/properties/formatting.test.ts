import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDefinitions } from "../../src/definition/formatting/format-definitions.js";
import { commentsIn, readYaml } from "../../src/definition/yaml-source.js";
import { fileDocuments, writeFile } from "./written-yaml.js";
import { runsFor } from "../thoroughness.js";

const format = (text: string, isJson = false): string => {
  const result = formatDefinitions(text, { isJson });
  if (result.type === "failed") throw new Error(`${JSON.stringify(result.problems)}\n${text}`);
  return result.text;
};
const valuesIn = (text: string): readonly unknown[] => readYaml(text).documents.map(({ value }) => value);
const sortedComments = (text: string): readonly string[] =>
  commentsIn(text)
    .map((each) => each.text)
    .sort();

describe("formatting", () => {
  it("keeps values and comments, whatever the style, and changes nothing the second time", () => {
    let valid = 0;
    const runs = runsFor(400);
    fc.assert(
      fc.property(fileDocuments, fc.noShrink(fc.nat()), (documents, seed) => {
        const { text, comments } = writeFile(documents, seed);
        if (readYaml(text).errors.length > 0) return;
        // With a comment between `? key` and `:`, the parser returns a key of its own for the colon.
        const first = formatDefinitions(text, { isJson: false });
        if (
          first.type === "failed" &&
          first.problems.every(({ message }) => message.startsWith("a key must be"))
        )
          return;
        valid++;
        const formatted = format(text);
        expect(valuesIn(formatted)).toEqual(valuesIn(text));
        expect(sortedComments(formatted)).toEqual(sortedComments(text));
        expect(sortedComments(formatted)).toHaveLength(comments);
        expect(format(formatted)).toBe(formatted);
      }),
      { numRuns: runs },
    );
    expect(valid).toBeGreaterThan(runs * 0.9);
  });

  it("keeps JSON files JSON", () => {
    fc.assert(
      fc.property(fileDocuments, fc.constantFrom(undefined, 1, 4), ([document], indentation) => {
        const text = JSON.stringify(document, null, indentation);
        // Integers that a number cannot represent exactly are refused.
        fc.pre(readYaml(text).errors.length === 0);
        const formatted = format(text, true);
        expect(JSON.parse(formatted)).toEqual(JSON.parse(text));
        expect(format(formatted, true)).toBe(formatted);
      }),
      { numRuns: runsFor(200) },
    );
  });
});
