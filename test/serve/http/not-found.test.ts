import { beforeAll, describe, expect, it } from "vitest";
import type { Serving } from "./serving.js";
import { get, post, serving, wire } from "./serving.js";

let server: Serving;
const mcpCalls: unknown[] = [];

beforeAll(async () => {
  server = await serving({
    rateLimits: { org: { count: 2, per: 60_000 } },
    mcp: (_request, response, { body }) => {
      mcpCalls.push(body);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      return Promise.resolve();
    },
  });
});

describe("an unknown path", () => {
  it("refers to the OpenAPI document", async () => {
    expect(await get(server, "/")).toMatchObject({
      status: 404,
      body: { code: "not_found", hint: "`GET /openapi.json` lists all paths" },
    });
  });

  it("says how to enable MCP", async () => {
    expect((await get(await serving(), "/mcp")).body["hint"]).toContain("--mcp");
  });

  it.each(["DELETE", "PUT", "PATCH"])("rejects %s before it reads the body", async (method) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${server.url}/decide`, { method, headers, body: "" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    await answer.text();
  });

  it("says which content type to send", async () => {
    const answer = await fetch(`${server.url}/decide`, { method: "POST", body: "{}" });
    expect([answer.status, await answer.json()]).toMatchObject([
      415,
      { hint: "send JSON with `content-type: application/json`" },
    ]);
  });
});

it("counts tool calls for their organisation", async () => {
  const call = { method: "tools/call", params: { name: "decide", arguments: wire } };
  for (const status of [200, 200, 429]) expect((await post(server, "/mcp", call)).status).toBe(status);
  expect(mcpCalls).toEqual([call, call]);
  expect((await post(server, "/mcp", { method: "tools/list" })).status).toBe(200);
});
