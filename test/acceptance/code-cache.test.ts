import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, temporaryDirectory } from "./command.js";

const evaluate = [
  "decision",
  "evaluate",
  "decision-quality-gate",
  "--input",
  '{"artifact": {"quality_score": 0.9}}',
];
const denied = ["decision", "check", "delete_database", "--params", "{}", "--session-id", "s-1"];

/** Runs commands one after the other with an empty cache and returns its folder. */
async function cacheAfter(...commands: readonly (readonly string[])[]): Promise<string> {
  const cache = temporaryDirectory();
  for (const command of commands) await runWith(cache, command);
  return cache;
}

async function runWith(cache: string, command: readonly string[]): Promise<number | undefined> {
  const env = { AGENT33_CACHE: cache, AGENT33_HOME: join(cache, "home") };
  const { exitCode } = await run(command, { env });
  return exitCode;
}

function cachedFiles(cache: string): readonly string[] {
  const code = join(cache, "code");
  return readdirSync(code).flatMap((build) =>
    readdirSync(join(code, build)).map((file) => join(code, build, file)),
  );
}

function cachedFile(cache: string, name: string): string {
  const file = cachedFiles(cache).find((each) => each.endsWith(`/${name}`));
  if (file === undefined) throw new Error(`no code of ${name} is cached`);
  return file;
}

const sizeOf = (cache: string): number => statSync(cachedFile(cache, "core-evaluate")).size;

describe("the cache of compiled code", () => {
  it("holds as much after any first run", async () => {
    const lines = join(temporaryDirectory(), "lines.jsonl");
    writeFileSync(lines, '{"artifact": {"quality_score": 0.9}}\n'.repeat(20_000));
    const again = Array.from({ length: 3 }, () => evaluate);
    // Reading definitions needs more code than finding them in their cache.
    const best = sizeOf(await cacheAfter(["decision", "list"], evaluate, ...again));
    const firstRuns = [
      evaluate,
      ["decision", "evaluate", "--help"],
      ["decision", "evaluate", "nope", "--input", "{}"],
      ["decision", "evaluate", "decision-quality-gate", "--inputs", lines, "--quiet"],
    ];
    for (const first of firstRuns) {
      const ratio = sizeOf(await cacheAfter(first, ...again)) / best;
      expect(ratio, first.join(" ")).toBeGreaterThan(0.95);
      expect(ratio, first.join(" ")).toBeLessThan(1.05);
    }
  });

  it("is written by a command that denies", async () => {
    const cache = temporaryDirectory();
    const decisions = temporaryDirectory();
    writeFileSync(
      join(decisions, "p.yaml"),
      "decision: { id: p, type: policy, tool: '*', policies: [{ name: never, conditions: [{ name: no, expression: 'false' }] }] }",
    );
    expect(await runWith(cache, [...denied, "--decisions", decisions])).toBe(4);
    expect(statSync(cachedFile(cache, "core-check")).size).toBeGreaterThan(10_000);
  });

  it("is not rewritten once runs add nothing", async () => {
    const cache = await cacheAfter(evaluate, evaluate, evaluate, evaluate, evaluate);
    const before = readFileSync(cachedFile(cache, "core-evaluate"));
    await runWith(cache, evaluate);
    expect(readFileSync(cachedFile(cache, "core-evaluate")).equals(before)).toBe(true);
  });

  it("leaves no temporary file", async () => {
    expect(cachedFiles(await cacheAfter(evaluate)).filter((file) => file.endsWith(".tmp"))).toEqual([]);
  });

  it.skipIf(process.platform === "win32").each([
    {
      name: "a link",
      prepare: (cache: string) => {
        const elsewhere = temporaryDirectory();
        symlinkSync(elsewhere, join(cache, "code"));
      },
    },
    {
      name: "a folder that others can write to",
      prepare: (cache: string) => {
        mkdirSync(join(cache, "code"));
        chmodSync(join(cache, "code"), 0o777);
      },
    },
  ])("is not kept behind $name", async ({ prepare }) => {
    const cache = temporaryDirectory();
    prepare(cache);
    expect(await runWith(cache, evaluate)).toBe(0);
    expect(cachedFiles(cache)).toEqual([]);
  });
});
