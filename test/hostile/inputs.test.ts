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
  `decision: {id: x, type: switch, cases: [{condition: a == 1, target: hit}], default: {target: miss}}\n`,
);
writeFileSync(join(folder, "decisions/broken.yaml"), "decision: {id: broken, type: nope}\n");

const hit = '{"a": 1}';
const miss = '{"a": 2}';

interface Lines {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** In order: a target, or the number of a line that cannot be answered. */
  readonly answers: readonly (string | number)[];
}

const refusedLines = [
  "nope",
  "[]",
  '"text"',
  "null",
  '{"a": 1e400}',
  '{"a": 1, "b": 9007199254740993}',
  '{"a": 1, "a": 1}',
  '{"a": 1',
  "\u0000",
  "\u001b[2J",
];

const files: readonly Lines[] = [
  {
    name: "bad lines between good ones",
    content: refusedLines.map((line) => `${hit}\n${line}\n`).join(""),
    answers: refusedLines.flatMap((_, index) => ["hit", index * 2 + 2]),
  },
  {
    name: "only bad lines",
    content: refusedLines.join("\n"),
    answers: refusedLines.map((_, index) => index + 1),
  },
  {
    name: "a line of 20 MB",
    content: `${hit}\n{"a": 1, "b": "${"x".repeat(20_000_000)}"}\n${miss}\n`,
    answers: ["hit", 2, "miss"],
  },
  {
    name: "a last line of 20 MB without an end",
    content: `${hit}\n${"[".repeat(20_000_000)}`,
    answers: ["hit", 2],
  },
  {
    name: "a line of 10 MB",
    content: `${miss}\n{"a": 1, "b": "${"x".repeat(10_000_000)}"}\n${miss}\n`,
    answers: ["miss", "hit", "miss"],
  },
  {
    name: "a line nested 100,000 deep",
    content: `${hit}\n${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}\n${hit}\n`,
    answers: ["hit", 2, "hit"],
  },
  { name: "line ends of Windows", content: `${hit}\r\nnope\r\n${miss}\r\n`, answers: ["hit", 2, "miss"] },
  { name: "no final line end", content: `${hit}\n${miss}`, answers: ["hit", "miss"] },
  { name: "a bad last line without its end", content: `${hit}\n{"a"`, answers: ["hit", 2] },
  { name: "nothing", content: "", answers: [] },
  { name: "empty lines", content: "\n\r\n \n\t\n", answers: [] },
  { name: "empty lines between, which count", content: `\n\n${hit}\n\nnope\n`, answers: ["hit", 5] },
  {
    name: "bytes that are no text",
    content: Uint8Array.from({ length: 10 * 1_000 }, (_, index) =>
      index % 1_000 === 999 ? 10 : 128 + ((index * 31) % 128),
    ),
    answers: Array.from({ length: 10 }, (_, index) => index + 1),
  },
  {
    name: "a picture's first bytes",
    content: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    answers: [1, 2],
  },
  {
    name: "prototypes",
    content: `{"__proto__": {"a": 1}}\n{"a": 1, "constructor": 1}\n{"__proto__": 1, "a": 1}\n`,
    answers: ["miss", "hit", "hit"],
  },
  {
    name: "20,000 bad lines",
    content: `${"}\n".repeat(20_000)}${hit}\n`,
    answers: [...Array.from({ length: 20_000 }, (_, index) => index + 1), "hit"],
  },
];

const ask = (...more: readonly string[]): readonly string[] => [
  "decision",
  "evaluate",
  "x",
  "--inputs",
  ...more,
];
const codeFor = (answers: Lines["answers"]): number =>
  answers.some((each) => typeof each === "number") ? 1 : 0;

interface Answer {
  readonly selected_targets?: readonly string[];
  readonly line?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

function read(stdout: string): readonly Answer[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Answer);
}

describe("--inputs", () => {
  it.each(files)("answers $name line by line", async ({ content, answers }) => {
    writeFileSync(join(folder, "lines.jsonl"), content);
    const { stdout } = await attack(ask("lines.jsonl"), { cwd: folder, exitCode: codeFor(answers) });
    expect(read(stdout).map(({ line, selected_targets }) => line ?? selected_targets?.join(" "))).toEqual(
      answers,
    );
    expect(read(stdout).flatMap(({ error }) => error?.code ?? [])).toEqual(
      answers.flatMap((each) => (typeof each === "number" ? ["input_invalid"] : [])),
    );
  });

  it.each(files.slice(0, 3))("answers $name also from standard input", async ({ content, answers }) => {
    const { stdout } = await attack(ask("-"), { cwd: folder, input: content, exitCode: codeFor(answers) });
    expect(read(stdout).map(({ line, selected_targets }) => line ?? selected_targets?.join(" "))).toEqual(
      answers,
    );
  });

  it.each(["target", "plain"])("keeps a line free for what cannot be answered as %s", async (format) => {
    const input = `${hit}\n\u001b[2J\n${hit}\n`;
    const { stdout, stderr } = await attack(ask("-", "--format", format), {
      cwd: folder,
      input,
      exitCode: 1,
    });
    expect(stdout.split("\n").map((line) => line.includes("hit"))).toEqual([true, false, true, false]);
    expect(stderr).toMatch(/^error: line 2: /m);
  });

  it("goes on after a line that --strict refuses", async () => {
    const input = `${hit}\n{}\n${miss}\n`;
    const { stdout } = await attack(ask("-", "--strict"), { cwd: folder, input, exitCode: 1 });
    expect(read(stdout).map(({ selected_targets, error }) => error?.code ?? selected_targets?.[0])).toEqual([
      "hit",
      "condition_errored",
      "miss",
    ]);
  });

  it.each(["missing.jsonl", "a-folder", "", "decisions/x.yaml/y"])(
    "refuses %j, which cannot be read",
    async (file) => {
      await refused(ask(file), { cwd: folder, exitCode: 2 });
    },
  );

  it.each([
    ["unknown", 2],
    ["__proto__", 2],
    ["broken", 3],
  ])("reads nothing for the decision %s, which cannot be made", async (id, exitCode) => {
    await refused(["decision", "evaluate", id, "--inputs", "-"], {
      cwd: folder,
      input: `${hit}\n`,
      exitCode,
    });
  });

  it("excludes --input", async () => {
    await refused(ask("-", "--input", "{}"), { cwd: folder, input: hit, exitCode: 2 });
  });
});
