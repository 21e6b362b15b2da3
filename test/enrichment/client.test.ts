import type { RequestListener } from "node:http";
import { describe, expect, it } from "vitest";
import type { DataEnrichmentOptions } from "../../src/index.js";
import {
  CircuitOpenError,
  dataEnrichmentClient,
  DecisionError,
  NetworkError,
  RequestError,
  TimeoutError,
} from "../../src/index.js";
import type { Endpoint } from "../../src/model/endpoint.js";
import { storeDirectory } from "../store/jsonl-log.js";
import { httpServer, rawServer } from "./servers.js";

const json = (status: number, data: unknown = null): RequestListener =>
  function answer(_request, response) {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(data));
  };

const clientFor = (
  url: string,
  endpoint: Partial<Endpoint> = {},
  more: Partial<DataEnrichmentOptions> = {},
): ReturnType<typeof dataEnrichmentClient> =>
  dataEnrichmentClient({ endpoints: { bureau: { url, allow_private: true, ...endpoint } }, ...more });

const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a client", () => {
  it("gets data with its params in the query", async () => {
    const { url, heard } = await httpServer(json(200, { score: 712 }));
    expect(await clientFor(url).fetch("bureau", { params: { ssn: "1", deep: { a: 1 } } })).toEqual({
      score: 712,
    });
    expect(heard[0]?.method).toBe("GET");
    expect(new URL(heard[0]?.url ?? "", url).searchParams.get("ssn")).toBe("1");
  });

  it("posts its params as JSON", async () => {
    const { url, heard } = await httpServer(json(200));
    await clientFor(url, { method: "post" }).fetch("bureau", { params: { ssn: "1" } });
    expect(JSON.parse(heard[0]?.body ?? "")).toEqual({ ssn: "1" });
  });

  it("caches responses for the ttl of the endpoint, unless disabled", async () => {
    let asked = 0;
    const { url } = await httpServer((request, response) => json(200, ++asked)(request, response));
    const client = clientFor(url, { cache: { ttl: "1h" } });
    expect([await client.fetch("bureau"), await client.fetch("bureau")]).toEqual([1, 1]);
    expect(await client.fetch("bureau", { use_cache: false })).toBe(2);
    expect(await client.fetch("bureau")).toBe(1);
  });

  it("shares its cache with other clients of the same store", async () => {
    let asked = 0;
    const { url } = await httpServer((request, response) => json(200, ++asked)(request, response));
    const store = { directory: storeDirectory() };
    const fetchOnce = (): Promise<unknown> =>
      clientFor(url, { cache: { ttl: "1h" } }, { store }).fetch("bureau");
    expect([await fetchOnce(), await fetchOnce()]).toEqual([1, 1]);
  });

  it("sends the secret of the endpoint and masks it in the data", async () => {
    const { url, heard } = await httpServer(json(503));
    const auth = { type: "bearer", token_key: "TOKEN" } as const;
    const error = await thrown(clientFor(url, { auth }, { env: { TOKEN: "canary" } }).fetch("bureau"));
    expect(heard[0]?.headers.authorization).toBe("Bearer canary");
    expect(JSON.stringify([error, String(error)])).not.toContain("canary");
  });
});

describe("an error of a client", () => {
  it.each([400, 404, 429, 500, 503])("is a RequestError with the status %i", async (status) => {
    const { url } = await httpServer(json(status));
    const error = await thrown(clientFor(url).fetch("bureau"));
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({
      name: "RequestError",
      code: "request_failed",
      status,
      message: `no data from \`bureau\`: HTTP status ${status}`,
      details: { endpoint: "bureau" },
    });
  });

  it("is a RequestError without a status for a broken response", async () => {
    const { url } = await httpServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end("{");
    });
    const error = await thrown(clientFor(url).fetch("bureau"));
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ code: "request_failed", status: undefined });
  });

  it("is a TimeoutError without a response in time", async () => {
    const { url } = await rawServer(() => undefined);
    const error = await thrown(clientFor(url, { timeout: "50ms" }).fetch("bureau"));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      code: "request_timeout",
      message: "no data from `bureau`: no response within 50ms",
    });
  });

  it("is a NetworkError where the connection is refused", async () => {
    const { url } = await rawServer((socket) => socket.resetAndDestroy());
    expect(await thrown(clientFor(url).fetch("bureau"))).toBeInstanceOf(NetworkError);
  });

  it("is a CircuitOpenError, and so a RequestError, after too many failures", async () => {
    const { url, heard } = await httpServer(json(500));
    const client = clientFor(url, { circuit_breaker: { failure_threshold: 1 } });
    await thrown(client.fetch("bureau"));
    const error = await thrown(client.fetch("bureau"));
    expect(error).toBeInstanceOf(CircuitOpenError);
    expect(error).toBeInstanceOf(RequestError);
    expect((error as Error).message).toMatch(/^no data from `bureau`: its circuit is open until 20/);
    expect(heard).toHaveLength(1);
  });

  it("names a rate limit", async () => {
    const { url } = await httpServer(json(200));
    const client = clientFor(url, { rate_limit: { count: 1, per: "1h" } });
    await client.fetch("bureau");
    expect(await thrown(client.fetch("bureau"))).toMatchObject({
      name: "RequestError",
      code: "rate_limited",
    });
  });

  it("is a DecisionError where the request is refused", async () => {
    const error = await thrown(clientFor("http://127.0.0.1:9", { allow_private: false }).fetch("bureau"));
    expect(error).toMatchObject({ name: "DecisionError", code: "fetch_refused" });
  });

  it.each([
    { name: "buraeu", hint: "did you mean `bureau`?" },
    { name: "weather", hint: "available endpoints: `bureau`" },
    { name: "__proto__", hint: "available endpoints: `bureau`" },
  ])("names the unknown endpoint `$name`", async ({ name, hint }) => {
    const error = await thrown(clientFor("http://127.0.0.1:9").fetch(name));
    expect(error).toBeInstanceOf(DecisionError);
    expect(error).toMatchObject({ code: "usage", message: `no endpoint called \`${name}\``, hint });
  });

  it.each([
    { params: { at: new Date(0) }, message: "the params cannot be sent: only plain objects are JSON" },
    { params: [1], message: "the params are not an object" },
  ])("says why params cannot be sent: $message", async ({ params, message }) => {
    const error = await thrown(clientFor("http://127.0.0.1:9").fetch("bureau", { params: params as never }));
    expect(error).toMatchObject({ code: "input_invalid", message });
  });
});

describe("the endpoints of a client", () => {
  const url = "https://bureau.example";

  it.each<{ readonly endpoint: unknown; readonly message: string }>([
    { endpoint: "https://bureau.example", message: "not an object" },
    { endpoint: {}, message: "`url` is missing" },
    { endpoint: { url: "ftp://x" }, message: "`url`: it must start with https:// or http://" },
    { endpoint: { url, method: "GET" }, message: "`method` is not one of get, post, put, delete" },
    { endpoint: { url, headers: { a: 1 } }, message: "`headers` must be strings" },
    {
      endpoint: { url, tiemout: "1s" },
      message: "unknown key `tiemout` (did you mean `timeout`?)",
    },
    { endpoint: { url, zzz: 1 }, message: "unknown key `zzz`" },
    {
      endpoint: { url, auth: { type: "bearer", token_key: "sk-live-1" } },
      message: "`auth` does not name an environment variable for each secret it needs",
    },
    {
      endpoint: { url, auth: { type: "basic" } },
      message: "`auth` does not name an environment variable for each secret it needs",
    },
    {
      endpoint: { url, auth: { type: "toString" } },
      message: "`auth` does not name an environment variable for each secret it needs",
    },
    { endpoint: { url, cache: {} }, message: "`cache` has no `ttl`" },
    { endpoint: { url, rate_limit: { count: 1 } }, message: "`rate_limit` needs `count` and `per`" },
    { endpoint: { url, retry: 3 }, message: "`retry` is not an object" },
    {
      endpoint: { url, retry: { attempts: 0 } },
      message: "`retry.attempts` is not a whole number of 1 or more",
    },
    {
      endpoint: { url, circuit_breaker: { success_threshold: 1.5 } },
      message: "`circuit_breaker.success_threshold` is not a whole number of 1 or more",
    },
    {
      endpoint: { url, timeout: 5 },
      message: "`5` is not a duration: write it like 500ms, 5s or 1h",
    },
  ])("are refused where one is invalid: $message", ({ endpoint, message }) => {
    expect(() => dataEnrichmentClient({ endpoints: { bureau: endpoint as Endpoint } })).toThrow(
      expect.objectContaining({
        code: "invalid_configuration",
        message: `endpoint \`bureau\`: ${message}`,
      }),
    );
  });

  it.each([
    {
      endpoints: undefined,
      message: "invalid endpoints: a value of type `undefined` is not JSON",
    },
    { endpoints: [], message: "`endpoints` is not an object of endpoints by name" },
  ])("are refused where they are not an object: $message", ({ endpoints, message }) => {
    expect(() => dataEnrichmentClient({ endpoints: endpoints as never })).toThrow(
      expect.objectContaining({ code: "invalid_configuration", message }),
    );
  });
});
