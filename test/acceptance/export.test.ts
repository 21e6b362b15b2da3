import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, it } from "vitest";
import type { DecisionRecord } from "../../src/model/record.js";
import { csvColumns } from "../../src/record/csv.js";
import type { Ran } from "./command.js";
import { bin, cleanEnvironment, root, run, temporaryDirectory } from "./command.js";

const folder = temporaryDirectory();
const env = { AGENT33_STORE: join(folder, "store"), AGENT33_DURABILITY: "fast" };
const decision = (...words: readonly string[]): Promise<Ran> => run(["decision", ...words], { env });

const nasty = {
  id: '=cmd|"/c calc"!A1,;\r\nsecond "line"\t',
  workflow: "@SUM(1+1)*cmd",
  session: "-2+3",
  stage: "+1, and 'more'",
};

const requests = 6_000;

beforeAll(async () => {
  const variant = ["evaluate", "decision-ab-prompt-variant", "--format", "target"];
  await decision(
    ...[...variant, "--input", JSON.stringify({ request: { id: nasty.id } })],
    ...["--workflow-id", nasty.workflow, "--session-id", nasty.session, "--stage-id", nasty.stage],
  );
  const file = join(folder, "requests.jsonl");
  const lines = Array.from({ length: requests }, (_, index) => `{"request":{"id":"r${index}"}}\n`);
  writeFileSync(file, lines.join(""));
  await decision(...variant, "--inputs", file);
}, 120_000);

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("CSV", () => {
  it.skipIf(!hasPython)(
    `is read back by Python's csv module${hasPython ? "" : " (skipped: no python3)"}`,
    async () => {
      const [csv, jsonl] = await Promise.all([decision("export", "--format", "csv"), decision("export")]);
      const script =
        "import csv, io, json, sys\n" +
        "text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')\n" +
        "json.dump(list(csv.DictReader(text, strict=True)), sys.stdout)";
      const { stdout } = spawnSync("python3", ["-c", script], {
        input: csv.stdout,
        encoding: "utf8",
        maxBuffer: 2 ** 28,
      });
      const rows = JSON.parse(stdout) as readonly Record<string, string>[];
      const records = jsonl.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as DecisionRecord);
      expect(rows).toHaveLength(requests + 1);
      expect(Object.keys(rows[0] ?? {})).toEqual(csvColumns);
      const read = rows.map(({ seq, record_id, input_value, selected_labels, hash }) => ({
        seq: Number(seq),
        record_id,
        input_value: JSON.parse(input_value ?? "") as unknown,
        selected_labels,
        hash,
      }));
      const written = records.map(({ seq, record_id, input_value, selected_labels, hash }) => ({
        seq,
        record_id,
        input_value,
        selected_labels: selected_labels.join("; "),
        hash,
      }));
      expect(read).toEqual(written);
      expect(rows[0]).toMatchObject({
        workflow_id: `'${nasty.workflow}`,
        session_id: `'${nasty.session}`,
        stage_id: `'${nasty.stage}`,
        cached: "false",
      });
    },
  );
});

describe("an export", () => {
  it("can be checked without the store, the settings and the definitions", async () => {
    const out = join(folder, "whole");
    expect((await decision("export", "--out", out)).exitCode).toBe(0);
    const elsewhere = await run(["decision", "verify", "whole"], { cwd: folder });
    expect(JSON.parse(elsewhere.stdout)).toMatchObject({ ok: true, records: requests + 1, problems: [] });
    expect(elsewhere.exitCode).toBe(0);
    const path = join(out, "records.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace('"id":"r500"', '"id":"r501"'));
    const changed = await run(["decision", "verify", "whole", "--format", "table"], { cwd: folder });
    expect(changed.stdout).toContain("✗ record 502 was changed after it was written");
    expect(changed.exitCode).toBe(6);
  });

  it("is one moment of a log that goes on", async () => {
    const busy = { ...env, AGENT33_STORE: join(folder, "busy"), AGENT33_CHECKPOINT_EVERY: "7" };
    const file = join(folder, "requests.jsonl");
    const words = ["decision", "evaluate", "decision-ab-prompt-variant", "--format", "target"];
    const writing = run([...words, "--inputs", file], { env: busy });
    const sizes: number[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const out = join(folder, `moment-${turn}`);
      await run(["decision", "export", "--out", out], { env: busy });
      const { stdout } = await run(["decision", "verify", out], { env: busy });
      const { problems, size, records } = JSON.parse(stdout) as Record<string, unknown>;
      expect({ problems, records }).toEqual({ problems: [], records: size });
      sizes.push(Number(size));
    }
    await writing;
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  });

  it("leaves nothing behind when it is interrupted", async () => {
    const out = join(folder, "interrupted");
    const child = execa(process.execPath, [bin, "decision", "export", "--out", out], {
      cwd: root,
      env: cleanEnvironment(env),
      extendEnv: false,
      reject: false,
    });
    while (!existsSync(join(out, "records.jsonl")) && child.exitCode === null) await tick();
    child.kill("SIGINT");
    const { exitCode, stdout, stderr } = await child;
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 130,
      stdout: "",
      stderr: "interrupted: the incomplete export was removed",
    });
    expect(existsSync(out)).toBe(false);
  });

  it("leaves nothing behind when there is no space left", () => {
    const out = join(folder, "full");
    const script = `ulimit -f 512; exec "$@"`;
    const words = [process.execPath, bin, "decision", "export", "--out", out];
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...words], {
      cwd: root,
      env: cleanEnvironment(env),
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(
      /^error: cannot write the export: EFBIG.*\nhint: .*the incomplete export was removed\n$/,
    );
    expect(existsSync(out)).toBe(false);
  });

  it("has no manifest when it is killed", async () => {
    const out = join(folder, "killed");
    const child = execa(process.execPath, [bin, "decision", "export", "--out", out], {
      cwd: root,
      env: cleanEnvironment(env),
      extendEnv: false,
      reject: false,
    });
    while (!existsSync(join(out, "records.jsonl")) && child.exitCode === null) await tick();
    child.kill("SIGKILL");
    await child;
    expect(readdirSync(out)).not.toContain("manifest.json");
    const { exitCode, stdout } = await decision("verify", out);
    expect(exitCode).toBe(6);
    expect(stdout).toContain("the export was interrupted");
  });

  it("goes through a pipe that is closed early", () => {
    const script = `set -o pipefail; "$@" | head -n 1 | wc -l`;
    const words = [process.execPath, bin, "decision", "export"];
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...words], {
      cwd: root,
      env: cleanEnvironment(env),
      encoding: "utf8",
    });
    expect({ status, stdout: stdout.trim(), stderr }).toEqual({ status: 0, stdout: "1", stderr: "" });
  });
});

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
