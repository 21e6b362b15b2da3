import { describe, expect, it } from "vitest";
import { initialState } from "../../src/enrichment/endpoint-state.js";
import type { Shelf } from "../../src/model/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import type { Scripted } from "./fetching.js";
import { answer, broken, fetching, refused, reset, status } from "./fetching.js";

const second = 1e6;
const minute = 60e6;
const day = 86_400e6;
const failing = { circuit_breaker: { failure_threshold: 2, timeout: "1m", success_threshold: 2 } };

const ok = { ok: true, from: "endpoint", data: "data" };
const failed = (code: string, message: string): object => ({ ok: false, error: { code, message } });

describe("a fetch", () => {
  it.each<{
    readonly name: string;
    readonly script: readonly Scripted[];
    readonly code: string;
    readonly message: string;
    readonly requests?: number;
  }>([
    { name: "a bad status", script: [status(503)], code: "request_failed", message: "HTTP status 503" },
    {
      name: "a redirect",
      script: [status(302)],
      code: "request_failed",
      message: "redirects are not followed (HTTP status 302)",
    },
    { name: "silence", script: ["hang"], code: "request_timeout", message: "no response within 5s" },
    { name: "a reset", script: [reset], code: "network_failed", message: "the connection was reset" },
    {
      name: "a broken answer",
      script: [broken],
      code: "request_failed",
      message: "its answer has more than 1 MiB",
    },
    {
      name: "a refused address",
      script: [refused],
      code: "fetch_refused",
      message: "it is a loopback address",
    },
  ])("sends one request and reports $name", async ({ script, code, message }) => {
    const { fetch, exchange, state } = fetching();
    expect(await fetch(script)).toMatchObject(failed(code, message));
    expect(exchange.asked).toHaveLength(1);
    expect((await state()).last?.error).toEqual({ code, message });
  });

  it("returns the status with the failure", async () => {
    expect(await fetching().fetch([status(404)])).toMatchObject({ status: 404 });
  });

  it("returns frozen data", async () => {
    const data = { exchanged: { kind: "answer", data: { score: [1] } } } as const;
    const got = await fetching().fetch([data]);
    expect(got.ok && Object.isFrozen((got.data as unknown as { score: object }).score)).toBe(true);
  });

  it("records its time, duration and success", async () => {
    const { fetch, state } = fetching();
    await fetch([{ after: 120_400, exchanged: { kind: "answer", data: 1 } }]);
    expect(await state()).toEqual({
      ...initialState,
      last: { at: "2026-03-02T12:00:00.120400Z", milliseconds: 120 },
    });
  });

  it("ends in time even if the exchange does not", async () => {
    const never = fetching({}, { exchange: () => new Promise(() => undefined) });
    const { time } = never;
    const startedAt = time.now();
    expect(await never.fetch([])).toMatchObject(failed("request_timeout", "no response within 5s"));
    expect(time.now() - startedAt).toBe(5 * second);
  });

  it("reports the start and the end of its requests", async () => {
    const said: string[] = [];
    const onRequest = (name: string): (() => void) => {
      said.push(`asking ${name}`);
      return () => said.push("over");
    };
    const { fetch } = fetching({ cache: { ttl: "1h" } }, { onRequest });
    await fetch([answer()]);
    await fetch([answer()]);
    expect(said).toEqual(["asking bureau", "over"]);
  });
});

describe("a retry", () => {
  const retry = { attempts: 3, base: "1s", max: "10s" };

  it.each<{
    readonly name: string;
    readonly script: readonly Scripted[];
    readonly outcome: object;
    readonly requests: number;
    readonly seconds: number;
    readonly endpoint?: object;
  }>([
    {
      name: "continues until there is a response",
      script: [status(503), reset, answer()],
      outcome: ok,
      requests: 3,
      seconds: 0.5 + 1,
    },
    {
      name: "gives up after the last attempt",
      script: [status(503)],
      outcome: failed("request_failed", "HTTP status 503 (3 times)"),
      requests: 3,
      seconds: 1.5,
    },
    {
      name: "reports the last of different failures",
      script: [reset, status(500), status(503)],
      outcome: failed("request_failed", "HTTP status 503 (3 attempts)"),
      requests: 3,
      seconds: 1.5,
    },
    {
      name: "stops at a client error",
      script: [status(503), status(404)],
      outcome: failed("request_failed", "HTTP status 404 (2 attempts)"),
      requests: 2,
      seconds: 0.5,
    },
    {
      name: "waits for the seconds of Retry-After",
      script: [status(429, "3"), answer()],
      outcome: ok,
      requests: 2,
      seconds: 3,
    },
    {
      name: "waits until the date of Retry-After",
      script: [status(429, "Mon, 02 Mar 2026 12:00:04 GMT"), answer()],
      outcome: ok,
      requests: 2,
      seconds: 4,
    },
    {
      name: "is not sent where Retry-After exceeds the timeout",
      script: [status(429, "5"), answer()],
      outcome: failed("request_failed", "HTTP status 429"),
      requests: 1,
      seconds: 0,
    },
    {
      name: "keeps to the timeout of all attempts together",
      script: [status(503), "hang"],
      outcome: failed("request_timeout", "no response within 5s"),
      requests: 2,
      seconds: 5,
    },
    {
      name: "does not repeat a POST that may have been carried out",
      script: [reset, answer()],
      outcome: failed("network_failed", "the connection was reset"),
      requests: 1,
      seconds: 0,
      endpoint: { method: "post" },
    },
    {
      name: "repeats a POST that was rejected",
      script: [status(503), answer()],
      outcome: ok,
      requests: 2,
      seconds: 0.5,
      endpoint: { method: "post" },
    },
    {
      name: "makes three attempts by default",
      script: [status(503)],
      outcome: failed("request_failed", "HTTP status 503 (3 times)"),
      requests: 3,
      seconds: 0.15,
      endpoint: { retry: {} },
    },
  ])("$name", async ({ script, outcome, requests, seconds, endpoint }) => {
    const { fetch, exchange, time } = fetching({ retry, ...endpoint });
    const startedAt = time.now();
    expect(await fetch(script)).toMatchObject(outcome);
    expect(exchange.asked).toHaveLength(requests);
    expect(time.now() - startedAt).toBe(seconds * second);
  });

  it("counts as one failure for the circuit", async () => {
    const { fetch, state } = fetching({ retry, ...failing });
    await fetch([status(503)]);
    expect(await state()).toMatchObject({ circuit: "CLOSED", failures: 1 });
  });
});

describe("the circuit of an endpoint", () => {
  it("opens, admits a probe, and closes", async () => {
    const { fetch, exchange, time, state } = fetching(failing);
    await fetch([status(500)]);
    await fetch(["hang"]);
    expect(await fetch([answer()])).toMatchObject(
      failed("circuit_open", "its circuit is open until 2026-03-02T12:01:05.000000Z"),
    );
    expect(exchange.asked).toHaveLength(2);
    await time.pass(minute);
    expect(await fetch([answer()])).toMatchObject(ok);
    expect((await state()).circuit).toBe("HALF_OPEN");
    expect(await fetch([answer()])).toMatchObject(ok);
    expect((await state()).circuit).toBe("CLOSED");
  });

  it("refuses other fetches during a probe", async () => {
    const { fetch, begin, exchange, time } = fetching(failing);
    await fetch([status(500)]);
    await fetch([status(500)]);
    await time.pass(minute);
    exchange.script = [{ after: second, exchanged: { kind: "answer", data: "data" } }];
    const all = await time.until(Promise.all([begin(), begin(), begin()]));
    expect(all.map((each) => each.ok)).toEqual([true, false, false]);
    expect(exchange.asked).toHaveLength(3);
  });

  it.each([
    { name: "a client error", script: status(404), failures: 0 },
    { name: "a redirect", script: status(301), failures: 0 },
    { name: "too many requests", script: status(429), failures: 2 },
    { name: "a broken answer", script: broken, failures: 2 },
    { name: "a refused request", script: refused, failures: 1 },
  ])("counts $name as $failures failures in all", async ({ script, failures }) => {
    const { fetch, state } = fetching();
    await fetch([reset]);
    await fetch([script]);
    expect((await state()).failures).toBe(failures);
  });

  it("starts with a new state for a changed configuration", async () => {
    const { fetch, exchange } = fetching(failing);
    await fetch([status(500)]);
    await fetch([status(500)]);
    const endpoint = { url: "https://other.example", ...failing };
    expect(await fetch([answer()], { endpoint })).toMatchObject(ok);
    expect(exchange.asked).toHaveLength(3);
  });
});

describe("the rate limit of an endpoint", () => {
  const limited = { rate_limit: { count: 2, per: "1s" } };

  it("delays requests that come too early", async () => {
    const { begin, exchange, time } = fetching(limited);
    const startedAt = time.now();
    const all = await time.until(Promise.all([begin(), begin(), begin(), begin(), begin()]));
    expect(all.every((each) => each.ok)).toBe(true);
    expect(exchange.asked.map((at) => (at - startedAt) / 1000)).toEqual([0, 0, 1050, 1050, 2100]);
  });

  it("refuses requests without a slot in time", async () => {
    const { begin, exchange, time } = fetching({ ...limited, timeout: "1s" });
    const all = await time.until(Promise.all([begin(), begin(), begin()]));
    expect(all[2]).toMatchObject(
      failed("rate_limited", "its rate limit of 2 per 1s is used up, with no free slot within 1s"),
    );
    expect(exchange.asked).toHaveLength(2);
  });

  it("counts every attempt", async () => {
    const { fetch, exchange, time } = fetching({
      ...limited,
      retry: { attempts: 3, base: "10ms", max: "10ms" },
    });
    const startedAt = time.now();
    await fetch([status(503)]);
    expect(exchange.asked.map((at) => (at - startedAt) / 1000)).toEqual([0, 5, 1050]);
  });

  it("reports the failure where there is no slot for a retry", async () => {
    const { fetch, exchange } = fetching({
      rate_limit: { count: 1, per: "1h" },
      retry: { attempts: 3, base: "10ms" },
    });
    expect(await fetch([status(503)])).toMatchObject(failed("request_failed", "HTTP status 503"));
    expect(exchange.asked).toHaveLength(1);
  });

  it("does not blame the service for waiting time", async () => {
    const { begin, exchange, time, state } = fetching({ rate_limit: { count: 1, per: "3s" } });
    exchange.script = ["hang"];
    const all = await time.until(Promise.all([begin(), begin()]));
    expect(all).toMatchObject([
      { error: { code: "request_timeout" } },
      { error: { code: "request_timeout" } },
    ]);
    expect((await state()).failures).toBe(1);
  });

  it("does not use up the probe of a half-open circuit", async () => {
    const { fetch, time, state } = fetching({
      circuit_breaker: { failure_threshold: 1, timeout: "1s" },
      rate_limit: { count: 1, per: "1m" },
    });
    await fetch([status(500)]);
    await time.pass(2 * second);
    expect(await fetch([answer()])).toMatchObject({ error: { code: "rate_limited" } });
    expect((await state()).circuit).toBe("OPEN");
  });
});

describe("cached responses", () => {
  const kept = { cache: { ttl: "1m" }, ...failing };

  it("keep the number of integers that are texts", async () => {
    const { fetch } = fetching(kept);
    const big = { kind: "answer", data: "12345678901234567890", integers_as_text: 1 } as const;
    expect(await fetch([{ exchanged: big }])).toMatchObject({ from: "endpoint", integers_as_text: 1 });
    expect(await fetch([])).toMatchObject({ from: "cache", data: big.data, integers_as_text: 1 });
  });

  it("are returned without a request while fresh", async () => {
    const { fetch, exchange, time } = fetching(kept);
    await fetch([answer(1)]);
    await time.pass(minute - 1);
    expect(await fetch([answer(2)])).toEqual({
      ok: true,
      data: 1,
      from: "cache",
      fetched_at: "2026-03-02T12:00:00.000000Z",
    });
    await time.pass(1);
    expect(await fetch([answer(2)])).toMatchObject({ data: 2, from: "endpoint" });
    expect(exchange.asked).toHaveLength(2);
  });

  it("are found for the same params in any order", async () => {
    const { fetch, exchange } = fetching(kept);
    await fetch([answer(1)], { params: { a: 1, b: { c: 2, d: 3 } } });
    expect(await fetch([answer(2)], { params: { b: { d: 3, c: 2 }, a: 1 } })).toMatchObject({ data: 1 });
    expect(await fetch([answer(2)], { params: { a: 1, b: { c: 2, d: 4 } } })).toMatchObject({ data: 2 });
    expect(exchange.asked).toHaveLength(2);
  });

  it.each([
    { name: "another name", asked: { name: "other" } },
    { name: "another configuration", asked: { endpoint: { url: "https://other.example", ...kept } } },
    { name: "a fetch without cache", asked: { cached: false } },
    { name: "an organisation", asked: { org: "acme" } },
  ])("are not used for $name", async ({ asked }) => {
    const { fetch } = fetching(kept);
    await fetch([answer(1)]);
    expect(await fetch([answer(2)], asked)).toMatchObject({ data: 2, from: "endpoint" });
  });

  it("are not written unless the endpoint has a cache", async () => {
    const { fetch, store } = fetching();
    await fetch([answer(1)]);
    expect(await fetch([answer(2)])).toMatchObject({ data: 2 });
    expect((await store.shelf("responses").extent()).size).toBe(2);
  });

  it("are returned stale for a day, but only while the circuit is open", async () => {
    const { fetch, time } = fetching({ ...kept, circuit_breaker: { failure_threshold: 1, timeout: "3d" } });
    await fetch([answer(1)]);
    await time.pass(minute);
    expect(await fetch([status(500)])).toMatchObject(failed("request_failed", "HTTP status 500"));
    expect(await fetch([answer(2)])).toEqual({
      ok: true,
      data: 1,
      from: "stale_cache",
      fetched_at: "2026-03-02T12:00:00.000000Z",
    });
    await time.pass(day - 1);
    expect(await fetch([])).toMatchObject({ data: 1, from: "stale_cache" });
    await time.pass(1);
    expect(await fetch([])).toMatchObject({ error: { code: "circuit_open" } });
  });

  it("do not include failures", async () => {
    const { fetch, store } = fetching(kept);
    await fetch([status(404)]);
    expect((await store.shelf("responses").extent()).size).toBe(2);
  });

  it("are ignored where they were changed", async () => {
    const warnings: string[] = [];
    const { fetch, store } = fetching(kept, { onWarning: (message) => warnings.push(message) });
    await fetch([answer(1)]);
    const shelf = store.shelf("responses");
    for await (const entry of shelf.entries())
      await shelf.put([{ ...entry, value: { ...(entry.value as object), data: 99 } }]);
    expect(await fetch([answer(2)])).toMatchObject({ data: 2, from: "endpoint" });
    expect(warnings).toEqual([
      "ignored a cached response of an endpoint: it was changed after it was written",
    ]);
  });

  it("are not fresh after the clock was set back", async () => {
    const { fetch, time } = fetching(kept);
    await fetch([answer(1)]);
    time.set("2026-03-02T11:59:59.000000Z");
    expect(await fetch([answer(2)])).toMatchObject({ data: 2 });
  });

  it("are fetched once for concurrent fetches", async () => {
    const { begin, exchange, time } = fetching(kept);
    exchange.script = [{ after: second, exchanged: { kind: "answer", data: 1 } }];
    const all = await time.until(Promise.all(Array.from({ length: 50 }, () => begin({ params: { a: 1 } }))));
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(exchange.asked).toHaveLength(1);
  });

  it("are not waited for without a cache", async () => {
    const { begin, exchange, time } = fetching();
    await time.until(Promise.all([begin(), begin(), begin()]));
    expect(exchange.asked).toHaveLength(3);
  });
});

describe("a dry run", () => {
  const dry = { dryRun: true };
  const sizes = async (store: ReturnType<typeof fetching>["store"]): Promise<readonly number[]> =>
    Promise.all(
      [store.shelf("breakers"), store.shelf("responses")].map(async (each) => (await each.extent()).size),
    );

  it("sends GET requests and writes nothing", async () => {
    const { fetch, store } = fetching({ cache: { ttl: "1h" }, rate_limit: { count: 9, per: "1s" } });
    expect(await fetch([answer()], dry)).toMatchObject(ok);
    expect(await fetch([status(500)], { ...dry, params: { a: 1 } })).toMatchObject({ status: 500 });
    expect(await sizes(store)).toEqual([2, 2]);
  });

  it.each(["post", "put", "delete"] as const)("skips %s", async (method) => {
    const { fetch, exchange, store } = fetching({ method });
    expect(await fetch([answer()], dry)).toEqual({ ok: false, left_out: true });
    expect(exchange.asked).toEqual([]);
    expect(await sizes(store)).toEqual([2, 2]);
  });

  it("returns cached responses of POST requests", async () => {
    const { fetch } = fetching({ method: "post", cache: { ttl: "1h" } });
    await fetch([answer(1)]);
    expect(await fetch([answer(2)], dry)).toMatchObject({ data: 1, from: "cache" });
  });

  it("respects an open circuit and does not probe it", async () => {
    const { fetch, time, state } = fetching(failing);
    await fetch([status(500)]);
    await fetch([status(500)]);
    const before = await state();
    expect(await fetch([answer()], dry)).toMatchObject({ error: { code: "circuit_open" } });
    await time.pass(minute);
    expect(await fetch([answer()], dry)).toMatchObject(ok);
    expect(await state()).toEqual(before);
  });

  it("respects the rate limit, including requests of dry runs", async () => {
    const { fetch, exchange, time } = fetching({ rate_limit: { count: 2, per: "1s" } });
    const startedAt = time.now();
    await fetch([answer()]);
    await fetch([answer()], dry);
    await fetch([answer()], dry);
    expect(exchange.asked.map((at) => (at - startedAt) / 1000)).toEqual([0, 0, 1050]);
  });
});

describe("a failing store", () => {
  const full = (): Promise<never> => Promise.reject(new Error("the disk is full"));
  const failingShelf = (broken: Partial<Shelf>): Shelf => ({
    ...openMemoryStore().shelf("breakers"),
    ...broken,
  });

  it("loses no response", async () => {
    const warnings: string[] = [];
    const shelf = failingShelf({ get: full, put: full, update: full });
    const { fetch } = fetching(
      { cache: { ttl: "1h" } },
      { shelves: { breakers: shelf, responses: shelf }, onWarning: (message) => warnings.push(message) },
    );
    expect(await fetch([answer()])).toMatchObject(ok);
    expect(warnings).toEqual([
      "cannot read cached responses of endpoints: the disk is full",
      "cannot read the state of endpoint `bureau`: the disk is full",
      "cannot write the state of endpoint `bureau`: the disk is full",
      "cannot cache responses of endpoints: the disk is full",
    ]);
  });

  it("refuses requests that the rate limit must count", async () => {
    const shelves = { breakers: failingShelf({ update: full }), responses: failingShelf({}) };
    const { fetch, exchange } = fetching({ rate_limit: { count: 1, per: "1s" } }, { shelves });
    expect(await fetch([answer()])).toMatchObject(
      failed("rate_limited", "the request could not be counted in the store, as its rate limit requires"),
    );
    expect(exchange.asked).toEqual([]);
  });

  it("refuses requests whose slot was read but not written", async () => {
    const update: Shelf["update"] = (_key, change) => {
      change(undefined);
      return full();
    };
    const shelves = { breakers: failingShelf({ update }), responses: failingShelf({}) };
    const { fetch, exchange } = fetching({ rate_limit: { count: 1, per: "1s" } }, { shelves });
    expect(await fetch([answer()])).toMatchObject({ error: { code: "rate_limited" } });
    expect(exchange.asked).toEqual([]);
  });

  it("refuses probes, because other processes could not see them", async () => {
    const breakers = { ...openMemoryStore().shelf("breakers") };
    const shelves = { breakers, responses: failingShelf({}) };
    const { fetch, exchange, time } = fetching(failing, { shelves });
    await fetch([status(500)]);
    await fetch([status(500)]);
    await time.pass(minute);
    breakers.update = full;
    expect(await fetch([answer()])).toMatchObject({ error: { code: "circuit_open" } });
    expect(exchange.asked).toHaveLength(2);
  });

  it("delays no fetch beyond its timeout", async () => {
    const shelves = {
      breakers: failingShelf({ update: () => new Promise(() => undefined) }),
      responses: failingShelf({}),
    };
    const { fetch, time } = fetching({ rate_limit: { count: 1, per: "1s" } }, { shelves });
    const startedAt = time.now();
    expect(await fetch([answer()])).toMatchObject({ error: { code: "rate_limited" } });
    expect(time.now() - startedAt).toBe(5 * second);
  });

  it("does not delay a response for long", async () => {
    const stuck = failingShelf({ update: () => new Promise(() => undefined) });
    const { fetch, time } = fetching({}, { shelves: { breakers: stuck, responses: failingShelf({}) } });
    const startedAt = time.now();
    expect(await fetch([answer()])).toMatchObject(ok);
    expect(time.now() - startedAt).toBe(second);
  });
});
