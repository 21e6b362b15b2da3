import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { once } from "node:events";
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { composeRecords } from "../../../src/compose.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { bin, cleanEnvironment, samples, temporaryDirectory } from "../../acceptance/command.js";
import { sampleWorld } from "../sample-world.js";
import { callEveryTool, readEveryResource, routine, typed } from "./every-tool.js";
import { garbage } from "./garbage.js";
import { changes, optionsOf, revisions } from "./serving.js";
import { open, opening, serveInProcess, sessionOver } from "./stdio-session.js";

const argumentsFor = (store: string): string[] => [
  bin,
  "decision",
  "mcp",
  ...["--decisions", samples, "--store", store, "--durability", "fast"],
];

function start(store = temporaryDirectory()): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, argumentsFor(store), {
    env: cleanEnvironment(),
  });
  afterAll(() => child.kill());
  return child;
}

const call = { name: typed, arguments: { context: routine } };

describe("the command", () => {
  it.each(revisions.slice(0, 2))("answers every tool and resource in $name", async ({ name, options }) => {
    const client = new Client({ name: "test", version: "1" }, options);
    const env = cleanEnvironment() as Record<string, string>;
    const args = argumentsFor(temporaryDirectory());
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(name);
    await callEveryTool(client);
    await readEveryResource(client);
    await client.close();
  });

  it("writes only protocol messages, whatever it receives, until a signal arrives", async () => {
    const child = start();
    const session = sessionOver(child.stdin, child.stdout);
    await open(session);
    for (const { sent } of garbage) session.send(sent);
    session.ask(99, "tools/call", call);
    for (let last = await session.next(); last.id !== 99;) last = await session.next();
    for (const line of session.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(session.lines).toHaveLength(2 + garbage.filter(({ answer }) => answer).length);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("answers fifty concurrent calls although the input ends, with a record for each", async () => {
    const store = temporaryDirectory();
    const child = start(store);
    const session = sessionOver(child.stdin, child.stdout);
    const exit = once(child, "exit");
    session.ask(0, "initialize", opening);
    for (let id = 1; id <= 50; id++) session.ask(id, "tools/call", call);
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    await session.next();
    const answered = new Set<string>();
    for (let id = 1; id <= 50; id++) {
      const answer = (await session.next()) as { result: { structuredContent: { record_id: string } } };
      answered.add(answer.result.structuredContent.record_id);
    }
    const { log, store: opened } = await composeRecords({ directory: store, durability: "fast" });
    const recorded: string[] = [];
    for await (const { record } of log.select({})) recorded.push(record.record_id);
    expect(recorded).toHaveLength(50);
    expect(new Set(recorded)).toEqual(answered);
    await opened.close();
  });
});

describe("over standard input and output", () => {
  let world: ServedWorld;
  beforeAll(async () => {
    world = await sampleWorld();
  });

  it.each(garbage)("continues after $name", async ({ sent, answer }) => {
    const session = serveInProcess(optionsOf({ world: () => world }));
    await open(session);
    session.send(sent);
    session.ask(2, "ping");
    if (answer !== undefined) {
      expect(await session.next()).toMatchObject({ id: answer.id, error: { code: answer.code } });
    }
    expect(await session.next()).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
    session.input.end();
    await session.ended;
  });

  it("reassembles messages from any chunks", async () => {
    const session = serveInProcess(optionsOf({ world: () => world }));
    await open(session);
    const text = '{"jsonrpc":"2.0","id":"ä","method":"ping"}\r\n{"jsonrpc":"2.0","id":"b","method":"ping"}';
    for (const byte of Buffer.from(`\ufeff${text}`)) session.send(Buffer.from([byte]));
    session.input.end();
    expect([await session.next(), await session.next()]).toMatchObject([{ id: "ä" }, { id: "b" }]);
    await session.ended;
  });

  it("redirects other output", async () => {
    const session = serveInProcess(optionsOf({ world: () => world }));
    session.output.write("from another writer\n");
    await open(session);
    session.input.end();
    await session.ended;
    expect(String(session.aside.read())).toBe("from another writer\n");
    expect(session.lines).toHaveLength(1);
    session.output.write("after\n");
    expect(await session.nextLine()).toBe("after");
  });

  it("answers running requests after the end of input, except cancelled ones", async () => {
    let release: () => void = () => undefined;
    let begun = 0;
    let both: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (both = resolve));
    const held = new Promise<void>((resolve) => (release = resolve));
    const finished: string[] = [];
    const slow: ServedWorld = {
      ...world,
      async decide(request) {
        if (++begun === 2) both();
        await held;
        const result = await world.decide(request);
        finished.push(result.record_id ?? "");
        return result;
      },
    };
    const session = serveInProcess(optionsOf({ world: () => slow }));
    await open(session);
    session.ask(1, "tools/call", call);
    session.ask(2, "tools/call", call);
    await reached;
    session.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n');
    session.input.end();
    release();
    await session.ended;
    expect(finished).toHaveLength(2);
    expect(await session.next()).toMatchObject({ id: 2, result: { structuredContent: { status: "GREEN" } } });
    expect(session.lines).toHaveLength(2);
  });

  it("stops when the output is closed", async () => {
    const session = serveInProcess(optionsOf({ world: () => world }));
    await open(session);
    session.output.destroy(new Error("EPIPE"));
    await session.ended;
  });

  it("notifies of changes once the client is initialized, until it disconnects", async () => {
    const feed = changes();
    const session = serveInProcess(optionsOf({ world: () => world, subscribe: feed.subscribe }));
    session.ask(0, "initialize", opening);
    await session.next();
    feed.tell();
    session.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    session.ask(1, "ping");
    await session.next();
    feed.tell();
    expect([await session.next(), await session.next()].map(({ method }) => method)).toEqual([
      "notifications/tools/list_changed",
      "notifications/resources/list_changed",
    ]);
    expect(session.lines).toHaveLength(4);
    session.input.end();
    await session.ended;
    expect(feed.listeners.size).toBe(0);
  });

  it("notifies subscribers in the current revision, and stops despite them", async () => {
    const feed = changes();
    const session = serveInProcess(optionsOf({ world: () => world, subscribe: feed.subscribe }));
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": opening.clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    session.ask(1, "subscriptions/listen", { _meta, notifications: { toolsListChanged: true } });
    expect(await session.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    feed.tell();
    expect(await session.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    session.input.end();
    await session.ended;
    expect(await session.next()).toMatchObject({ id: 1, result: {} });
    expect(session.lines).toHaveLength(3);
  });

  it("logs the details of a bug, and answers with an internal error", async () => {
    const log: object[] = [];
    const broken = { ...world, decide: () => Promise.reject(new Error("secret place")) };
    const session = serveInProcess(optionsOf({ world: () => broken, log: (entry) => log.push(entry) }));
    await open(session);
    session.ask(1, "tools/call", call);
    expect(await session.next()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "internal error" },
    });
    expect(log).toMatchObject([{ event: "bug", stack: expect.stringContaining("secret place") as unknown }]);
    session.input.end();
    await session.ended;
  });
});
