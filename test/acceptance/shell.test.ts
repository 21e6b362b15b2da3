import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import type { Ran } from "./command.js";
import { bin, cleanEnvironment, root, run, temporaryDirectory } from "./command.js";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

/** Runs a script in a shell that knows the command by its name. */
async function inShell(shell: string, script: string): Promise<Ran> {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/agent-33"), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
  chmodSync(join(folder, "bin/agent-33"), 0o755);
  const PATH = `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  const options = { cwd: root, env: cleanEnvironment({ PATH }), extendEnv: false, reject: false } as const;
  const { stdout, stderr, exitCode } = await execa(shell, ["-c", script], options);
  return { stdout, stderr, exitCode };
}

describe("in a script", () => {
  it("an exit code branches", async () => {
    const script = `agent-33 decision evaluate nope --input '{}' 2>/dev/null || echo "code $?"`;
    expect((await inShell("bash", script)).stdout).toBe("code 2");
  });

  it("a reader that goes away early is no error", async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `{"request":{"id":"r${index}"}}`).join("\n");
    const file = join(temporaryDirectory(), "requests.jsonl");
    writeFileSync(file, lines);
    const script = `set -o pipefail; agent-33 decision evaluate decision-ab-prompt-variant --inputs ${file} | head -n 2 | wc -l`;
    const { stdout, stderr, exitCode } = await inShell("bash", script);
    expect({ stdout: stdout.trim(), stderr, exitCode }).toEqual({ stdout: "2", stderr: "", exitCode: 0 });
  });

  it("a slow reader loses nothing", async () => {
    const file = join(temporaryDirectory(), "requests.jsonl");
    writeFileSync(
      file,
      Array.from({ length: 5_000 }, (_, index) => `{"request":{"id":"r${index}"}}`).join("\n"),
    );
    const script = `agent-33 decision evaluate decision-ab-prompt-variant --inputs ${file} | (sleep 0.5; wc -l)`;
    expect((await inShell("bash", script)).stdout.trim()).toBe("5000");
  });

  it("a stream is answered line by line as it comes", async () => {
    const child = execa(
      process.execPath,
      [bin, "decision", "evaluate", "decision-ab-prompt-variant", "--inputs", "-", "--format", "target"],
      {
        cwd: root,
        env: cleanEnvironment(),
        extendEnv: false,
      },
    );
    const answers = child.iterable()[Symbol.asyncIterator]();
    for (const [id, target] of [
      ["req-1", "stage-prompt-v1"],
      ["req-2", "stage-prompt-v3"],
    ] as const) {
      child.stdin.write(`{"request":{"id":"${id}"}}\n`);
      expect(await answers.next()).toMatchObject({ value: target });
    }
    child.stdin.end();
    expect((await child).exitCode).toBe(0);
  });

  it("Ctrl-C ends with 130", async () => {
    const script = `agent-33 decision evaluate decision-ab-prompt-variant --inputs - < <(exec sleep 5 2>/dev/null) & sleep 0.6; kill -INT $!; wait $!; echo $?`;
    // A shell without job control makes its children ignore SIGINT; `set -m` gives them their own.
    expect((await inShell("bash", `set -m; ${script}`)).stdout.split("\n").at(-1)).toBe("130");
  });
});

describe("what a person meets on the way", () => {
  it("a schema beside the definitions is none of them", async () => {
    const cwd = temporaryDirectory();
    await run(["decision", "new", "switch", "x"], { cwd });
    const { stdout } = await run(["decision", "schema"]);
    writeFileSync(join(cwd, "decisions/agent-33.schema.json"), stdout);
    expect(await run(["decision", "validate", "--format", "plain"], { cwd })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("a disk that is full is no bug", async () => {
    const { stderr, exitCode } = await inShell("bash", "agent-33 decision list > /dev/full");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: cannot write output: ENOSPC/);
  });

  it("a cache that cannot be made does not keep anything waiting", async () => {
    const words = [
      "decision",
      "evaluate",
      "decision-quality-gate",
      "--input",
      '{"artifact":{"quality_score":1}}',
      "--format",
      "target",
    ];
    const env = { AGENT33_CACHE: "/proc/nowhere/at/all" };
    expect(await run(words, { env })).toEqual({ exitCode: 0, stdout: "stage-deploy\n", stderr: "" });
  });

  it("a batch of targets tells once that something could not be evaluated", async () => {
    const words = ["decision", "evaluate", "decision-quality-gate", "--inputs", "-", "--format", "target"];
    const { stdout, stderr } = await run(words, { input: '{"artifact":{"quality_score":1}}\n{}\n{}\n' });
    expect(stdout).toBe("stage-deploy\nstage-rework\nstage-rework\n");
    expect(stderr).toBe(
      "warning: 2 of 3 lines have warnings; first: line 2: the input could not be evaluated, so the default was taken: `artifact.quality_score` is missing\n",
    );
  });

  it.each([
    [["evaluate", "x"], "did you mean `agent-33 decision evaluate`?"],
    [["--quiet", "decision", "list"], "put flags after the command"],
    [
      ["decision", "evaluate", "decision-quality-gate", "--input", "package.json"],
      "to read the file, use --input @package.json",
    ],
  ])("%j is met with what was meant", async (words, hint) => {
    const { exitCode, stderr } = await run(words);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`hint: ${hint}`);
  });

  it("an empty folder is no success that goes unnoticed", async () => {
    const { exitCode, stderr } = await run(["decision", "validate", temporaryDirectory()]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("warning: no definitions found in");
  });

  it("cases that were not asked are shown as such", async () => {
    const words = [
      "decision",
      "evaluate",
      "decision-quality-gate",
      "--input",
      '{"artifact":{"quality_score":1}}',
    ];
    const { stdout } = await run([...words, "--explain", "--format", "table"]);
    expect(stdout).toContain("Fail  – not evaluated  input < 0.8");
  });
});

describe("completion", () => {
  it("offers commands, flags, formats and decision ids", async () => {
    const complete = async (...words: readonly string[]): Promise<readonly string[]> =>
      (await run(["__complete", "--", ...words])).stdout.trimEnd().split("\n");
    expect(await complete("dec")).toEqual(["decision"]);
    expect(await complete("decision", "e")).toEqual(["evaluate", "explain", "export", "endpoints"]);
    expect(await complete("decision", "evaluate", "decision-q")).toEqual(["decision-quality-gate"]);
    expect(await complete("decision", "evaluate", "--str")).toEqual(["--strict"]);
    expect(await complete("decision", "evaluate", "x", "--format", "t")).toEqual(["table", "target"]);
    expect(await complete("decision", "new", "w")).toEqual(["weighted"]);
    expect(await complete("decision", "log", "--decision-id", "decision-q")).toEqual([
      "decision-quality-gate",
    ]);
    expect(await complete("decision", "log", "--kind", "n")).toEqual(["note"]);
    expect(await complete("decision", "explain", "l")).toEqual(["latest"]);
    expect(await complete("decision", "config", "set", "durability", "f")).toEqual(["full", "fast"]);
    expect([...(await complete("help", "ex"))].sort()).toEqual(["exit-codes", "experiments", "expressions"]);
    expect(await complete("completion", "f")).toEqual(["fish"]);
  });

  it("works in bash", async () => {
    const script = `source <(agent-33 completion bash)
COMP_WORDS=(agent-33 decision show decision-e); COMP_CWORD=3; _agent_33; echo "\${COMPREPLY[@]}"`;
    expect(await inShell("bash", script)).toMatchObject({ stdout: "decision-escalation-rules", exitCode: 0 });
  });

  it.each(["zsh", "fish"])("is a script that %s can read", async (shell) => {
    const { stdout } = await run(["completion", shell]);
    expect(stdout).toContain("agent-33 __complete --");
    if (!has(shell)) return;
    expect(await inShell(shell, "agent-33 completion " + shell + " | " + shell + " -n")).toMatchObject({
      exitCode: 0,
    });
  });
});

describe("validate", () => {
  const folder = temporaryDirectory();
  writeFileSync(
    join(folder, "a.yaml"),
    "decision:\n  id: a, b\n  type: switch\n  cases: [{ condition: 'x =', target: t }]\n  default: { target: z }\n",
  );

  it("annotates for GitHub", async () => {
    const { exitCode, stdout } = await run(["decision", "validate", "a.yaml", "--format", "github"], {
      cwd: folder,
    });
    expect(exitCode).toBe(3);
    expect(stdout.split("\n")).toEqual([
      '::error file=a.yaml,line=2,col=7::`id` may contain only letters, digits, `.`, `_` and `-`, at most 128 characters (got "a, b")',
      "::error file=a.yaml,line=4,col=27::`=` is not an operator (compare with `==`)",
      "",
    ]);
  });

  it("gives programs every problem with its place", async () => {
    const { exitCode, stdout } = await run(["decision", "lint", "--decisions", folder, "--format", "json"]);
    expect(exitCode).toBe(3);
    const { valid, problems } = JSON.parse(stdout) as { valid: boolean; problems: readonly object[] };
    expect(valid).toBe(false);
    expect(problems).toMatchObject([
      { file: `${folder}/a.yaml`, line: 2, column: 7, severity: "error" },
      { file: `${folder}/a.yaml`, line: 4, column: 27, severity: "error" },
    ]);
  });

  it("prints file:line:column in plain text", async () => {
    const { stdout } = await run(["decision", "validate", join(folder, "a.yaml"), "--format", "plain"]);
    expect(stdout).toMatch(/^\S+\/a\.yaml:2:7\terror\t.*\n\S+\/a\.yaml:4:27\terror\t.*\n$/);
  });
});

describe("new", () => {
  it.each(["binary", "switch", "weighted", "rule_table"])(
    "writes a %s definition that is valid as it stands",
    async (type) => {
      const cwd = temporaryDirectory();
      const made = await run(["decision", "new", type, "my-first.decision"], { cwd });
      expect(made).toEqual({ exitCode: 0, stdout: "decisions/my-first.decision.yaml\n", stderr: "" });
      const { exitCode, stdout } = await run(["decision", "validate"], { cwd });
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toEqual({ valid: true, problems: [], guardrails_checked: 0 });
      const asked = await run(
        ["decision", "evaluate", "my-first.decision", "--input", "{}", "--quiet", "--format", "target"],
        { cwd },
      );
      expect(asked).toEqual({ exitCode: 0, stdout: "stage-fallback\n", stderr: "" });
    },
  );

  it("overwrites nothing", async () => {
    const cwd = temporaryDirectory();
    await run(["decision", "new", "switch", "x"], { cwd });
    const before = readFileSync(join(cwd, "decisions/x.yaml"), "utf8");
    const { exitCode, stderr } = await run(["decision", "new", "weighted", "x"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("`x` is already defined in decisions/x.yaml:3");
    expect(readFileSync(join(cwd, "decisions/x.yaml"), "utf8")).toBe(before);
  });

  it("overwrites no file that declares something else", async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, "decisions"));
    writeFileSync(join(cwd, "decisions/x.yaml"), "# mine\n");
    const { exitCode, stderr } = await run(["decision", "new", "switch", "x"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("`decisions/x.yaml` already exists");
  });

  it("can write to standard output", async () => {
    const { stdout } = await run(["decision", "new", "switch", "x", "--output", "-"]);
    expect(stdout).toMatch(/^# yaml-language-server: \$schema=/);
  });
});
