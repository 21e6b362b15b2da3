import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ResultPromise } from "execa";
import { execa } from "execa";
import { beforeAll, describe, expect, it } from "vitest";
import { bin, cleanEnvironment, root, run, samples, temporaryDirectory } from "./command.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

const empty = temporaryDirectory();
const log = ["decision", "log"];

async function decide(store: string, scores: readonly number[]): Promise<void> {
  const input = scores.map((score) => JSON.stringify({ artifact: { quality_score: score } })).join("\n");
  const words = ["decision", "evaluate", "decision-quality-gate", "--inputs", "-", "--durability", "fast"];
  await run([...words, "--store", store, "--workflow-id", "nightly"], { input });
}

const inBackground = { cwd: empty, env: cleanEnvironment(), extendEnv: false, reject: false } as const;

/** The command in the background, as a script would run it. */
function following(store: string, words: readonly string[] = []): ResultPromise<typeof inBackground> {
  const all = [bin, ...log, "--follow", "--store", store, ...words];
  return execa(process.execPath, all, inBackground);
}

async function inBash(script: string, store: string): Promise<{ stdout: string; stderr: string }> {
  const command = `agent33() { "${process.execPath}" "${bin}" "$@"; }\nset -o pipefail\n${script}`;
  const env = cleanEnvironment({ AGENT33_STORE: store });
  return await execa("bash", ["-c", command], { cwd: empty, env, extendEnv: false, reject: false });
}

/** Made once, only read after. */
const store = join(temporaryDirectory(), "store");
const long = join(temporaryDirectory(), "store");

beforeAll(async () => {
  await decide(store, [0.9, 0.3, 0.5]);
  await decide(
    long,
    Array.from({ length: 5_000 }, (_, index) => index / 5_000),
  );
});

describe("the log in a pipe", () => {
  it("is what was written, byte for byte, and needs no definitions", async () => {
    const { exitCode, stdout, stderr } = await run([...log, "--store", store], { cwd: empty });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toBe(readFileSync(join(store, "log/000000000001.jsonl"), "utf8"));
  });

  it("loses nothing, however long it is and however slow the reader", async () => {
    const { stdout } = await inBash("agent33 decision log | (sleep 0.2; wc -l)", long);
    expect(stdout.trim()).toBe("5000");
    const { stdout: all } = await run([...log, "--store", long, "--json"]);
    expect((JSON.parse(all) as readonly unknown[]).length).toBe(5_000);
  });

  it("may be left early", async () => {
    const { stdout, stderr } = await inBash("agent33 decision log | head -n 2 | wc -l; echo $?", long);
    expect({ stdout, stderr }).toEqual({ stdout: "2\n0", stderr: "" });
  });

  it("leaves a store alone that is not there", async () => {
    const nowhere = join(empty, "nowhere");
    expect(await run([...log, "--store", nowhere, "--json"])).toEqual({
      exitCode: 0,
      stdout: "[]\n",
      stderr: `warning: no store found in \`${nowhere}\`\n`,
    });
    expect(existsSync(nowhere)).toBe(false);
  });
});

describe("a log that is followed", () => {
  it("shows the newest, then each record that another process adds", async () => {
    const growing = join(temporaryDirectory(), "store");
    await decide(growing, [0.1, 0.2, 0.9]);
    const child = following(growing, ["--limit", "2", "--format", "plain"]);
    const lines = child.iterable()[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const { value } = (await lines.next()) as { value: string | undefined };
      const [seq, , , label] = (value ?? "").split("\t");
      return `${seq ?? ""} ${label ?? ""}`;
    };
    expect([await next(), await next()]).toEqual(["2 Fail", "3 Pass"]);
    await decide(growing, [0.95]);
    expect(await next()).toBe("4 Pass");
    await decide(growing, [0.05, 0.85]);
    expect([await next(), await next()]).toEqual(["5 Fail", "6 Pass"]);
    child.kill("SIGINT");
    expect(await child).toMatchObject({ exitCode: 130, stderr: "" });
  });

  it("begins with a log that is yet to be", async () => {
    const growing = join(temporaryDirectory(), "store");
    const child = following(growing, ["--label", "Fail"]);
    const lines = child.iterable()[Symbol.asyncIterator]();
    await decide(growing, [0.9, 0.1]);
    const { value } = (await lines.next()) as { value: string };
    expect(JSON.parse(value)).toMatchObject({ seq: 2, selected_labels: ["Fail"] });
    child.kill("SIGINT");
    expect((await child).exitCode).toBe(130);
  });

  it("has its lines in columns where a table is wanted", async () => {
    const child = following(store, ["--format", "table", "--limit", "1"]);
    const lines = child.iterable()[Symbol.asyncIterator]();
    const heading = (await lines.next()) as { value: string };
    const line = (await lines.next()) as { value: string };
    expect(heading.value).toMatch(/^ +SEQ {2}TIME \(UTC\) +DECISION +ANSWER +BECAUSE +CACHED +ORIGIN$/);
    expect(line.value.indexOf("nightly")).toBe(heading.value.indexOf("ORIGIN"));
    child.kill("SIGINT");
    await child;
  });

  it("ends quietly when its reader has gone", async () => {
    const growing = join(temporaryDirectory(), "store");
    await decide(growing, [0.1]);
    const reading = inBash("agent33 decision log --follow | head -n 2 | wc -l; echo $?", growing);
    // One record ends the reader; the next shows that it has gone.
    const writing = setInterval(() => void decide(growing, [0.5]), 300);
    const { stdout, stderr } = await reading;
    clearInterval(writing);
    expect({ stdout, stderr }).toEqual({ stdout: "2\n0", stderr: "" });
  });
});

describe("explain", () => {
  it("needs the store alone", async () => {
    const { exitCode, stdout } = await run(["decision", "explain", "2", "--store", store], { cwd: empty });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      explanation: {
        answer: "stage-rework",
        failed: [{ values: { "artifact.quality_score": 0.3 } }],
        intact: true,
      },
    });
  });

  it("leads to the definition as it was", async () => {
    const script = `hash=$(agent33 decision explain latest | grep -o '"hash": "[0-9a-f]*"' | tail -1 | cut -d '"' -f 4)
agent33 decision show decision-quality-gate --hash "\${hash:0:10}" --format plain`;
    const { stdout } = await inBash(script, store);
    expect(stdout).toBe("Pass\tinput >= 0.8\tstage-deploy\nFail\tinput < 0.8\tstage-rework");
  });

  it("tells a damaged log from a sound one", async () => {
    const damaged = join(temporaryDirectory(), "store");
    await decide(damaged, [0.9, 0.3]);
    const segment = join(damaged, "log/000000000001.jsonl");
    writeFileSync(segment, readFileSync(segment, "utf8").replace('"input_value":0.3', '"input_value":0.4'));
    const { exitCode, stdout, stderr } = await run(["decision", "explain", "2", "--store", damaged]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ explanation: { intact: false } });
    expect(stderr).toContain("warning: record 2 was modified after it was written");
  });
});

describe.skipIf(!hasTerminal)(`at a terminal${noTerminal}`, () => {
  const env = { AGENT33_STORE: store, AGENT33_DECISIONS: samples, NO_COLOR: "1" };
  const command = `"${process.execPath}" "${bin}" decision`;

  it("the log is a table that fits", async () => {
    for (const columns of [80, 120]) {
      const { exitCode, screen } = await typed(`${command} log`, { cwd: root, columns, env });
      expect(exitCode).toBe(0);
      const [table = "", hidden = ""] = screen.trimEnd().split(/\n(?=columns hidden: )/);
      expect(hidden !== "").toBe(columns === 80);
      const lines = table.split("\n");
      expect(lines).toHaveLength(4);
      expect(lines[2]).toMatch(
        /^ {2}2 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}decision-quality-gate +stage-rework/,
      );
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  it("a long log is cut short, with a word on how to see more", async () => {
    const { screen } = await typed(`${command} log`, { cwd: root, env: { ...env, AGENT33_STORE: long } });
    const lines = screen.trimEnd().split("\n");
    expect(lines).toHaveLength(52);
    expect(lines.at(-2)).toMatch(/^5000 /);
    expect(lines.at(-1)).toBe("showing the newest 50 records; use --limit N for more");
  });

  it("an explanation begins with the answer", async () => {
    const { screen } = await typed(`${command} explain 2`, { cwd: root, env });
    expect(screen).toMatch(/^stage-rework {2}Fail\n\n/);
    expect(screen).toContain("artifact.quality_score = 0.3");
  });

  it("Ctrl-C ends what is followed with 130", async () => {
    const line = `set -m; ${command} log --follow & sleep 1; kill -INT -- -$!; wait $!; echo "code $?"`;
    const { screen } = await typed(line, { cwd: root, env });
    expect(screen).toContain("stage-deploy (Pass)");
    expect(screen.trimEnd().split("\n").at(-1)).toBe("code 130");
  });
});
