import { writeFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  CircuitOpenError,
  compose,
  dataEnrichmentClient,
  DecisionError,
  NetworkError,
  RequestError,
  TimeoutError,
} from "../../src/index.js";
import type { Endpoint, Json, JsonObject, Result } from "../../src/index.js";
import { temporaryDirectory } from "../acceptance/command.js";

/** Spec 3, section 6, clause by clause. */

interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Answer = (response: ServerResponse) => void;

const json =
  (data: Json, status = 200): Answer =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(data));
const text =
  (body: string): Answer =>
  (response) =>
    void response.writeHead(200, { "content-type": "text/plain" }).end(body);
const status =
  (code: number): Answer =>
  (response) =>
    void response.writeHead(code).end();
const never: Answer = () => undefined;

let server: Server;
let received: Received[] = [];
let answer: Answer = json({});

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const url = new URL(request.url ?? "", "http://localhost");
  received.push({
    method: request.method ?? "",
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body,
  });
  answer(response);
}

beforeAll(async () => {
  server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  answer = json({ score: 720 });
});

const env = { API_KEY: "key-1", API_USERNAME: "ada", API_PASSWORD: "love:lace", API_TOKEN: "token-1" };

const at = (more: Partial<Endpoint> = {}): Endpoint => ({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/score`,
  allow_private: true,
  ...more,
});

const clientFor = (more: Partial<Endpoint> = {}): ReturnType<typeof dataEnrichmentClient> =>
  dataEnrichmentClient({ endpoints: { bureau: at(more) }, env });

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("6.1 configuration", () => {
  it("needs a name and a url, and takes the rest as read", async () => {
    await clientFor().fetch("bureau");
    expect(received).toMatchObject([{ method: "GET", path: "/score", query: {}, body: "" }]);
    expect(() => dataEnrichmentClient({ endpoints: { bureau: {} as Endpoint } })).toThrow("`url` is missing");
  });

  it.each(["get", "post", "put", "delete"] as const)("knows the method %s", async (method) => {
    await clientFor({ method }).fetch("bureau");
    expect(received.map((each) => each.method)).toEqual([method.toUpperCase()]);
  });

  it("sends the headers that it is given with every request", async () => {
    await clientFor({ headers: { "x-team": "risk", accept: "application/vnd.score+json" } }).fetch("bureau");
    expect(received[0]?.headers).toMatchObject({ "x-team": "risk", accept: "application/vnd.score+json" });
  });

  it("tries again as its retries say", async () => {
    answer = status(503);
    await thrownBy(clientFor({ retry: { attempts: 3, base: "1ms" } }).fetch("bureau"));
    expect(received.length).toBe(3);
  });

  it("keeps to its rate limit", async () => {
    const client = clientFor({ rate_limit: { count: 2, per: "1h" }, timeout: "200ms" });
    await client.fetch("bureau");
    await client.fetch("bureau");
    expect(await thrownBy(client.fetch("bureau"))).toMatchObject({ code: "rate_limited" });
    expect(received.length).toBe(2);
  });
});

describe("6.2 the client", () => {
  const params = { ssn: "123", deep: { a: [1] }, none: null };

  it.each(["get", "delete"] as const)("puts params into the query of %s", async (method) => {
    await clientFor({ method }).fetch("bureau", { params });
    expect(received[0]).toMatchObject({ query: { ssn: "123", deep: '{"a":[1]}', none: "" }, body: "" });
  });

  it("keeps what the query of the url says already", async () => {
    await clientFor({ url: `${at().url}?version=2` }).fetch("bureau", { params: { ssn: "1" } });
    expect(received[0]?.query).toEqual({ version: "2", ssn: "1" });
  });

  it.each(["post", "put"] as const)("sends params of %s as a JSON body", async (method) => {
    await clientFor({ method }).fetch("bureau", { params });
    expect(received[0]?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(received[0]?.body ?? "")).toEqual(params);
  });

  it("returns parsed JSON, or the body as it is", async () => {
    expect(await clientFor().fetch("bureau")).toEqual({ score: 720 });
    answer = text("seven hundred");
    expect(await clientFor().fetch("bureau")).toBe("seven hundred");
  });

  it("refuses an endpoint that is not configured, and names the nearest", async () => {
    expect(await thrownBy(clientFor().fetch("burau"))).toMatchObject({
      code: "usage",
      message: "no endpoint called `burau`",
      hint: "did you mean `bureau`?",
    });
  });

  it.each([400, 401, 403, 404, 422, 500, 502, 503])("throws a RequestError for %i", async (code) => {
    answer = status(code);
    const error = await thrownBy(clientFor().fetch("bureau"));
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ code: "request_failed", status: code });
  });

  it("throws a TimeoutError where nothing comes in time", async () => {
    answer = never;
    const error = await thrownBy(clientFor({ timeout: "50ms" }).fetch("bureau"));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).not.toBeInstanceOf(RequestError);
  });

  it("throws a NetworkError where nobody can be reached", async () => {
    const client = dataEnrichmentClient({
      endpoints: { bureau: { url: "http://127.0.0.1:1/", allow_private: true } },
    });
    expect(await thrownBy(client.fetch("bureau"))).toBeInstanceOf(NetworkError);
  });
});

describe("6.3 authentication", () => {
  it.each<{ name: string; auth: Endpoint["auth"]; headers: object }>([
    {
      name: "an API key, in X-API-Key unless told otherwise",
      auth: { type: "api_key", secret_key: "API_KEY" },
      headers: { "x-api-key": "key-1" },
    },
    {
      name: "an API key in a header of its own",
      auth: { type: "api_key", header: "X-Bureau", secret_key: "API_KEY" },
      headers: { "x-bureau": "key-1" },
    },
    {
      name: "a user and a password",
      auth: { type: "basic", username_key: "API_USERNAME", password_key: "API_PASSWORD" },
      headers: { authorization: `Basic ${Buffer.from("ada:love:lace").toString("base64")}` },
    },
    {
      name: "a bearer token",
      auth: { type: "bearer", token_key: "API_TOKEN" },
      headers: { authorization: "Bearer token-1" },
    },
  ])("sends $name from the environment", async ({ auth, headers }) => {
    await clientFor({ ...(auth && { auth }) }).fetch("bureau");
    expect(received[0]?.headers).toMatchObject(headers);
  });

  it("asks nobody where the variable is not set", async () => {
    const error = await thrownBy(
      clientFor({ auth: { type: "bearer", token_key: "NO_SUCH_TOKEN" } }).fetch("bureau"),
    );
    expect(error).toMatchObject({ code: "fetch_refused" });
    expect((error as Error).message).toContain("NO_SUCH_TOKEN");
    expect(received).toEqual([]);
  });
});

describe("6.4 the cache", () => {
  it("answers for as long as its ttl says, for the same params only", async () => {
    const client = clientFor({ cache: { ttl: "1h" } });
    const first = await client.fetch("bureau", { params: { ssn: "1" } });
    answer = json({ score: 1 });
    expect(await client.fetch("bureau", { params: { ssn: "1" } })).toEqual(first);
    expect(await client.fetch("bureau", { params: { ssn: "2" } })).toEqual({ score: 1 });
    expect(received.length).toBe(2);
  });

  it("asks anew once the ttl is over", async () => {
    const client = clientFor({ cache: { ttl: "20ms" } });
    await client.fetch("bureau");
    await pause(40);
    await client.fetch("bureau");
    expect(received.length).toBe(2);
  });

  it.each([
    { name: "in this process only, with the adapter `memory`", adapter: "memory", requests: 2 },
    { name: "in the store, with the adapter `store`", adapter: "store", requests: 1 },
    { name: "in the store, without an adapter", adapter: undefined, requests: 1 },
  ] as const)("keeps responses $name", async ({ adapter, requests }) => {
    const endpoints = { bureau: at({ cache: { ttl: "1h", ...(adapter && { adapter }) } }) };
    const store = { directory: temporaryDirectory() };
    for (const client of [
      dataEnrichmentClient({ endpoints, env, store }),
      dataEnrichmentClient({ endpoints, env, store }),
    ]) {
      await client.fetch("bureau");
      expect(await client.fetch("bureau")).toEqual({ score: 720 });
    }
    expect(received.length).toBe(requests);
  });

  it("is not used where that is not wanted", async () => {
    const client = clientFor({ cache: { ttl: "1h" } });
    await client.fetch("bureau");
    await client.fetch("bureau", { use_cache: false });
    expect(received.length).toBe(2);
  });
});

const directory = temporaryDirectory();
let files = 0;

/** Decides by one rule with `fetch_from_api`; `otherwise` stands beside it under `any`. */
async function decideBy(
  value: JsonObject,
  context: JsonObject,
  {
    endpoint = at(),
    beside = [],
    strict = false,
  }: { endpoint?: Endpoint; beside?: readonly JsonObject[]; strict?: boolean } = {},
): Promise<Result & { readonly type: "scored" }> {
  const decisions = join(directory, `decisions-${++files}`);
  const { mkdirSync } = await import("node:fs");
  mkdirSync(decisions);
  const fetch = { field: "customer", op: "fetch_from_api", value };
  const rules = [
    {
      id: "known",
      if: beside.length === 0 ? fetch : { any: [fetch, ...beside] },
      then: { decision: "approve", weight: 0.9, reason: "Known" },
    },
  ];
  const decision = {
    id: "loan",
    type: "scored",
    evaluators: [
      { name: "bureau", rules },
      { name: "house", static: { decision: "review", weight: 0.3, reason: "House rule" } },
    ],
    scoring: { strategy: "max_weight" },
  };
  const documents = [{ endpoints: { bureau: endpoint } }, { decision }];
  writeFileSync(join(decisions, "loan.yaml"), documents.map((each) => JSON.stringify(each)).join("\n---\n"));
  const world = await compose({ decisions, store: "memory", env });
  const result = await world.decide({ decision_id: "loan", context, strict });
  await world.close();
  return result as Result & { readonly type: "scored" };
}

describe("6.5 the operator fetch_from_api", () => {
  const customer = { customer: { profile: { id: "c-7" }, name: "Ada" } };

  it("is true where the call succeeds", async () => {
    expect(await decideBy({ endpoint: "bureau" }, customer)).toMatchObject({ decision: "approve" });
  });

  it("is true whether or not the context has its field", async () => {
    expect(await decideBy({ endpoint: "bureau" }, {})).toMatchObject({ decision: "approve" });
  });

  it.each<{ name: string; by: Answer; timeout?: string }>([
    { name: "fails", by: status(500) },
    { name: "finds nothing", by: status(404) },
    { name: "times out", by: never, timeout: "50ms" },
    { name: "is cut short", by: (response) => response.destroy() },
  ])("is false, and no error, where the call $name", async ({ by, timeout = "5s" }) => {
    answer = by;
    expect(await decideBy({ endpoint: "bureau" }, customer, { endpoint: at({ timeout }) })).toMatchObject({
      decision: "review",
    });
  });

  it("fills templates from the context, with dots for what is nested", async () => {
    const params = {
      id: "{{customer.profile.id}}",
      whole: "{{ context.customer.name }}",
      text: "id-{{ customer.profile.id }}",
      static: "value",
    };
    await decideBy({ endpoint: "bureau", params }, customer);
    expect(received[0]?.query).toEqual({ id: "c-7", whole: "Ada", text: "id-c-7", static: "value" });
  });

  it("sends nothing for what is missing", async () => {
    const params = { id: "{{ customer.nothing }}", text: "id-{{ customer.nothing }}" };
    await decideBy({ endpoint: "bureau", params }, customer, { endpoint: at({ method: "post" }) });
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({ id: null, text: "id-" });
  });

  it("maps fields of the response to fields of the context", async () => {
    answer = json({ data: { score: 720 } });
    const value = { endpoint: "bureau", mapping: { "data.score": "credit_score" } };
    const result = await decideBy(value, customer);
    expect(result).toMatchObject({ decision: "approve" });
    expect(result.audit_payload.context).toEqual({ ...customer, credit_score: 720 });
  });

  it("is false where nothing of the mapping is in the response", async () => {
    const value = { endpoint: "bureau", mapping: { nothing: "credit_score" } };
    expect(await decideBy(value, customer)).toMatchObject({ decision: "review" });
  });
});

describe("6.6 the circuit breaker", () => {
  const breaker = { failure_threshold: 3, timeout: "100ms", success_threshold: 2 };

  it("opens after so many failures, and then fails fast", async () => {
    answer = status(500);
    const client = clientFor({ circuit_breaker: breaker });
    for (let times = 0; times < 3; times++) await thrownBy(client.fetch("bureau"));
    const error = await thrownBy(client.fetch("bureau"));
    expect(error).toBeInstanceOf(CircuitOpenError);
    expect(received.length).toBe(3);
  });

  it("stays closed where a success comes between failures", async () => {
    const client = clientFor({ circuit_breaker: breaker });
    for (let times = 0; times < 8; times++) {
      answer = times % 3 === 2 ? json({}) : status(500);
      await thrownBy(client.fetch("bureau"));
    }
    expect(received.length).toBe(8);
  });

  it("tries again when its time is over, and closes after so many successes", async () => {
    answer = status(500);
    const client = clientFor({ circuit_breaker: breaker });
    for (let times = 0; times < 3; times++) await thrownBy(client.fetch("bureau"));
    await pause(120);
    answer = json({ back: true });
    expect(await client.fetch("bureau")).toEqual({ back: true });
    expect(await client.fetch("bureau")).toEqual({ back: true });
    answer = status(500);
    for (let times = 0; times < 2; times++) await thrownBy(client.fetch("bureau"));
    answer = json({ closed: true });
    expect(await client.fetch("bureau")).toEqual({ closed: true });
  });

  it("opens again where the first try fails", async () => {
    answer = status(500);
    const client = clientFor({ circuit_breaker: breaker });
    for (let times = 0; times < 3; times++) await thrownBy(client.fetch("bureau"));
    await pause(120);
    await thrownBy(client.fetch("bureau"));
    expect(await thrownBy(client.fetch("bureau"))).toBeInstanceOf(CircuitOpenError);
    expect(received.length).toBe(4);
  });

  it("opens after 5 failures unless told otherwise", async () => {
    answer = status(500);
    const client = clientFor();
    for (let times = 0; times < 7; times++) await thrownBy(client.fetch("bureau"));
    expect(received.length).toBe(5);
  });

  it("falls back on data that it kept, if there are any", async () => {
    const client = clientFor({ circuit_breaker: breaker, cache: { ttl: "20ms" } });
    await client.fetch("bureau", { params: { ssn: "1" } });
    await pause(40);
    answer = status(500);
    for (let times = 0; times < 3; times++) await thrownBy(client.fetch("bureau", { params: { ssn: "2" } }));
    expect(await client.fetch("bureau", { params: { ssn: "1" } })).toEqual({ score: 720 });
    const error = await thrownBy(client.fetch("bureau", { params: { ssn: "2" } }));
    expect(error).toBeInstanceOf(RequestError);
    expect((error as Error).message).toContain("circuit is open");
  });
});

describe("6.7 errors", () => {
  it.each([new RequestError("x"), new TimeoutError("x"), new NetworkError("x"), new CircuitOpenError("x")])(
    "$name is one that a program can tell from others",
    (error) => {
      expect(error).toBeInstanceOf(DecisionError);
      expect(error.name).toBe(error.constructor.name);
    },
  );

  it("end no decision by a rule, however strict it is", async () => {
    answer = status(500);
    expect(await decideBy({ endpoint: "bureau" }, {}, { strict: true })).toMatchObject({
      decision: "review",
      warnings: ["no data from `bureau`: HTTP status 500"],
    });
  });

  it("are handled gracefully by rules, which may have something else to go by under `any`", async () => {
    answer = status(500);
    const beside = [{ field: "customer.name", op: "eq", value: "Ada" }];
    expect(await decideBy({ endpoint: "bureau" }, { customer: { name: "Ada" } }, { beside })).toMatchObject({
      decision: "approve",
    });
  });
});
