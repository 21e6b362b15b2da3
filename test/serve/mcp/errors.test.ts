import type { Client } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, it } from "vitest";
import { errorKey } from "../../../src/serve/mcp/call-tool.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { sampleWorld } from "../sample-world.js";
import { routine, typed } from "./every-tool.js";
import { connectHttp, optionsOf, serveHttp } from "./serving.js";

let world: ServedWorld;
let client: Client;

beforeAll(async () => {
  world = await sampleWorld();
  const { url } = await serveHttp(optionsOf({ world: () => world }));
  client = await connectHttp(url);
});

describe("a failed tool call", () => {
  it.each([
    {
      name: "an unknown key",
      call: { name: typed, arguments: { contxt: routine } },
      code: "input_invalid",
      text: "error: `context` is missing; unknown key `contxt`\nhint: did you mean `context`?",
    },
    {
      name: "an unknown decision",
      call: { name: "evaluate", arguments: { decision_id: "decision-quality-gat", context: {} } },
      code: "definition_not_found",
      text: /^error: .*\nhint: did you mean `decision-quality-gate`\?$/,
    },
    {
      name: "an unknown record",
      call: { name: "explain_record", arguments: { record_id: "ffff" } },
      code: "record_not_found",
      text: /^error: record `ffff` not found\nhint: /,
    },
    {
      name: "nothing at all",
      call: { name: "show_decision" },
      code: "input_invalid",
      text: /^error: `decision_id` is missing/,
    },
  ])("is a result with a hint: $name", async ({ call, code, text }) => {
    const result = await client.callTool(call);
    expect(result).toMatchObject({ isError: true, _meta: { [errorKey]: { code } } });
    expect(result).not.toHaveProperty("structuredContent");
    const [content] = result.content as readonly { readonly text: string }[];
    if (typeof text === "string") expect(content?.text).toBe(text);
    else expect(content?.text).toMatch(text);
  });

  it("leaves the validation of the context to the gate", async () => {
    const call = { name: typed, arguments: { context: { amount: "much", payee: {} } } };
    expect(await client.callTool(call)).toMatchObject({
      structuredContent: { status: "YELLOW", work_frame: { missing_evidence: ["payee.country"] } },
    });
  });

  it("is a protocol error for an unknown tool, with a suggestion", async () => {
    await expect(client.callTool({ name: "evaluat" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("did you mean `evaluate`?") as unknown,
    });
  });
});

describe("a resource", () => {
  it.each([
    { name: "no such record", uri: "agent33://records/ffff" },
    { name: "no such decision", uri: "agent33://definitions/nothing" },
    { name: "broken letters", uri: "agent33://definitions/%ff" },
    { name: "a deeper path", uri: "agent33://definitions/a/b" },
    { name: "no id", uri: "agent33://definitions/" },
    { name: "another kind", uri: "agent33://else/x" },
    { name: "a file", uri: "file:///etc/passwd" },
    { name: "an endless id", uri: `agent33://definitions/${"x".repeat(2000)}` },
  ])("is not found: $name", async ({ uri }) => {
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } });
  });

  it.each([
    {
      uri: "agent33://definitions/nothing",
      message: /nothing.*; the tool `list_decisions` lists all decisions$/,
    },
    {
      uri: "agent33://records/zzzz",
      message: /record `zzzz` not found; use a record's id, a prefix of it, its number, or `latest`$/,
    },
  ])("has an error without commands if it is not found: $uri", async ({ uri, message }) => {
    await client.callTool({ name: typed, arguments: { context: routine } });
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      message: expect.stringMatching(message) as unknown,
    });
  });

  it("completes existing ids", async () => {
    const ref = { type: "ref/resource", uri: "agent33://definitions/{id}" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "id", value: "gate-" } });
    expect(completion).toEqual({ values: ["gate-wire-approve"], total: 1, hasMore: false });
    const decided = await client.callTool({ name: typed, arguments: { context: routine } });
    const { record_id } = decided.structuredContent as { record_id: string };
    const records = { type: "ref/resource", uri: "agent33://records/{record_id}" } as const;
    const argument = { name: "record_id", value: record_id.slice(0, 30) };
    const found = await client.complete({ ref: records, argument });
    expect(found.completion.values).toContain(record_id);
  });

  it.each([
    { ref: { type: "ref/resource", uri: "agent33://else/{id}" }, name: "id" },
    { ref: { type: "ref/resource", uri: "agent33://definitions/{id}" }, name: "record_id" },
    { ref: { type: "ref/prompt", name: "x" }, name: "id" },
  ] as const)("completes nothing else: $ref, $name", async ({ ref, name }) => {
    await expect(client.complete({ ref, argument: { name, value: "" } })).rejects.toMatchObject({
      code: -32602,
    });
  });
});
