import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hitPolicies } from "../../src/tables/table.js";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess as run } from "./in-process.js";

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

  it("names every hit policy in a rule table", async () => {
    const { stdout } = await run(["decision", "new", "rule_table", "x", "--output", "-"]);
    const comment = stdout.slice(0, stdout.indexOf("hit_policy:"));
    for (const each of hitPolicies) expect(comment).toMatch(new RegExp(`\\b${each}\\b`));
  });

  it.each([
    ["table", "did you mean `rule_table`?"],
    ["Score", "did you mean `scored`?"],
    ["x", "choose one of binary, switch, weighted, rule_table, scored, policy, gate"],
  ])("suggests a type instead of %s", async (type, hint) => {
    const { exitCode, stderr } = await run(["decision", "new", type, "x"], { cwd: temporaryDirectory() });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`hint: ${hint}\n`);
  });

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
    expect(stdout).toMatch(/^# For help in editors/);
  });

  it("names the schema in the directory of definitions, and uses it if it exists", async () => {
    const cwd = temporaryDirectory();
    await run(["decision", "new", "switch", "x", "--decisions", "rules"], { cwd });
    const [first] = readFileSync(join(cwd, "rules/x.yaml"), "utf8").split("\n");
    expect(first).toBe("# For help in editors, run: agent-33 decision schema > rules/agent-33.schema.json");
    writeFileSync(join(cwd, "rules/agent-33.schema.json"), (await run(["decision", "schema"])).stdout);
    await run(["decision", "new", "switch", "y", "--output", "rules/why.yaml"], { cwd });
    expect(readFileSync(join(cwd, "rules/why.yaml"), "utf8")).toMatch(
      /^# yaml-language-server: \$schema=.\/agent-33.schema.json\n/,
    );
  });

  it("writes a gate that reviews every large amount, and a policy that does not expire", async () => {
    const cwd = temporaryDirectory();
    await run(["decision", "new", "gate", "wire"], { cwd });
    const { stdout } = await run(
      ["decision", "gate", "acme/payments/wire.approve", "--input", '{"amount": 20000, "country": "DE"}'],
      { cwd },
    );
    expect(JSON.parse(stdout)).toMatchObject({ status: "YELLOW" });
    const policy = (await run(["decision", "new", "policy", "mail", "--output", "-"], { cwd })).stdout;
    expect(policy).not.toMatch(/^ *(effective_from|expires_at):/m);
  });
});
