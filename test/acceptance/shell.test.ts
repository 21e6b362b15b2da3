import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
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
  it.each([["--help"], ["decision --help"], ["decision -h"], ["decision help"]])(
    "`agent-33 %s` shows help",
    async (words) => {
      const { stdout, stderr, exitCode } = await inShell("bash", `agent-33 ${words}`);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(stdout).toMatch(/^Usage: agent-33/);
    },
  );

  it("an exit code branches", async () => {
    const script = `agent-33 decision evaluate nope --input '{}' 2>/dev/null || echo "code $?"`;
    expect((await inShell("bash", script)).stdout).toBe("code 2");
  });

  it.each([
    {
      code: 4,
      words: `check select_metric --params '{"name": "x"}' --context '{"session": {"query": {"audience": "ceo"}}}'`,
    },
    { code: 4, words: `check select_metric --params '{}' --format reason` },
    { code: 4, words: `gate acme/payments/wire.approve --input '{"amount": 1, "payee": {"country": "XX"}}'` },
    { code: 2, words: "check" },
    { code: 3, words: "validate /dev/null" },
  ])("`$words` exits with $code even if nobody reads what it prints", async ({ code, words }) => {
    const store = `--store ${temporaryDirectory()}`;
    const command = `agent-33 decision ${words} ${words.startsWith("validate") ? "" : store}`;
    // `sleep` gives the reader time to exit.
    const late = `(exec 3>&1; { sleep 0.3; ${command} ; echo $? >&3; } 2>&1 | true)`;
    expect((await inShell("bash", late)).stdout).toBe(String(code));
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
      Array.from({ length: 2_000 }, (_, index) => `{"request":{"id":"r${index}"}}`).join("\n"),
    );
    const script = `agent-33 decision evaluate decision-ab-prompt-variant --inputs ${file} | (sleep 0.2; wc -l)`;
    expect((await inShell("bash", script)).stdout.trim()).toBe("2000");
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

describe("a disk or cache that cannot be written", () => {
  it("a full disk is reported as an error, not as a bug", async () => {
    const { stderr, exitCode } = await inShell("bash", "agent-33 decision list > /dev/full");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: cannot write output: ENOSPC/);
  });

  it("a cache that cannot be created is ignored", async () => {
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
});

describe("completion", () => {
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
