import { describe, expect, it } from "vitest";
import { buildLibrary } from "../../src/definition/library.js";
import type { Library } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { matchesGlob, findPolicies, globsOverlap } from "../../src/definition/tool-match.js";
import { DecisionError } from "../../src/errors.js";
import type { Diagnostic } from "../../src/model/diagnostic.js";

describe("two globs", () => {
  it.each([
    ["a", "a", true],
    ["a", "b", false],
    ["a", "ab", false],
    ["", "", true],
    ["", "*", true],
    ["a*", "*b", true],
    ["a*", "b*", false],
    ["write_*", "*_file", true],
    ["a?c", "abc", true],
    ["a?c", "a?d", false],
    ["a?c", "a😀c", true],
    ["a??c", "a😀c", false],
    ["?", "*", true],
    ["?", "", false],
    ["a*c", "ab", false],
    ["*a*", "*b*", true],
    ["**", "", true],
    ["x*y*z", "xz", false],
    ["x*y*z", "x?*z", true],
  ])("`%s` and `%s` match a common name: %s", (a, b, overlap) => {
    expect([globsOverlap(a, b), globsOverlap(b, a)]).toEqual([overlap, overlap]);
  });
});

describe("a glob", () => {
  it.each([
    ["write_file", "write_file", true],
    ["write_file", "write_files", false],
    ["write_file", "Write_File", false],
    ["*", "", true],
    ["*", "anything at all", true],
    ["**", "x", true],
    ["write_*", "write_", true],
    ["write_*", "write_file", true],
    ["write_*", "overwrite_file", false],
    ["*_file", "write_file", true],
    ["*_file", "write_file_now", false],
    ["*file*", "file", true],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["a*ab", "aab", true],
    ["*aab", "aaaab", true],
    ["?", "", false],
    ["?", "x", true],
    ["?", "xy", false],
    ["?", "😀", true],
    ["??", "😀", false],
    ["run_?", "run_😀", true],
    ["*?", "😀", true],
    ["*??", "😀", false],
    ["*??b", "a😀b", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["?*", "", false],
    ["*?", "x", true],
    ["", "", true],
    ["", "x", false],
    ["a", "", false],
    ["mcp__*__read", "mcp__files__read", true],
    ["[ab]", "a", false],
    ["[ab]", "[ab]", true],
    ["a.c", "abc", false],
    ["a+", "aa", false],
    ["$x^", "$x^", true],
    ["a*", "a\n*", true],
    ["é*", "é!", true],
  ])("%j fits %j: %s", (glob, tool, fits) => {
    expect(matchesGlob(glob, tool)).toBe(fits);
  });

  it.each([
    ["many stars", `${"a*".repeat(500)}b`],
    ["stars alone", `${"*".repeat(5000)}b`],
    ["stars and question marks", `${"*?a".repeat(300)}b`],
  ])("never takes long: %s", (_what, glob) => {
    const before = performance.now();
    expect(matchesGlob(glob, "a".repeat(5000))).toBe(false);
    expect(performance.now() - before).toBeLessThan(2000);
  });
});

function libraryOf(...texts: readonly string[]): Library {
  const files = texts.map((text, index) => readDefinitions(`${index}.yaml`, Buffer.from(text)).summary);
  return buildLibrary(files, () => Promise.reject(new Error("no body is needed")));
}

const policy = (id: string, tool: string): string =>
  `decision: { id: ${id}, type: policy, tool: "${tool}", policies: [] }`;
const routing = `decision: { id: r, type: switch, cases: [{ condition: "true", target: t }], default: { target: z } }`;

describe("the policies for a tool", () => {
  it("are those whose tool fits it, by their ids", () => {
    const library = libraryOf(
      policy("z", "write_file"),
      policy("a", "write_*"),
      policy("m", "read_*"),
      routing,
      policy("b", "*"),
    );
    expect(findPolicies("write_file", library)).toEqual(["a", "b", "z"]);
    expect(findPolicies("read_file", library)).toEqual(["b", "m"]);
    expect(findPolicies("other", library)).toEqual(["b"]);
  });

  it("are none where none fits", () => {
    expect(findPolicies("t", libraryOf(routing, policy("a", "u")))).toEqual([]);
  });

  const refusal = (library: Library): DecisionError => {
    try {
      findPolicies("t", library);
    } catch (error) {
      if (error instanceof DecisionError) return error;
    }
    throw new Error("it was not refused");
  };

  it("are not returned while one may be broken", () => {
    const { code, message, details } = refusal(libraryOf(policy("a", "t"), "decision: { tool"));
    expect([code, message]).toEqual(["definition_invalid", "a policy may be invalid: `1.yaml`"]);
    expect((details as { problems: readonly Diagnostic[] }).problems).not.toEqual([]);
  });

  it("are refused by naming a few of the files", () => {
    const broken = "decision: { tool";
    expect(refusal(libraryOf(broken, broken)).message).toBe("a policy may be invalid: `0.yaml`, `1.yaml`");
    expect(refusal(libraryOf(broken, broken, broken, broken)).message).toBe(
      "a policy may be invalid: `0.yaml`, `1.yaml`, `2.yaml` and others",
    );
  });
});
