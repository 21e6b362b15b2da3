import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../src/cli/program.js";
import type { Ran } from "./workspace.js";
import { workplace } from "./workspace.js";

const place = workplace();
const good = ["evaluate", "decision-quality-gate", "--input", '{"artifact":{"quality_score":0.9}}'];
await place.run(good);
const exported = join(place.root, "exported");
await place.run(["export", "--out", exported]);
rmSync(join(place.store, "log"), { recursive: true });
writeFileSync(join(place.store, "log"), "");

const key = join(place.root, "key.pem");
await place.run(["keygen", "--out", key]);

/** The commands that use the store. */
const storeCommands: Readonly<Record<string, readonly string[]>> = {
  evaluate: good,
  check: ["check", "send_email", "--params", "{}", "--session-id", "s"],
  result: ["result", "send_email", "--session-id", "s", "--ok"],
  gate: ["gate", "acme/payments/wire.approve", "--input", "{}"],
  log: ["log"],
  explain: ["explain", "latest"],
  distribution: ["distribution", "decision-quality-gate"],
  lineage: ["lineage", "latest"],
  replay: ["replay", "latest"],
  backtest: ["backtest", "decision-quality-gate"],
  verify: ["verify"],
  overrides: ["overrides"],
  export: ["export"],
  import: ["import", exported],
  cache: ["cache", "status"],
  prune: ["prune", "--before", "2020-01-01", "--yes"],
};

/** The commands that read no record, or read it only if the definition or the flags ask for it. */
const otherCommands = [
  "dry-run",
  "list",
  "show",
  "validate",
  "new",
  "schema",
  "graph",
  "keygen",
  "approve",
  "retire",
  "diff",
  "precedents",
  "test",
  "analyze",
  "compare",
  "table",
  "fmt",
  "serve",
  "mcp",
  "endpoints",
  "config",
];

function expectFileError({ code, out, err }: Ran, path: string): void {
  expect(err).not.toContain("bug in agent-33");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  const lines = err.split("\n").filter((line) => !line.startsWith("warning:"));
  expect(lines[0]).toMatch(/^error: /);
  expect(lines[0]).toContain(path);
  expect(lines[1]).toMatch(/^hint: /);
}

describe("a store that cannot be used", () => {
  it("is tried with every command", () => {
    expect([...Object.keys(storeCommands), ...otherCommands].sort()).toEqual([...commandNames].sort());
  });

  it.each(Object.entries(storeCommands))(
    "is an ordinary error of %s if its log is a file",
    async (_, words) => {
      expectFileError(await place.run(words), join(place.store, "log"));
    },
  );

  it.each(Object.entries(storeCommands))(
    "is an ordinary error of %s if its path leads through a file",
    async (_, words) => {
      const store = join(place.store, "log", "deeper");
      expectFileError(await place.run(words, { env: { AGENT33_STORE: store } }), store);
    },
  );
});

const folder = mkdtempSync(join(tmpdir(), "agent-33-unusable-"));
const file = join(folder, "file");
writeFileSync(file, "");
mkdirSync(join(folder, "home", "config.json"), { recursive: true });

describe("a file that cannot be used", () => {
  it.each<[string, readonly string[], string]>([
    ["a directory as --input", ["evaluate", "x", "--input", `@${folder}`], "is a directory; specify a file"],
    ["a directory as --inputs", [...good.slice(0, 2), "--inputs", folder], "is a directory; specify a file"],
    [
      "a path through a file as --input",
      ["evaluate", "x", "--input", `@${file}/x`],
      "is a file, not a directory",
    ],
    ["a file as --decisions", ["list", "--decisions", file], "specify the directory of your definitions"],
    ["a path through a file to validate", ["validate", join(file, "x")], "is a file, not a directory"],
    [
      "a path through a file for a new definition",
      ["new", "binary", "x", "--output", join(file, "x")],
      "is a file, not",
    ],
    ["a path through a file for a key", ["keygen", "--out", join(file, "x")], "is a file, not a directory"],
    [
      "a directory as a key",
      ["approve", "decision-quality-gate", "--key", folder],
      "is a directory; specify a file",
    ],
    [
      "a directory as a signing key",
      ["config", "set", "signing_key", folder],
      "specify a file with an Ed25519",
    ],
    ["a path as a payload", ["replay", "--payload", file], `use --payload @${file}`],
  ])("is an error with a hint: %s", async (_, words, hint) => {
    const { code, err } = await place.run(words);
    expect(err).not.toContain("bug in agent-33");
    expect([1, 2]).toContain(code);
    expect(err).toMatch(/^error: .*\nhint: /m);
    expect(err).toContain(hint);
  });

  it("is an error with a hint: a directory as the settings", async () => {
    const { code, err } = await place.run(["list"], { env: { AGENT33_HOME: join(folder, "home") } });
    expect(code).toBe(1);
    expect(err).toContain("config.json` is a directory; specify a file");
  });
});
