import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { topics } from "../../src/cli/topics/topics.js";
import { compose } from "../../src/compose.js";
import type { AuthenticatedCaller } from "../../src/model/record.js";
import { builtInPaths, routes } from "../../src/serve/http/routes.js";
import { Metrics } from "../../src/serve/metrics.js";
import { operations } from "../../src/serve/operations/operations.js";
import { root, samples, temporaryDirectory } from "../acceptance/command.js";

const readme = readFileSync(join(root, "README.md"), "utf8");
const asked = [
  ...routes.map(({ method, path, operation: question }) => ({ method, path, scope: question.scope })),
  { method: "GET", path: builtInPaths.actions, scope: "read" },
  { method: "GET", path: "/metrics", scope: "read" },
];

describe("the pages about HTTP", () => {
  it.each(asked)("tell which scope $method $path needs", ({ method, path, scope }) => {
    const row = readme.split("\n").find((line) => line.startsWith("| `") && line.includes(`${path}\``)) ?? "";
    expect(row).toMatch(new RegExp(`^\\| \`${method} .* \\| \`${scope}\` +\\|$`));
    const line = topics["http"]?.().split("\n") ?? [];
    const found = line.find((each) => each.startsWith(`  ${method.padEnd(4)} ${path} `)) ?? "";
    expect(found).toMatch(new RegExp(` ${scope}$`));
  });

  it("name every metric", () => {
    const told = new Metrics({ inFlight: () => 0, decisions: () => 0, isStale: () => false }).text();
    const names = [...told.matchAll(/^# TYPE (\S+)/gm)].map((found) => found[1] ?? "");
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(readme).toContain(`\`${name}\``);
  });

  it("show rules that go by who asks, and deny those of whom nothing is known", async () => {
    const [, rule = ""] = /```yaml\n(- id: callers-are-known\n[\s\S]*?)```/.exec(readme) ?? [];
    const decisions = temporaryDirectory();
    const sample = readFileSync(join(samples, "wire-transfer.yaml"), "utf8");
    const indented = rule.replace(/^(?=.)/gm, "    ");
    writeFileSync(join(decisions, "gate.yaml"), sample.replace("  rules:\n", `  rules:\n${indented}`));
    const world = await compose({ decisions });
    const ask = async (caller?: AuthenticatedCaller): Promise<object> =>
      world.decide({
        decision_id: "gate-wire-approve",
        context: { amount: 10, payee: { country: "DE" } },
        ...(caller && { caller }),
      });
    const alice = {
      subject: "alice",
      issuer: "https://id.example",
      scopes: [],
      delegated: false,
      actors: [],
    };
    const agent = { ...alice, delegated: true, actors: [{ subject: "agent-7" }] };
    expect(await ask()).toMatchObject({ status: "RED", because: ["Nobody is known to ask"] });
    expect(await ask(alice)).toMatchObject({ status: "GREEN" });
    expect(await ask(agent)).toMatchObject({ status: "YELLOW", because: ["agent-7 asks for alice"] });
  });
});

describe("the pages about MCP", () => {
  it.each(operations.map(({ name, scope }) => ({ name, scope })))("list $name", ({ name, scope }) => {
    expect(readme).toMatch(new RegExp(`^\\| .*\`${name}\`.* \\| \`${scope}\` +\\|$`, "m"));
    expect(topics["mcp"]?.()).toMatch(new RegExp(`^ {2}${name} .* ${scope}$`, "m"));
  });
});
