import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { typed } from "./every-tool.js";
import { callTool, errorKey } from "../../../src/serve/mcp/call-tool.js";
import { listTools, actionToolNames } from "../../../src/serve/mcp/tools.js";
import { operations } from "../../../src/serve/operations/operations.js";
import { temporaryDirectory } from "../../acceptance/command.js";
import { alice, invocationOf, sampleWorld } from "../sample-world.js";

const key = (org_id: string, domain: string, action: string): Parameters<typeof actionToolNames>[0][0] => ({
  org_id,
  domain,
  action,
});

describe("the tool name of an action", () => {
  const nameOf = (...keys: Parameters<typeof actionToolNames>[0]): readonly string[] => [
    ...actionToolNames(keys).keys(),
  ];

  it("consists of organisation, domain and action", () => {
    expect(nameOf(key("acme", "payments", "wire.approve"))).toEqual([typed]);
    expect(nameOf(key("a-b", "c/d", "é x"))).toEqual(["decide_a-b_c_d___x"]);
  });

  it("is limited to 64 characters", () => {
    const [one = "", two = "", ...more] = nameOf(
      key("acme", "payments", `${"x".repeat(80)}1`),
      key("acme", "payments", `${"x".repeat(80)}2`),
    );
    expect(more).toEqual([]);
    for (const name of [one, two]) expect(name).toMatch(/^[A-Za-z0-9_-]{64}$/);
    expect(one).not.toBe(two);
  });

  it("is unique, and does not change when another action is added", () => {
    const [first, second, third] = [key("a", "b", "c.d"), key("a", "b", "c_d"), key("a", "b.c", "d")];
    const names = nameOf(first, second, third);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^decide_a_b_c_d_[0-9a-f]{8}$/);
    expect(nameOf(third, first)).toEqual([names[2], names[0]]);
  });

  it("is left out if it is not unique", () => {
    const clash = [key("a", "b", "c.d"), key("a", "b", "c_d")];
    const [hashed = ""] = nameOf(...clash);
    const forged = key("a", "b", hashed.replace("decide_a_b_", ""));
    expect(nameOf(...clash, forged)).not.toContain(hashed);
  });
});

const gate = (index: number): string => `
decision:
  id: gate-${index}
  name: Gate ${index}
  version: "1.0.0"
  type: gate
  action: { org: org-${index % 5}, domain: d, name: act-${index} }
  rules:
    - { id: always, tier: T3, severity: 1, when: "true", status: GREEN, reason: fine }
`;

describe("a list of tools", () => {
  it("contains the ids of all decisions", async () => {
    const world = await sampleWorld();
    const tools = await listTools(invocationOf(world));
    const named = tools.filter(({ inputSchema }) => {
      const id = inputSchema.properties?.["decision_id"] as { readonly enum?: unknown } | undefined;
      return id?.enum !== undefined;
    });
    expect(named.map(({ name }) => name)).toEqual(["evaluate"]);
    expect(named[0]?.inputSchema.properties?.["decision_id"]).toMatchObject({ enum: world.definitions.ids });
  });

  it("has less than 16,000 bytes for the samples", async () => {
    const tools = await listTools(invocationOf(await sampleWorld()));
    const answer = { result: { tools, resultType: "complete" }, jsonrpc: "2.0", id: 1 };
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(16_000);
  });

  it("keeps the context schema of an action as it is written", async () => {
    const tools = await listTools(invocationOf(await sampleWorld()));
    const { inputSchema } = tools.find(({ name }) => name === typed) ?? {};
    expect(inputSchema?.properties?.["context"]).toMatchObject({
      required: ["amount", "payee"],
      properties: { amount: { type: "number", minimum: 0 } },
    });
  });

  it("annotates each tool with its effects", async () => {
    const tools = await listTools(invocationOf(await sampleWorld()));
    for (const { name, annotations } of tools) {
      const readOnly = operations.find((each) => each.name === name)?.readOnly ?? false;
      expect(annotations, name).toMatchObject({
        readOnlyHint: readOnly,
        ...(!readOnly && { destructiveHint: false }),
        openWorldHint: false,
      });
    }
  });

  it("leaves out action tools for callers with many gates", async () => {
    const decisions = join(temporaryDirectory(), "decisions");
    mkdirSync(decisions);
    const gates = Array.from({ length: 201 }, (_, index) => gate(index));
    writeFileSync(join(decisions, "gates.yaml"), gates.join("---"));
    const world = await sampleWorld(decisions);
    expect(world.definitions.ids).toHaveLength(201);
    const tools = await listTools(invocationOf(world));
    expect(tools.map(({ name }) => name)).toEqual(operations.map(({ name }) => name));
    const evaluate = tools.find(({ name }) => name === "evaluate");
    expect(evaluate?.inputSchema.properties?.["decision_id"]).not.toHaveProperty("enum");
    const caller = { ...alice, org_id: "org-1" };
    const own = await listTools(invocationOf(world, { caller }));
    expect(own.filter(({ name }) => name.startsWith("decide_org-1_d_act-"))).toHaveLength(40);
    expect(own).toHaveLength(operations.length + 40);
  });
});

describe("a server without tokens that offers some scopes", () => {
  it("lists and runs only their tools", async () => {
    const by = { ...invocationOf(await sampleWorld()), offered: ["decide"] } as const;
    const names = (await listTools(by)).map(({ name }) => name);
    const permitted = operations.filter(({ scope }) => scope === "decide").map(({ name }) => name);
    expect(names).toEqual([...permitted, typed]);
    const log = (): void => undefined;
    const refused = await callTool({ name: "find_records", arguments: {} }, by, log);
    expect(refused).toMatchObject({
      isError: true,
      _meta: { [errorKey]: { code: "forbidden", details: { scope: "audit" } } },
    });
    const call = { name: "check_tool_call", arguments: { tool: "t", params: {}, session_id: "s" } };
    expect((await callTool(call, by, log)).isError).toBeUndefined();
  });
});
