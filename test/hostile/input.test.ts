import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { attack, refused } from "./attack.js";

const folder = temporaryDirectory();
mkdirSync(join(folder, "decisions"));
mkdirSync(join(folder, "a-folder"));
writeFileSync(
  join(folder, "decisions/x.yaml"),
  `decision: {id: x, type: switch, cases: [{condition: a == 1, target: hit}], default: {target: miss}}
---
decision: {id: rolled, type: weighted, input: "round(a, 15)", cases: [{target: hit, weight: 1}], default: {target: miss}}
`,
);

const ask = (input: string, id = "x"): readonly string[] => ["decision", "evaluate", id, "--input", input];
const nested = (before: string, after: string, depth: number): string =>
  `${before.repeat(depth)}1${after.repeat(depth)}`;

interface Context {
  readonly name: string;
  readonly text: string | Uint8Array;
}

const bad: readonly Context[] = [
  { name: "nothing", text: "" },
  { name: "blanks", text: " \n\t " },
  { name: "a word", text: "nope" },
  { name: "half an object", text: '{"a": 1' },
  { name: "single quotes", text: "{'a': 1}" },
  { name: "a trailing comma", text: '{"a": 1,}' },
  { name: "a comment", text: '{"a": 1} // one' },
  { name: "two objects", text: '{"a": 1} {"a": 1}' },
  { name: "NaN", text: '{"a": NaN}' },
  { name: "a number beyond all numbers", text: '{"a": 1, "b": 1e400}' },
  { name: "an integer that a number cannot represent", text: '{"a": 1, "b": 9007199254740993}' },
  { name: "the same key twice", text: '{"a": 2, "a": 1}' },
  { name: "the same key twice, spelt differently", text: String.raw`{"a": 2, "\u0061": 1}` },
  { name: "a list", text: '[{"a": 1}]' },
  { name: "a text", text: '"a"' },
  { name: "a number", text: "1" },
  { name: "true", text: "true" },
  { name: "null", text: "null" },
  { name: "NUL", text: "\u0000" },
  { name: "NUL after the object", text: '{"a": 1}\u0000' },
  { name: "NUL within a text", text: '{"a": "\u0000"}' },
  { name: "escape sequences", text: "\u001b[2J\u001b]0;owned\u0007" },
  { name: "a line break within a text", text: '{"a": "b\nc"}' },
  { name: "a right-to-left mark", text: '\u202e{"a": 1}' },
  { name: "UTF-16", text: Buffer.from('\ufeff{"a": 1}', "utf16le") },
  { name: "random bytes", text: Uint8Array.from({ length: 4_096 }, (_, index) => (index * 167 + 13) % 256) },
  { name: "YAML", text: "a: 1\n" },
  { name: "lists, 100,000 deep", text: nested("[", "]", 100_000) },
  { name: "lists, 1,000,000 deep and never closed", text: "[".repeat(1_000_000) },
  { name: "objects, 100,000 deep", text: nested('{"a":', "}", 100_000) },
  { name: "objects and lists in turn, 100,000 deep", text: nested('{"a":[', "]}", 100_000) },
  { name: "objects, 200 deep", text: nested('{"a":', "}", 200) },
];

const good: readonly (Context & { readonly target: "hit" | "miss" })[] = [
  {
    name: "integers that are large but exact",
    text: '{"a": 1, "b": 9007199254740992, "c": 1e20}',
    target: "hit",
  },
  { name: "an object that is empty", text: "{}", target: "miss" },
  { name: "a prototype that has the answer", text: '{"__proto__": {"a": 1}}', target: "miss" },
  { name: "a prototype beside the answer", text: '{"a": 1, "__proto__": {"a": 2}}', target: "hit" },
  { name: "a constructor", text: '{"a": 1, "constructor": {"prototype": {"a": 2}}}', target: "hit" },
  { name: "methods of an object", text: '{"a": 1, "toString": 1, "hasOwnProperty": 1}', target: "hit" },
  { name: "names that are reserved", text: '{"a": 1, "input": {}, "facts": 1, "system": 2}', target: "hit" },
  { name: "half a surrogate pair", text: String.raw`{"a": 1, "b": "\ud800"}`, target: "hit" },
  { name: "objects, 100 deep", text: `{"a": 1, "b": ${nested('{"a":', "}", 100)}}`, target: "hit" },
  { name: "10 MB of text", text: `{"a": 1, "b": "${"x".repeat(10_000_000)}"}`, target: "hit" },
  { name: "10 MB of blanks", text: `{"a": 1${" ".repeat(10_000_000)}}`, target: "hit" },
  { name: "a list of 1,000,000", text: `{"a": 1, "b": [${"1,".repeat(999_999)}1]}`, target: "hit" },
  {
    name: "100,000 keys",
    text: `{"a": 1, ${Array.from({ length: 100_000 }, (_, index) => `"k${index}": 1`).join()}}`,
    target: "hit",
  },
  { name: "a key of 1 MB", text: `{"a": 1, "${"k".repeat(1_000_000)}": 1}`, target: "hit" },
];

describe("--input", () => {
  it.each(bad)("refuses $name", async ({ text }) => {
    await refused(ask("-"), { cwd: folder, input: text, exitCode: 2 });
  });

  it.each(bad.slice(2, 6))("refuses $name also as an argument", async ({ text }) => {
    await refused(ask(String(text)), { cwd: folder, exitCode: 2 });
  });

  it.each(bad.slice(-4))("refuses $name also in a file", async ({ text }) => {
    writeFileSync(join(folder, "context.json"), text);
    await refused(ask("@context.json"), { cwd: folder, exitCode: 2 });
  });

  it.each(["@missing.json", "@a-folder", "@", "@decisions/x.yaml/y", `@${"a".repeat(5_000)}`])(
    "refuses %s, which cannot be read",
    async (input) => {
      await refused(ask(input), { cwd: folder, exitCode: 2 });
    },
  );

  it.each(good)("takes $name", async ({ text, target }) => {
    writeFileSync(join(folder, "context.json"), text);
    const args = [...ask("@context.json"), "--format", "target"];
    expect((await attack(args, { cwd: folder, exitCode: 0 })).stdout).toBe(`${target}\n`);
  });

  it("that makes a number beyond all numbers is rolled for as a number, or not at all", async () => {
    const { stdout } = await attack(ask('{"a": 1e300}', "rolled"), { cwd: folder, exitCode: 0 });
    const { input_value, selected_targets } = JSON.parse(stdout) as Record<string, unknown>;
    expect([
      [1e300, ["hit"]],
      [null, ["miss"]],
    ]).toContainEqual([input_value, selected_targets]);
  });
});
