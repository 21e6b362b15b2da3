import { connect } from "node:net";
import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { sampleWorld } from "../sample-world.js";
import { goodRequest } from "./hostile-requests.js";
import { rawExchange } from "./raw-exchange.js";
import type { Serving } from "./serving.js";
import { get, post, routine, routineWire, serving, wire } from "./serving.js";

let world: ServedWorld;
let server: Serving;

beforeAll(async () => {
  world = await sampleWorld();
  server = await serving({ world });
});

const statuses = (answers: readonly { readonly status: number }[]): readonly number[] =>
  answers.map(({ status }) => status);

/** The sample definitions; each decision waits until it is released. */
function gated(): {
  readonly world: ServedWorld;
  readonly arrived: () => Promise<void>;
  readonly letGo: () => void;
} {
  let letGo: () => void = () => undefined;
  let arrive: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  const came = new Promise<void>((resolve) => (arrive = resolve));
  const decide: ServedWorld["decide"] = async (request) => {
    arrive();
    await gate;
    return world.decide(request);
  };
  return { world: { ...world, decide }, arrived: () => came, letGo: () => letGo() };
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 400) throw new Error("it never came true");
    await pause(5);
  }
}

describe("an HTTP/1.1 connection", () => {
  it("answers pipelined requests in order", async () => {
    const before = await server.recorded();
    const large = JSON.stringify({ ...wire, context: { ...routine, amount: 20_000 } });
    const answers = await rawExchange(
      server.port,
      [
        goodRequest(),
        goodRequest({ body: large }),
        goodRequest({ line: "GET /healthz HTTP/1.1", body: "", type: "" }),
      ],
      { answers: 3 },
    );
    expect(answers.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual([
      "GREEN",
      "YELLOW",
      "ok",
    ]);
    expect(await server.recorded()).toBe(before + 2);
  });

  it("answers a request before it rejects the bytes after it", async () => {
    const answers = await rawExchange(server.port, [goodRequest(), "nonsense\r\n\r\n"], { answers: 2 });
    expect(statuses(answers)).toEqual([200, 400]);
  });

  it("answers a broken body once", async () => {
    const head = goodRequest({ length: null, more: ["Transfer-Encoding: chunked"], body: "" });
    const answers = await rawExchange(server.port, [goodRequest(), head, "zz\r\n"], { answers: 3 });
    expect(statuses(answers)).toEqual([200, 400]);
  });

  it.each([
    "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    "Upgrade: websocket\r\nSec-WebSocket-Key: dGhl",
  ])("ignores an upgrade: %s", async (upgrade) => {
    const answers = await rawExchange(server.port, goodRequest({ more: ["Connection: Upgrade", upgrade] }));
    expect(statuses(answers)).toEqual([200]);
  });

  it("supports `expect: 100-continue`", async () => {
    const socket = connect(server.port, "127.0.0.1");
    const body = JSON.stringify(routineWire);
    socket.write(goodRequest({ more: ["Expect: 100-continue"], length: body.length, body: "" }));
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(body);
    const [second] = (await once(socket, "data")) as [Buffer];
    expect(second.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });

  it("accepts chunked bodies, absolute URLs and any spelling of UTF-8", async () => {
    const body = JSON.stringify(routineWire);
    const chunks = `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)};x=1\r\n${body.slice(5)}\r\n0\r\n\r\n`;
    const good = [
      goodRequest({ length: null, more: ["Transfer-Encoding: Chunked"], body: chunks }),
      goodRequest({ line: "POST http://localhost/decide HTTP/1.1" }),
      ...["application/json; charset=utf-8", 'application/json;charset="UTF-8"', "Application/JSON"].map(
        (type) => goodRequest({ type }),
      ),
      ...["localhost:80", "127.0.0.1", "[::1]:3333", "LOCALHOST"].map((host) =>
        goodRequest({ host: `Host: ${host}` }),
      ),
    ];
    for (const bytes of good) expect(statuses(await rawExchange(server.port, bytes))).toEqual([200]);
  });

  it("answers HEAD like GET without a body", async () => {
    const head = await fetch(`${server.url}/decisions`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const refused = await fetch(`${server.url}/decide`, { method: "HEAD" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("accepts HTTP/1.0 without a host if any host is allowed", async () => {
    const any = await serving({ world, allowedOrigins: { hosts: undefined, origins: [], loopback: false } });
    const asked = goodRequest({ line: "GET /healthz HTTP/1.0", host: "", body: "", type: "" });
    expect(statuses(await rawExchange(any.port, asked))).toEqual([200]);
    expect(statuses(await rawExchange(server.port, asked))).toEqual([403]);
    expect(statuses(await rawExchange(any.port, goodRequest({ more: ["Host: evil.example"] })))).toEqual([
      400,
    ]);
  });

  it("times out on incomplete headers and bodies", async () => {
    const hasty = await serving({ world, requestTimeout: 100 });
    const head = "POST /decide HTTP/1.1\r\nHost: localhost\r\n";
    const slow = [
      head,
      `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"org_id":`,
      `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"org`,
    ];
    const answers = await Promise.all(slow.map((bytes) => rawExchange(hasty.port, bytes, { answers: 2 })));
    expect(answers.map(statuses)).toEqual([[408], [408], [408]]);
    await until(() => hasty.server.inFlight() === 0);
  });

  it("records the decision although the client disconnected", async () => {
    const { world: slow, arrived, letGo } = gated();
    const patient = await serving({ world: slow });
    const before = await patient.recorded();
    const socket = connect(patient.port, "127.0.0.1");
    socket.write(goodRequest());
    await arrived();
    expect(patient.server.inFlight()).toBe(1);
    expect(patient.metrics.text()).toContain("agent33_requests_in_flight 1\n");
    socket.destroy();
    await until(() => patient.server.inFlight() === 0);
    letGo();
    await until(async () => (await patient.recorded()) === before + 1);
    expect(patient.metrics.text()).toContain('route="/decide",status="499"} 1\n');
    const cut = connect(patient.port, "127.0.0.1");
    cut.write(goodRequest({ length: 1000 }));
    await until(() => patient.server.inFlight() === 1);
    cut.destroy();
    await until(() => patient.server.inFlight() === 0);
  });

  it("limits concurrent requests, except for public routes", async () => {
    const { world: slow, arrived, letGo } = gated();
    const busy = await serving({ world: slow, maxInFlight: 1 });
    const first = post(busy, "/decide", routineWire);
    await arrived();
    const refused = await post(busy, "/decide", routineWire);
    expect(refused).toMatchObject({ status: 503, body: { code: "overloaded" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await get(busy, "/healthz")).status).toBe(200);
    letGo();
    expect((await first).status).toBe(200);
    await until(() => busy.server.inFlight() === 0);
    expect((await post(busy, "/decide", routineWire)).status).toBe(200);
  });
});

describe("a graceful shutdown", () => {
  it("finishes running requests, closes idle connections and accepts no new ones", async () => {
    const { world: slow, arrived, letGo } = gated();
    const ending = await serving({ world: slow });
    const idle = connect(ending.port, "127.0.0.1");
    idle.write(goodRequest({ line: "GET /healthz HTTP/1.1", body: "", type: "" }));
    await once(idle, "data");
    const socket = connect(ending.port, "127.0.0.1");
    socket.write(goodRequest());
    await arrived();
    const startedAt = performance.now();
    const drained = ending.server.drain(8_000);
    await once(idle, "close");
    await expect(get(ending, "/healthz")).rejects.toThrow();
    letGo();
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
    await drained;
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it("first reports that it is not ready, and closes each connection after its answer", async () => {
    const { world: slow, arrived, letGo } = gated();
    const ending = await serving({ world: slow });
    const running = post(ending, "/decide", routineWire);
    await arrived();
    ending.server.beginDrain();
    const ready = await get(ending, "/readyz");
    expect(ready).toMatchObject({ status: 503, body: { reason: "the server is shutting down" } });
    const accepted = await get(ending, "/decisions");
    letGo();
    const finished = await running;
    expect([accepted.status, finished.status]).toEqual([200, 200]);
    for (const { headers } of [ready, accepted, finished]) expect(headers.get("connection")).toBe("close");
  });

  it("waits no longer than the timeout", async () => {
    const { world: slow, arrived, letGo } = gated();
    const ending = await serving({ world: slow });
    const asked = post(ending, "/decide", routineWire);
    await Promise.all([
      arrived(),
      expect(asked).rejects.toThrow(),
      arrived().then(() => ending.server.drain(50)),
    ]);
    letGo();
  });
});

describe("a web page", () => {
  const origin = "https://app.example";

  it("may read the response if its origin is allowed", async () => {
    const { status, headers } = await post(server, "/decide", routineWire, { origin });
    expect([status, headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([
      200,
      origin,
      "origin",
    ]);
  });

  it("from a loopback address gets a response without CORS headers", async () => {
    const { status, headers } = await post(server, "/decide", routineWire, {
      origin: "http://localhost:5173",
    });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([200, null]);
  });

  it("gets a preflight response without a token", async () => {
    const guarded = await serving({
      world,
      authenticate: () => Promise.reject(new Error("not called")),
    });
    const asked = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    };
    const preflight = await fetch(`${guarded.url}/decide`, { method: "OPTIONS", headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization, content-type");
    const foreign = { ...asked, origin: "https://evil.example" };
    const refused = await fetch(`${guarded.url}/decide`, { method: "OPTIONS", headers: foreign });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  });

  it("from a loopback address is rejected with authentication, unless it is allowed", async () => {
    const guarded = await serving({
      world,
      allowedOrigins: { hosts: undefined, origins: [origin], loopback: false },
    });
    expect((await get(guarded, "/healthz", { origin: "http://localhost:5173" })).status).toBe(403);
    expect((await get(guarded, "/healthz", { origin })).status).toBe(200);
  });
});

describe("a correlation id", () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";

  it.each([
    { name: "its header", headers: { "x-correlation-id": "order-1" }, body: {}, id: "order-1" },
    { name: "its trace", headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` }, body: {}, id: trace },
    {
      name: "its header rather than its trace",
      headers: { "x-correlation-id": "order-2", traceparent: `00-${trace}-b7ad6b7169203331-01` },
      body: {},
      id: "order-2",
    },
    {
      name: "its body rather than its header",
      headers: { "x-correlation-id": "order-3" },
      body: { correlation_id: "order-4" },
      id: "order-4",
    },
    { name: "its body", headers: {}, body: { correlation_id: "order-5" }, id: "order-5" },
    {
      name: "a header of the maximum length",
      headers: { "x-correlation-id": "h".repeat(1024) },
      body: {},
      id: "h".repeat(1024),
    },
    {
      name: "a body of the maximum length",
      headers: {},
      body: { correlation_id: "b".repeat(1024) },
      id: "b".repeat(1024),
    },
  ])("comes from $name, and is echoed, recorded and logged", async ({ headers, body, id }) => {
    const answer = await post(server, "/decide", { ...routineWire, ...body }, headers);
    expect(answer.headers.get("x-correlation-id")).toBe(id);
    const record = await get(server, `/records/${String(answer.body["record_id"])}`);
    expect(record.body["correlation_id"]).toBe(id);
    await until(async () =>
      (await server.logged()).includes(
        `"correlation_id":"${id}","record_id":"${String(answer.body["record_id"])}"`,
      ),
    );
  });

  it.each(["nonsense", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, `ff-${trace}-b7ad6b7169203331-01`])(
    "is none of a trace that is not one: %s",
    async (traceparent) => {
      const answer = await post(server, "/decide", routineWire, { traceparent });
      expect([answer.status, answer.headers.get("x-correlation-id")]).toEqual([200, null]);
    },
  );

  it.each(["a b", "", "é", "x".repeat(1025)])(
    "in a header that is not to carry it is refused: `%s`",
    async (id) => {
      const answer = await post(server, "/decide", routineWire, { "x-correlation-id": id });
      expect([answer.status, answer.body["code"]]).toEqual([400, "input_invalid"]);
    },
  );

  it("is recorded but not echoed if a header cannot carry it", async () => {
    const answer = await post(server, "/decide", { ...routineWire, correlation_id: "a\r\nset-cookie: x=1" });
    expect([answer.status, answer.headers.get("x-correlation-id"), answer.headers.get("set-cookie")]).toEqual(
      [200, null, null],
    );
  });
});
