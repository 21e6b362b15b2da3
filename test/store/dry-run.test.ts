import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Ran } from "../acceptance/command.js";
import { samples, temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "../cli/in-process.js";

const home = join(temporaryDirectory(), "home");
const decisions = temporaryDirectory();
const inputs = join(temporaryDirectory(), "inputs.jsonl");

const command = (verb: string, ...args: readonly string[]): Promise<Ran> =>
  run(["decision", verb, ...args, "--decisions", decisions], { env: { AGENT33_HOME: home } });

/** Every byte and all metadata of each file and directory, except the access time. */
function snapshot(directory: string): readonly string[] {
  const names = ["", ...readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()];
  return names.map((name) => {
    const path = join(directory, name);
    const { mtimeNs, ctimeNs, ino, mode, size } = lstatSync(path, { bigint: true });
    const content = lstatSync(path).isFile() ? readFileSync(path, "latin1") : "";
    return [name, mtimeNs, ctimeNs, ino, mode, size, content].join(" ");
  });
}

const cached = "decision-ab-prompt-variant";
const plain = "decision-quality-gate";
const context = '{"request":{"id":"r-1"},"artifact":{"quality_score":0.9}}';
const other = '{"request":{"id":"r-other"}}';

beforeAll(() => {
  for (const name of readdirSync(samples))
    if (name.endsWith(".yaml")) writeFileSync(join(decisions, name), readFileSync(join(samples, name)));
  const lines = Array.from({ length: 600 }, (_, at) => JSON.stringify({ request: { id: `r-${at % 400}` } }));
  writeFileSync(inputs, `${lines.join("\n")}\nno JSON\n`);
});

const ways: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly exitCode: number;
}[] = [
  { name: "one decision", args: [plain, "--input", context], exitCode: 0 },
  { name: "one decision that is cached", args: [cached, "--input", context], exitCode: 0 },
  { name: "one decision that would be cached", args: [cached, "--input", other], exitCode: 0 },
  { name: "one decision without the cache", args: [cached, "--input", context, "--no-cache"], exitCode: 0 },
  {
    name: "one decision with all provenance flags",
    args: [plain, "--input", context, "--explain", "--verbose", "--format", "table", "--workflow-id", "w"],
    exitCode: 0,
  },
  {
    name: "one decision without syncing",
    args: [plain, "--input", context, "--durability", "fast"],
    exitCode: 0,
  },
  { name: "one decision that does not exist", args: ["decision-none", "--input", context], exitCode: 2 },
  { name: "many decisions", args: [cached, "--inputs", inputs], exitCode: 1 },
  { name: "many decisions without the cache", args: [cached, "--inputs", inputs, "--no-cache"], exitCode: 1 },
];

describe("a dry run", () => {
  it.each(ways)("of $name creates no store", async ({ args, exitCode }) => {
    const { exitCode: code, stdout } = await command("dry-run", ...args);
    expect(code).toBe(exitCode);
    expect(stdout).not.toContain("record_id");
    expect(existsSync(home)).toBe(false);
  });

  it("creates nothing in an empty store directory", async () => {
    const store = join(temporaryDirectory(), "store");
    mkdirSync(store);
    const before = snapshot(store);
    for (const { args, exitCode } of ways)
      expect((await command("dry-run", ...args, "--store", store)).exitCode).toBe(exitCode);
    expect(snapshot(store)).toEqual(before);
    expect(existsSync(home)).toBe(false);
  });

  describe("with an existing store", () => {
    beforeAll(async () => {
      expect((await command("evaluate", plain, "--input", context)).exitCode).toBe(0);
      expect((await command("evaluate", cached, "--input", context)).exitCode).toBe(0);
      expect((await command("evaluate", cached, "--inputs", inputs)).exitCode).toBe(1);
    });

    it.each(ways)("of $name does not change a byte of it", async ({ args, exitCode }) => {
      const before = snapshot(home);
      expect(before.length).toBeGreaterThan(8);
      const { exitCode: code, stdout } = await command("dry-run", ...args);
      expect(code).toBe(exitCode);
      expect(stdout).not.toContain("record_id");
      expect(snapshot(home)).toEqual(before);
    });

    it("does not repair a store after a crash", async () => {
      writeFileSync(join(home, "log/000000000001.jsonl"), '{"seq":9999,"ki', { flag: "a" });
      const before = snapshot(home);
      for (const { args } of ways) await command("dry-run", ...args);
      expect(snapshot(home)).toEqual(before);
    });
  });
});
