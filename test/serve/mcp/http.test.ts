import { beforeAll, describe, expect, it } from "vitest";
import { errorKey } from "../../../src/serve/mcp/call-tool.js";
import type { AuthenticatedCaller } from "../../../src/model/record.js";
import type { RequestIdentity } from "../../../src/serve/operations/operation.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { alice, sampleWorld } from "../sample-world.js";
import { callEveryTool, readEveryResource, routine, typed } from "./every-tool.js";
import { changes, connectHttp, current, anonymous, optionsOf, revisions, serveHttp } from "./serving.js";

let world: ServedWorld;
beforeAll(async () => {
  world = await sampleWorld();
});

const called = (caller: Partial<AuthenticatedCaller>): RequestIdentity => ({
  ...anonymous,
  caller: { ...alice, ...caller },
});

describe("over HTTP", () => {
  it.each(revisions)("answers every tool and resource in $name", async ({ name, options }) => {
    const { url } = await serveHttp(optionsOf({ world: () => world }));
    const client = await connectHttp(url, options);
    expect(client.getNegotiatedProtocolVersion()).toBe(name);
    expect(client.getServerVersion()).toMatchObject({ name: "agent-33", version: "1.2.3" });
    expect(client.getInstructions()).toContain("Before you act, call `decide`");
    await callEveryTool(client);
    await readEveryResource(client);
  });

  it("reads the body itself if it is not parsed", async () => {
    const { url } = await serveHttp(optionsOf({ world: () => world }), { parse: false });
    const client = await connectHttp(url);
    expect(await client.callTool({ name: "list_actions" })).toMatchObject({
      structuredContent: { actions: [{ org_id: "acme" }] },
    });
  });

  it.each(["GET", "DELETE"])("has no sessions for %s", async (method) => {
    const { url } = await serveHttp(optionsOf({ world: () => world }));
    const response = await fetch(url, { method, headers: { "mcp-session-id": "somebody-elses" } });
    expect(response.status).toBe(405);
  });

  it.each([
    { name: "text that is no JSON", body: "{", type: "application/json", status: 400 },
    { name: "another content type", body: "{}", type: "text/plain", status: 415 },
    { name: "JSON that is no message", body: '{"jsonrpc":"1.0"}', type: "application/json", status: 400 },
  ])("refuses $name", async ({ body, type, status }) => {
    const { url } = await serveHttp(optionsOf({ world: () => world }), { parse: false });
    const headers = { "content-type": type, accept: "application/json, text/event-stream" };
    expect((await fetch(url, { method: "POST", body, headers })).status).toBe(status);
  });

  it("adds exactly one record for each of fifty concurrent calls", async () => {
    const { url } = await serveHttp(optionsOf({ world: () => world }));
    const client = await connectHttp(url);
    const calls = Array.from({ length: 50 }, (_, index) =>
      client.callTool({ name: typed, arguments: { context: routine, correlation_id: `crowd-${index}` } }),
    );
    const answers = await Promise.all(calls);
    const ids = answers.map((each) => (each.structuredContent as { record_id: string }).record_id);
    expect(new Set(ids).size).toBe(50);
    for (const [index, record_id] of ids.entries()) {
      const found = await client.callTool({
        name: "find_records",
        arguments: { correlation_id: `crowd-${index}` },
      });
      expect(found.structuredContent).toMatchObject({ records: [{ record_id }] });
      expect((found.structuredContent as { records: object[] }).records).toHaveLength(1);
    }
  });
});

describe("the caller", () => {
  it("is recorded with the correlation id", async () => {
    const by = { ...called({}), correlationId: "of-the-request" };
    const { url } = await serveHttp(optionsOf({ world: () => world }), { by });
    const client = await connectHttp(url);
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const cases = [
      { _meta: undefined, correlation_id: "of-the-request" },
      { _meta: { traceparent }, correlation_id: "4bf92f3577b34da6a3ce929d0e0e4736" },
      { _meta: { traceparent: "00-nonsense" }, correlation_id: "of-the-request" },
      { _meta: { traceparent, correlation_id: "of-the-call" }, correlation_id: "of-the-call" },
    ];
    for (const { _meta, correlation_id } of cases) {
      const { structuredContent } = await client.callTool({
        name: typed,
        arguments: { context: routine },
        ...(_meta && { _meta }),
      });
      const { record_id } = structuredContent as { record_id: string };
      const shown = await client.callTool({ name: "show_record", arguments: { record_id } });
      expect(shown.structuredContent).toMatchObject({
        correlation_id,
        facts: { authenticated_caller: { subject: "alice" } },
      });
    }
    const odd = await client.callTool({
      name: typed,
      arguments: { context: routine },
      _meta: { correlation_id: 7 },
    });
    expect(odd).toMatchObject({ isError: true, _meta: { [errorKey]: { code: "input_invalid" } } });
  });

  it("sees only the tools and resources that its scopes permit", async () => {
    const { url } = await serveHttp(optionsOf({ world: () => world }), { by: called({ scopes: ["read"] }) });
    const client = await connectHttp(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["list_actions", "list_decisions", "show_decision"]);
    const { resources } = await client.listResources();
    expect(resources.every(({ uri }) => uri.startsWith("agent33://definitions/"))).toBe(true);
    const refused = await client.callTool({ name: typed, arguments: { context: routine } });
    expect(refused).toMatchObject({ isError: true, _meta: { [errorKey]: { code: "forbidden" } } });
    await expect(client.readResource({ uri: "agent33://records/latest" })).rejects.toMatchObject({
      code: -32600,
      data: { error: { code: "forbidden" } },
    });
    const ref = { type: "ref/resource", uri: "agent33://records/{record_id}" } as const;
    const { completion } = await client.complete({ ref, argument: { name: "record_id", value: "" } });
    expect(completion.values).toEqual([]);
  });

  it("cannot find records of another organisation", async () => {
    const { url } = await serveHttp(optionsOf({ world: () => world }), {
      by: called({ org_id: "umbrella" }),
    });
    const client = await connectHttp(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain(typed);
    const evaluate = tools.find(({ name }) => name === "evaluate")?.inputSchema.properties?.["decision_id"];
    expect((evaluate as { enum: string[] }).enum).not.toContain("gate-wire-approve");
    await expect(client.callTool({ name: typed, arguments: { context: routine } })).rejects.toMatchObject({
      code: -32602,
    });
    const gate = "agent33://definitions/gate-wire-approve";
    expect((await client.listResources()).resources.map(({ uri }) => uri)).not.toContain(gate);
    await expect(client.readResource({ uri: gate })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^no decision called `gate-wire-approve`/) as unknown,
    });
  });
});

describe("a change of the definitions", () => {
  it("notifies subscribed clients", async () => {
    const feed = changes();
    const { url } = await serveHttp(optionsOf({ world: () => world, subscribe: feed.subscribe }));
    let heard: (what: string) => void = () => undefined;
    const notified = (what: string): Promise<string> =>
      new Promise((resolve) => {
        heard = (each) => each === what && resolve(each);
      });
    const options = { autoRefresh: false, debounceMs: 0 };
    await connectHttp(url, {
      ...current,
      listChanged: {
        tools: { ...options, onChanged: () => heard("tools") },
        resources: { ...options, onChanged: () => heard("resources") },
      },
    });
    for (const what of ["tools", "resources"]) {
      const next = notified(what);
      feed.tell();
      expect(await next).toBe(what);
    }
  });

  it("adds a tool for each new gate", async () => {
    let now = world;
    const { url } = await serveHttp(optionsOf({ world: () => now }));
    const client = await connectHttp(url);
    const before = (await client.listTools()).tools.length;
    now = { ...world, definitions: { ...world.definitions, summaries: [] } };
    expect((await client.listTools()).tools).toHaveLength(before - 1);
  });

  it("is not announced to clients that cannot subscribe", async () => {
    const { url } = await serveHttp(optionsOf({ world: () => world }));
    const client = await connectHttp(url, revisions[1]!.options);
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: false } });
  });
});

/** A world whose decisions wait until they are released. */
function heldWorld(): {
  world: ServedWorld;
  reached: Promise<void>;
  release: () => void;
  finished: string[];
} {
  let release: () => void = () => undefined;
  let begun: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (begun = resolve));
  const held = new Promise<void>((resolve) => (release = resolve));
  const finished: string[] = [];
  const slow: ServedWorld = {
    ...world,
    async decide(request) {
      begun();
      await held;
      const result = await world.decide(request);
      finished.push(result.record_id ?? "");
      return result;
    },
  };
  return { world: slow, reached, release, finished };
}

describe("closing", () => {
  it("finishes running requests, ends event streams and accepts no new requests", async () => {
    const { world: slow, reached, release } = heldWorld();
    const feed = changes();
    const { url, mcp } = await serveHttp(optionsOf({ world: () => slow, subscribe: feed.subscribe }));
    const client = await connectHttp(url);
    const listening = await client.listen({ toolsListChanged: true });
    const call = client.callTool({ name: typed, arguments: { context: routine } });
    await reached;
    const closed = mcp.close();
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(503);
    release();
    expect(await call).toMatchObject({ structuredContent: { status: "GREEN" } });
    await closed;
    expect(await listening.closed).toBeDefined();
    expect(feed.listeners.size).toBe(0);
  });

  it.each(revisions)("waits for a decision whose client has disconnected, in $name", async ({ options }) => {
    const { world: slow, reached, release, finished } = heldWorld();
    const { url, mcp } = await serveHttp(optionsOf({ world: () => slow }));
    const client = await connectHttp(url, options);
    const leaving = new AbortController();
    const call = client.callTool(
      { name: typed, arguments: { context: routine } },
      { signal: leaving.signal },
    );
    await reached;
    leaving.abort();
    await expect(call).rejects.toThrow();
    const closed = mcp.close();
    release();
    await closed;
    expect(finished).toHaveLength(1);
  });
});
