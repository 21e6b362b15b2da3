import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compose } from "../../../src/compose.js";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { samples, sampleWorld } from "../sample-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../auth/token-world.js";
import { goodRequest } from "./hostile-requests.js";
import { rawExchange } from "./raw-exchange.js";
import type { Serving } from "./serving.js";
import { get, post, routineWire, serving } from "./serving.js";

let world: ServedWorld;

beforeAll(async () => {
  world = await sampleWorld();
});

type Line = Readonly<Record<string, unknown>>;

/** Returns the request entries of the log once it has `count` of them. */
async function requestsOf(server: Serving, count: number): Promise<readonly Line[]> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const lines = (await server.logged()).split("\n").slice(0, -1);
    const requests = lines
      .map((line) => JSON.parse(line) as Line)
      .filter(({ message }) => message === "request");
    if (requests.length >= count) return requests;
  }
}

interface Told {
  readonly record_id?: string;
}

const call = { tool: "select_metric", params: { name: "churn" }, session_id: "s-1" };
const incomplete = goodRequest().subarray(0, -10);

describe("the request log", () => {
  it("shows a timeout of a slow body", async () => {
    const hasty = await serving({ world, requestTimeout: 100 });
    const [answer] = await rawExchange(hasty.port, incomplete);
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({
      status: 408,
      code: "request_timeout",
      hint: "send the request within 0.1 s; the server option --request-timeout sets this limit",
    });
    expect(await requestsOf(hasty, 1)).toMatchObject([
      { level: "info", method: "POST", route: "/decide", status: 408, code: "request_timeout" },
    ]);
    expect(hasty.metrics.text()).toContain('{method="POST",route="/decide",status="408"} 1\n');
  });

  it("tells requests aborted by the shutdown from disconnected clients", async () => {
    const ending = await serving({ world });
    const sockets = [1, 2].map(() => connect(ending.port, "127.0.0.1").on("error", () => undefined));
    for (const socket of sockets) socket.write(incomplete);
    while (ending.server.inFlight() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const drained = ending.server.drain(300);
    sockets[0]?.destroy();
    await drained;
    const [gone, cut, ...others] = await requestsOf(ending, 2);
    expect(gone).toMatchObject({ level: "info", route: "/decide", status: 499, code: "client_disconnected" });
    expect(cut).toMatchObject({ level: "error", route: "/decide", status: 503, code: "shut_down" });
    expect(others).toEqual([]);
  });

  it.each(["destroy", "resetAndDestroy"] as const)(
    "shows an incomplete request as a disconnected client: %s",
    async (leave) => {
      const server = await serving({ world });
      const socket = connect(server.port, "127.0.0.1");
      socket.write(incomplete);
      while (server.server.inFlight() < 1) await new Promise((resolve) => setTimeout(resolve, 5));
      socket[leave]();
      expect(await requestsOf(server, 1)).toMatchObject([
        { level: "info", route: "/decide", status: 499, code: "client_disconnected" },
      ]);
      expect(server.metrics.text()).toContain('{method="POST",route="/decide",status="499"} 1\n');
    },
  );

  it.each<[string, string | Uint8Array, number, string]>([
    ["what is no request", "nonsense\r\n\r\n", 400, "bad_request"],
    ["headers that time out", "POST /decide HTTP/1.1\r\nHost: localhost\r\n", 408, "request_timeout"],
    [
      "headers that are too large",
      goodRequest({ more: [`X: ${"x".repeat(20_000)}`] }),
      431,
      "request_header_fields_too_large",
    ],
    ["a CONNECT request", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed"],
    ["another expectation", goodRequest({ more: ["Expect: secret-of-ours"] }), 417, "expectation_failed"],
  ])("shows %s without its content", async (_name, bytes, status, code) => {
    const server = await serving({ world, requestTimeout: 100 });
    const [answer] = await rawExchange(server.port, bytes);
    expect(answer?.status).toBe(status);
    const [line, ...others] = await requestsOf(server, 1);
    const { time, ...entry } = line ?? {};
    expect(time).toBeDefined();
    expect(entry).toEqual({
      level: "info",
      message: "request",
      method: "unknown",
      route: "unknown",
      status,
      code,
    });
    expect(others).toEqual([]);
    expect(server.metrics.text()).toContain(`{method="unknown",route="unknown",status="${status}"} 1\n`);
  });

  it("shows garbage after a request as a separate entry", async () => {
    const server = await serving({ world });
    await rawExchange(server.port, [goodRequest(), "nonsense\r\n\r\n"], { answers: 2 });
    const entry = (await requestsOf(server, 2)).map(
      ({ route, status }) => `${String(route)} ${String(status)}`,
    );
    expect(entry.sort()).toEqual(["/decide 200", "unknown 400"]);
  });

  it("shows why a token was rejected, and nothing of the token", async () => {
    const tokens = await tokenWorld();
    const authenticate = await openAuthenticator(optionsOf(tokens, keyFile(keySet(tokens))));
    const server = await serving({ world, authenticate });
    const token = tokenOf(tokens, { claims: { exp: tokens.now - 600, sub: "secret-subject" } });
    await post(server, "/decide", routineWire);
    await post(server, "/decide", routineWire, { authorization: `Bearer ${token}` });
    expect(await requestsOf(server, 2)).toMatchObject([
      { status: 401, code: "unauthorized", detail: "a bearer token is required" },
      { status: 401, code: "unauthorized", detail: "the token has expired" },
    ]);
    const logged = await server.logged();
    expect(logged).not.toContain("secret-subject");
    for (const part of token.split(".")) expect(logged).not.toContain(part);
  });

  it.each([
    { name: "a decision", path: "/decide", body: routineWire },
    { name: "a call, by the first of its decisions", path: "/check", body: call },
  ])("has the record id of $name", async ({ path, body }) => {
    const server = await serving({ world });
    const answer = await post(server, path, body);
    const { record_id, decisions } = answer.body as Told & { readonly decisions?: readonly Told[] };
    const [line] = await requestsOf(server, 1);
    expect(line).toMatchObject({ route: path, status: 200, record_id: expect.any(String) as unknown });
    expect(line?.["record_id"]).toBe(record_id ?? decisions?.[0]?.record_id);
  });

  it("has no record id if nothing was recorded", async () => {
    const server = await serving({ world });
    await post(server, "/check", { ...call, dry_run: true });
    const [line] = await requestsOf(server, 1);
    expect(line).toMatchObject({ route: "/check", status: 200 });
    expect(line).not.toHaveProperty("record_id");
  });

  it("shows why the server was not ready, without paths", async () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-33-unready-"));
    const own = await compose({ decisions: samples, store: { directory, durability: "fast" }, env: {} });
    const server = await serving({ world: { ...own, records: own.records! } });
    await get(server, "/readyz");
    rmSync(join(directory, "log"), { recursive: true, force: true });
    writeFileSync(join(directory, "log"), "");
    await get(server, "/readyz");
    const [ready, unready] = await requestsOf(server, 2);
    expect(ready).toMatchObject({ level: "info", route: "/readyz", status: 200 });
    expect(ready).not.toHaveProperty("code");
    expect(unready).toMatchObject({
      level: "error",
      route: "/readyz",
      status: 503,
      code: "not_ready",
      detail: "the store cannot be used",
    });
    await own.close();
  });

  it("leaves out the details of other errors", async () => {
    const server = await serving({ world });
    await post(server, "/decide", { ...routineWire, "secret-key": 1 });
    const [line] = await requestsOf(server, 1);
    expect(line).toMatchObject({ status: 400, code: "input_invalid" });
    expect(JSON.stringify(line)).not.toContain("secret-key");
  });
});
