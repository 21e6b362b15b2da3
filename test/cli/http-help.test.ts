import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compose } from "../../src/compose.js";
import type { AuthenticatedCaller } from "../../src/model/record.js";
import { builtInPaths, routes } from "../../src/serve/http/routes.js";
import { Metrics } from "../../src/serve/metrics.js";
import { operations } from "../../src/serve/operations/operations.js";
import { root, temporaryDirectory } from "../acceptance/command.js";

const [http = "", mcp = ""] = ["http", "mcp"].map((page) =>
  readFileSync(join(root, `docs/${page}.md`), "utf8"),
);
const asked = [
  ...routes.map(({ method, path, operation }) => ({ method, path, scope: operation.scope })),
  { method: "GET", path: builtInPaths.actions, scope: "read" },
  { method: "GET", path: "/metrics", scope: "read" },
];

describe("the pages about HTTP", () => {
  it.each(asked)("tell which scope $method $path needs", ({ method, path, scope }) => {
    const row = http.split("\n").find((line) => line.startsWith(`| \`${method} ${path}\``)) ?? "";
    expect(row).toMatch(new RegExp(` \\| \`${scope}\` +\\|$`));
  });

  it("name every metric", () => {
    const told = new Metrics({ inFlight: () => 0, decisions: () => 0, isStale: () => false }).text();
    const names = [...told.matchAll(/^# TYPE (\S+)/gm)].map((found) => found[1] ?? "");
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(http).toContain(`\`${name}\``);
  });

  it("show rules on the caller that refuse unauthenticated callers", async () => {
    const [, gate = ""] = /```yaml\n(decision:\n {2}id: callers\n[\s\S]*?)```/.exec(http) ?? [];
    const decisions = temporaryDirectory();
    writeFileSync(join(decisions, "gate.yaml"), gate);
    const world = await compose({ decisions });
    const ask = async (caller?: AuthenticatedCaller): Promise<object> =>
      world.decide({
        decision_id: "callers",
        context: {},
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
    expect(await ask()).toMatchObject({ status: "RED", because: ["The caller is not authenticated"] });
    expect(await ask(alice)).toMatchObject({ status: "GREEN" });
    expect(await ask(agent)).toMatchObject({ status: "YELLOW", because: ["agent-7 acts for alice"] });
  });
});

describe("the pages about MCP", () => {
  it.each(operations.map(({ name, scope }) => ({ name, scope })))("list $name", ({ name, scope }) => {
    expect(mcp).toMatch(new RegExp(`^\\| \`${name}\` .* \\| \`${scope}\` +\\|$`, "m"));
  });
});
