import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMcpHttp } from "../../../src/serve/mcp/http.js";
import type { McpLogEntry } from "../../../src/serve/mcp/server.js";
import { alice } from "../sample-world.js";
import { typed } from "../mcp/every-tool.js";
import type { Answered, Serving, ServingOptions } from "./serving.js";
import { get, post, routine, routineWire, serving } from "./serving.js";

const entries: McpLogEntry[] = [];

/** A server with MCP. */
async function withMcp(options: ServingOptions = {}): Promise<Serving> {
  const mcp = createMcpHttp({
    world: () => server.reloadingWorld.current,
    subscribe: () => () => undefined,
    log: (entry) => void entries.push(entry),
    version: "1.2.3",
  });
  const server: Serving = await serving({ ...options, mcp: mcp.handle });
  afterAll(() => mcp.close());
  return server;
}

const agent = { accept: "application/json, text/event-stream" };

interface Call {
  readonly name: string;
  readonly arguments: object;
  readonly _meta?: object;
}

const call = (
  server: Serving,
  params: Call,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> =>
  post(server, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, { ...agent, ...headers });

const decide: Call = { name: "decide", arguments: routineWire };
const typedCall: Call = { name: typed, arguments: { context: routine } };

describe("MCP over HTTP", () => {
  let server: Serving;

  beforeAll(async () => {
    server = await withMcp();
  });

  it.each([
    { by: "the header", params: decide, headers: { "x-correlation-id": "c-header" }, id: "c-header" },
    {
      by: "`_meta` of the call",
      params: { ...decide, _meta: { correlation_id: "c-meta" } },
      headers: { "x-correlation-id": "c-header" },
      id: "c-meta",
    },
    {
      by: "the arguments of the tool",
      params: {
        name: "decide",
        arguments: { ...routineWire, correlation_id: "c-given" },
        _meta: { correlation_id: "c-meta" },
      },
      headers: {},
      id: "c-given",
    },
    {
      by: "the trace of the call",
      params: { ...decide, _meta: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` } },
      headers: {},
      id: "a".repeat(32),
    },
  ])("echoes, logs and records the correlation id from $by", async ({ params, headers, id }) => {
    const answer = await call(server, params, headers);
    expect([answer.status, answer.headers.get("x-correlation-id")]).toEqual([200, id]);
    const { records } = (await get(server, `/records?correlation_id=${id}`)).body as {
      readonly records: readonly unknown[];
    };
    expect(records).toHaveLength(1);
    expect(await server.logged()).toContain(`"route":"/mcp","status":200,`);
    expect(await server.logged()).toContain(`"correlation_id":"${id}"`);
  });

  it("adds CORS headers for an allowed origin", async () => {
    const { headers } = await call(server, decide, { origin: "https://app.example" });
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example");
  });

  it("logs each call with tool and record id, without its arguments", async () => {
    entries.length = 0;
    const secret = "sesame-4711";
    await call(server, { name: typed, arguments: { context: { ...routine, note: secret } } });
    await call(server, {
      name: "check_tool_call",
      arguments: { tool: "t", params: { secret }, session_id: "s" },
    });
    await call(server, { name: "decide", arguments: { [secret]: secret } });
    await call(server, { name: secret, arguments: {} });
    const common = { level: "info", event: "called", duration_ms: expect.any(Number) as unknown };
    const record_id = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown;
    expect(entries).toEqual([
      { ...common, tool: typed, record_id },
      { ...common, tool: "check_tool_call", record_id },
      { ...common, tool: "decide", code: "input_invalid" },
    ]);
  });

  it("rejects batches, whose calls would escape the rate limits", async () => {
    const before = await server.recorded();
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: decide };
    const { status, body } = await post(server, "/mcp", [message, message], agent);
    expect(status).toBe(400);
    expect(body).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "batches are not supported" },
    });
    expect(await server.recorded()).toBe(before);
  });

  it("logs the caller", async () => {
    const caller = { ...alice, delegated: true, actors: [{ subject: "agent-7" }] };
    const guarded = await withMcp({ authenticate: () => Promise.resolve(caller) });
    entries.length = 0;
    await call(guarded, decide);
    expect(entries).toMatchObject([{ tool: "decide", caller: "alice", actors: ["agent-7"] }]);
  });
});

describe("the rate limit of an organisation", () => {
  it.each([
    { name: "the tool of an action", params: typedCall },
    { name: "a tool with the organisation as argument", params: decide },
  ])("counts $name", async ({ params }) => {
    const server = await withMcp({ rateLimits: { org: { count: 2, per: 60_000 } } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await call(server, params)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(await server.recorded()).toBe(2);
    expect((await post(server, "/decide", routineWire)).status).toBe(429);
  });
});
