import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "./in-process.js";

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

describe("common mistakes", () => {
  it("a schema next to the definitions is not read as one", async () => {
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

  it("a text without quotes is one unless the context of a test has such a field", async () => {
    const cwd = temporaryDirectory();
    const cases = ["severity == critical", "requester != approver"].map((condition) => ({
      condition,
      target: "t",
    }));
    const decision = { id: "d", type: "switch", cases, default: { target: "z" } };
    writeFileSync(join(cwd, "d.json"), JSON.stringify({ decision }));
    const test = { decision: "d", input: { requester: "a", approver: "b" }, expect: { target: "t" } };
    writeFileSync(join(cwd, "d.test.yaml"), JSON.stringify({ tests: [test] }));
    const { exitCode, stdout } = await run(["decision", "validate", cwd, "--strict", "--format", "json"]);
    expect(exitCode).toBe(3);
    expect((JSON.parse(stdout) as { problems: readonly object[] }).problems).toMatchObject([
      {
        severity: "warning",
        message: "`critical` without quotes is a field of the context, not a text",
        hint: "for the text, write `'critical'`; for the field, write `context.critical`",
      },
    ]);
  });

  it("a batch of targets warns once about lines that could not be evaluated", async () => {
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
    [["--verison"], "did you mean `--version`?"],
    [
      ["decision", "evaluate", "decision-quality-gate", "--input", "package.json"],
      "to read the file, use --input @package.json",
    ],
  ])("%j gets a hint", async (words, hint) => {
    const { exitCode, stderr } = await run(words);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`hint: ${hint}`);
  });

  it("an empty directory is an error, unless --allow-empty is given", async () => {
    const directory = temporaryDirectory();
    const { exitCode, stdout } = await run(["decision", "validate", directory]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      problems: [{ file: directory, severity: "error", message: "no definitions found" }],
    });
    const allowed = await run(["decision", "validate", directory, "--allow-empty"]);
    expect(allowed.exitCode).toBe(0);
    expect(JSON.parse(allowed.stdout)).toMatchObject({ valid: true, problems: [] });
    expect(allowed.stderr).toContain("warning: no definitions found in");
  });

  it.each([
    [
      "a warning",
      "type: switch, cases: [{ condition: 'a == 1', target: t }, { condition: 'a == 1', target: u }]",
      3,
    ],
    ["only a note", "type: weighted, input: '{{ a }}', cases: [{ weight: 1, target: t }]", 0],
  ])("under --strict, %s exits with the right code", async (_, definition, expected) => {
    const file = join(temporaryDirectory(), "x.yaml");
    writeFileSync(file, `decision: { id: x, ${definition}, default: { target: z } }\n`);
    const severity = expected === 3 ? "warning" : "note";
    expect((await run(["decision", "validate", file])).exitCode).toBe(0);
    const { exitCode, stdout } = await run(["decision", "validate", file, "--strict"]);
    expect(exitCode).toBe(expected);
    expect(JSON.parse(stdout)).toMatchObject({ valid: expected === 0, problems: [{ severity }] });
  });

  it("cases that were not evaluated are shown as such", async () => {
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
