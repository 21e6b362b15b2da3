import type { Client } from "@modelcontextprotocol/client";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { operations } from "../../../src/serve/operations/operations.js";

export const typed = "decide_acme_payments_wire_approve";
export const routine = { amount: 250, payee: { country: "DE" } };
const quality = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 0.9 } } };
const call = { tool: "select_metric", session_id: "s-1" };
const session = { query: { audience: "team", segment: "smb" } };
const wire = { org_id: "acme", domain: "payments", action: "wire.approve" };

/** The arguments of each tool and part of its answer, in an order that works. */
const asked: Readonly<Record<string, (recordId: string) => readonly [object, object]>> = {
  decide: () => [
    { ...wire, context: routine },
    { status: "GREEN", work_frame: { mode: "execute" } },
  ],
  [typed]: () => [{ context: { ...routine, amount: 50_000 } }, { status: "YELLOW" }],
  list_actions: () => [{}, { actions: [{ ...wire, latest: true }] }],
  list_decisions: () => [{}, { decisions: expect.any(Array) as unknown }],
  show_decision: () => [{ decision_id: "gate-wire-approve" }, { id: "gate-wire-approve", type: "gate" }],
  evaluate: () => [quality, { selected_targets: ["stage-deploy"] }],
  dry_run: () => [quality, { selected_targets: ["stage-deploy"], dry_run: true }],
  check_tool_call: () => [{ ...call, params: { name: "churn" }, session }, { allowed: true }],
  record_tool_result: () => [{ ...call, ok: true }, { ok: true }],
  find_records: () => [{ limit: 1 }, { records: [{ decision_id: expect.any(String) as unknown }] }],
  show_record: (record_id) => [{ record_id }, { record_id, kind: "decision" }],
  explain_record: (record_id) => [{ record_id }, { record_id, explanation: { intact: true } }],
  find_precedents: (record_id) => [{ record_id }, { record_id }],
};

/** Validates like an independent client. */
const accepts = (schema: object | undefined, answer: unknown): boolean =>
  schema !== undefined && new Ajv2020({ allowUnionTypes: true }).validate(schema, answer);

/** Lists the tools and calls each one. */
export async function callEveryTool(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([...operations.map(({ name }) => name), typed]);
  expect(Object.keys(asked).sort()).toEqual([...names].sort());
  const schemas = new Map(tools.map(({ name, outputSchema }) => [name, outputSchema]));
  let recordId = "";
  for (const [name, ask] of Object.entries(asked)) {
    const [given, answer] = ask(recordId);
    const result = await client.callTool({ name, arguments: { ...given } });
    expect(result, name).toMatchObject({ structuredContent: answer });
    expect(result.isError, name).toBeUndefined();
    expect(accepts(schemas.get(name), result.structuredContent), name).toBe(true);
    expect(accepts(schemas.get(name), {}), name).toBe(false);
    const [content] = result.content as readonly { readonly type: string; readonly text: string }[];
    expect(content?.type).toBe("text");
    expect(JSON.parse(content?.text ?? "")).toEqual(result.structuredContent);
    if (name === "decide") recordId = (result.structuredContent as { record_id: string }).record_id;
  }
}

/** Reads a resource of each kind, from the list and from its template. */
export async function readEveryResource(client: Client): Promise<void> {
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "agent33://definitions/{id}",
    "agent33://records/{record_id}",
  ]);
  const kinds = new Set(resources.map(({ uri }) => new URL(uri).host));
  expect([...kinds]).toEqual(["definitions", "records"]);
  for (const { uri, name } of resources) {
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: "application/json" }]);
    const [{ text } = { text: "" }] = contents as readonly { readonly text: string }[];
    const read = JSON.parse(text) as Readonly<Record<string, unknown>>;
    expect(uri.startsWith("agent33://records/") ? read["record_id"] : read["id"]).toBe(name);
  }
}
