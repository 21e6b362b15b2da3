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
  ])("asks once and tells of $name", async ({ script, code, message }) => {
    const { fetch, exchange, state } = fetching();
    expect(await fetch(script)).toMatchObject(failed(code, message));
    expect(exchange.asked).toHaveLength(1);
    expect((await state()).last?.error).toEqual({ code, message });
  });

  it("tells the status beside the failure", async () => {
    expect(await fetching().fetch([status(404)])).toMatchObject({ status: 404 });
  });

  it("gives what cannot be changed any more", async () => {
    const data = { exchanged: { kind: "answer", data: { score: [1] } } } as const;
    const got = await fetching().fetch([data]);
    expect(got.ok && Object.isFrozen((got.data as unknown as { score: object }).score)).toBe(true);
  });

  it("notes when it was, how long it took and that it went well", async () => {
    const { fetch, state } = fetching();
    await fetch([{ after: 120_400, exchanged: { kind: "answer", data: 1 } }]);
    expect(await state()).toEqual({
      ...initialState,
      last: { at: "2026-03-02T12:00:00.120400Z", milliseconds: 120 },
    });
  });

  it("ends in time though the exchange does not", async () => {
    const never = fetching({}, { exchange: () => new Promise(() => undefined) });
    const { time } = never;
    const startedAt = time.now();
    expect(await never.fetch([])).toMatchObject(failed("request_timeout", "no response within 5s"));
    expect(time.now() - startedAt).toBe(5 * second);
  });

  it("says when it asks and when that is over", async () => {
    const said: string[] = [];
    const onAsking = (name: string): (() => void) => {
      said.push(`asking ${name}`);
      return () => said.push("over");
    };
    const { fetch } = fetching({ cache: { ttl: "1h" } }, { onAsking });
    await fetch([answer()]);
    await fetch([answer()]);
    expect(said).toEqual(["asking bureau", "over"]);
  });
});

describe("asking again", () => {
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
      name: "goes on until there is an answer",
      script: [status(503), reset, answer()],
      outcome: ok,
      requests: 3,
      seconds: 0.5 + 1,
    },
    {
      name: "gives up after its attempts",
      script: [status(503)],
      outcome: failed("request_failed", "HTTP status 503 (3 times)"),
      requests: 3,
      seconds: 1.5,
    },
    {
      name: "tells the last of different failures",
      script: [reset, status(500), status(503)],
      outcome: failed("request_failed", "HTTP status 503 (3 attempts)"),
      requests: 3,
      seconds: 1.5,
    },
    {
      name: "ends with a fault of ours",
      script: [status(503), status(404)],
      outcome: failed("request_failed", "HTTP status 404 (2 attempts)"),
      requests: 2,
      seconds: 0.5,
    },
    {
      name: "waits as long as it is asked to",
      script: [status(429, "3"), answer()],
      outcome: ok,
      requests: 2,
      seconds: 3,
    },
    {
      name: "waits until the time it is asked to",
      script: [status(429, "Mon, 02 Mar 2026 12:00:04 GMT"), answer()],
      outcome: ok,
      requests: 2,
      seconds: 4,
    },
    {
      name: "does not ask where it is asked to wait for too long",
      script: [status(429, "5"), answer()],
      outcome: failed("request_failed", "HTTP status 429"),
      requests: 1,
      seconds: 0,
    },
    {
      name: "waits no longer than it may with all attempts together",
      script: [status(503), "hang"],
      outcome: failed("request_timeout", "no response within 5s"),
      requests: 2,
      seconds: 5,
    },
    {
      name: "does not post again what may have been carried out",
      script: [reset, answer()],
      outcome: failed("network_failed", "the connection was reset"),
      requests: 1,
      seconds: 0,
      endpoint: { method: "post" },
    },
    {
      name: "posts again what was not accepted",
      script: [status(503), answer()],
      outcome: ok,
      requests: 2,
      seconds: 0.5,
      endpoint: { method: "post" },
    },
    {
      name: "asks three times with what is usual",
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

  it("counts for the circuit as one, however often it asks", async () => {
    const { fetch, state } = fetching({ retry, ...failing });
    await fetch([status(503)]);
    expect(await state()).toMatchObject({ circuit: "CLOSED", failures: 1 });
  });
});

describe("the circuit of an endpoint", () => {
  it("opens, lets one try, and closes", async () => {
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

  it("lets nobody else in while one tries", async () => {
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
    { name: "a fault of ours", script: status(404), failures: 0 },
    { name: "a redirect", script: status(301), failures: 0 },
    { name: "too many requests", script: status(429), failures: 2 },
    { name: "a broken answer", script: broken, failures: 2 },
    { name: "what was never sent", script: refused, failures: 1 },
  ])("takes $name for what it tells of the service", async ({ script, failures }) => {
    const { fetch, state } = fetching();
    await fetch([reset]);
    await fetch([script]);
    expect((await state()).failures).toBe(failures);
  });

  it("begins anew where the endpoint is configured anew", async () => {
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

  it("makes those who come too early wait", async () => {
    const { begin, exchange, time } = fetching(limited);
    const startedAt = time.now();
    const all = await time.until(Promise.all([begin(), begin(), begin(), begin(), begin()]));
    expect(all.every((each) => each.ok)).toBe(true);
    expect(exchange.asked.map((at) => (at - startedAt) / 1000)).toEqual([0, 0, 1050, 1050, 2100]);
  });

  it("turns those away whose turn does not come in time", async () => {
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

  it("tells the failure that there was where no turn is left to ask again", async () => {
    const { fetch, exchange } = fetching({
      rate_limit: { count: 1, per: "1h" },
      retry: { attempts: 3, base: "10ms" },
    });
    expect(await fetch([status(503)])).toMatchObject(failed("request_failed", "HTTP status 503"));
    expect(exchange.asked).toHaveLength(1);
  });

  it("does not blame the service for what waiting took", async () => {
    const { begin, exchange, time, state } = fetching({ rate_limit: { count: 1, per: "3s" } });
    exchange.script = ["hang"];
    const all = await time.until(Promise.all([begin(), begin()]));
    expect(all).toMatchObject([
      { error: { code: "request_timeout" } },
      { error: { code: "request_timeout" } },
    ]);
    expect((await state()).failures).toBe(1);
  });

  it("does not use up the one try of a circuit that is half open", async () => {
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

describe("kept answers", () => {
  const kept = { cache: { ttl: "1m" }, ...failing };

  it("are given without asking as long as they are fresh", async () => {
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

  it("are those of the same params, in whatever order they are written", async () => {
    const { fetch, exchange } = fetching(kept);
    await fetch([answer(1)], { params: { a: 1, b: { c: 2, d: 3 } } });
    expect(await fetch([answer(2)], { params: { b: { d: 3, c: 2 }, a: 1 } })).toMatchObject({ data: 1 });
    expect(await fetch([answer(2)], { params: { a: 1, b: { c: 2, d: 4 } } })).toMatchObject({ data: 2 });
    expect(exchange.asked).toHaveLength(2);
  });

  it.each([
    { name: "another name", asked: { name: "other" } },
    { name: "another configuration", asked: { endpoint: { url: "https://other.example", ...kept } } },
    { name: "what may not be kept", asked: { cached: false } },
  ])("are not those of $name", async ({ asked }) => {
    const { fetch } = fetching(kept);
    await fetch([answer(1)]);
    expect(await fetch([answer(2)], asked)).toMatchObject({ data: 2, from: "endpoint" });
  });

  it("are none where the endpoint does not say so", async () => {
    const { fetch, store } = fetching();
    await fetch([answer(1)]);
    expect(await fetch([answer(2)])).toMatchObject({ data: 2 });
    expect((await store.shelf("responses").extent()).size).toBe(2);
  });

  it("are given a day longer while the circuit is open, and only then", async () => {
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

  it("are not made of failures", async () => {
    const { fetch, store } = fetching(kept);
    await fetch([status(404)]);
    expect((await store.shelf("responses").extent()).size).toBe(2);
  });

  it("are not taken where they are not as they were kept", async () => {
    const troubles: string[] = [];
    const { fetch, store } = fetching(kept, { onTrouble: (message) => troubles.push(message) });
    await fetch([answer(1)]);
    const shelf = store.shelf("responses");
    for await (const entry of shelf.entries())
      await shelf.put([{ ...entry, value: { ...(entry.value as object), data: 99 } }]);
    expect(await fetch([answer(2)])).toMatchObject({ data: 2, from: "endpoint" });
    expect(troubles).toEqual([
      "ignored a cached response of an endpoint: it was changed after it was written",
    ]);
  });

  it("from before the clock was set back are not fresh for that", async () => {
    const { fetch, time } = fetching(kept);
    await fetch([answer(1)]);
    time.set("2026-03-02T11:59:59.000000Z");
    expect(await fetch([answer(2)])).toMatchObject({ data: 2 });
  });

  it("are asked for once by all who want them at the same time", async () => {
    const { begin, exchange, time } = fetching(kept);
    exchange.script = [{ after: second, exchanged: { kind: "answer", data: 1 } }];
    const all = await time.until(Promise.all(Array.from({ length: 50 }, () => begin({ params: { a: 1 } }))));
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(exchange.asked).toHaveLength(1);
  });

  it("are nothing to wait for where answers are not kept", async () => {
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

  it("gets, and writes nothing", async () => {
    const { fetch, store } = fetching({ cache: { ttl: "1h" }, rate_limit: { count: 9, per: "1s" } });
    expect(await fetch([answer()], dry)).toMatchObject(ok);
    expect(await fetch([status(500)], { ...dry, params: { a: 1 } })).toMatchObject({ status: 500 });
    expect(await sizes(store)).toEqual([2, 2]);
  });

  it.each(["post", "put", "delete"] as const)("leaves %s out", async (method) => {
    const { fetch, exchange, store } = fetching({ method });
    expect(await fetch([answer()], dry)).toEqual({ ok: false, left_out: true });
    expect(exchange.asked).toEqual([]);
    expect(await sizes(store)).toEqual([2, 2]);
  });

  it("gives what others have posted and kept", async () => {
    const { fetch } = fetching({ method: "post", cache: { ttl: "1h" } });
    await fetch([answer(1)]);
    expect(await fetch([answer(2)], dry)).toMatchObject({ data: 1, from: "cache" });
  });

  it("heeds an open circuit, and does not try it for others", async () => {
    const { fetch, time, state } = fetching(failing);
    await fetch([status(500)]);
    await fetch([status(500)]);
    const before = await state();
    expect(await fetch([answer()], dry)).toMatchObject({ error: { code: "circuit_open" } });
    await time.pass(minute);
    expect(await fetch([answer()], dry)).toMatchObject(ok);
    expect(await state()).toEqual(before);
  });

  it("heeds the rate limit, with what dry runs have sent", async () => {
    const { fetch, exchange, time } = fetching({ rate_limit: { count: 2, per: "1s" } });
    const startedAt = time.now();
    await fetch([answer()]);
    await fetch([answer()], dry);
    await fetch([answer()], dry);
    expect(exchange.asked.map((at) => (at - startedAt) / 1000)).toEqual([0, 0, 1050]);
  });
});

describe("shelves that fail", () => {
  const full = (): Promise<never> => Promise.reject(new Error("the disk is full"));
  const failingShelf = (broken: Partial<Shelf>): Shelf => ({
    ...openMemoryStore().shelf("breakers"),
    ...broken,
  });

  it("lose no answer", async () => {
    const troubles: string[] = [];
    const shelf = failingShelf({ get: full, put: full, update: full });
    const { fetch } = fetching(
      { cache: { ttl: "1h" } },
      { shelves: { breakers: shelf, responses: shelf }, onTrouble: (message) => troubles.push(message) },
    );
    expect(await fetch([answer()])).toMatchObject(ok);
    expect(troubles).toEqual([
      "cannot read cached responses of endpoints: the disk is full",
      "cannot read the state of endpoint `bureau`: the disk is full",
      "cannot write the state of endpoint `bureau`: the disk is full",
      "cannot cache responses of endpoints: the disk is full",
    ]);
  });

  it("let nobody through who would have to be counted", async () => {
    const shelves = { breakers: failingShelf({ update: full }), responses: failingShelf({}) };
    const { fetch, exchange } = fetching({ rate_limit: { count: 1, per: "1s" } }, { shelves });
    expect(await fetch([answer()])).toMatchObject(
      failed("rate_limited", "the request could not be counted in the store, as its rate limit requires"),
    );
    expect(exchange.asked).toEqual([]);
  });

  it("let nobody through whose turn was looked at and then not written", async () => {
    const update: Shelf["update"] = (_key, change) => {
      change(undefined);
      return full();
    };
    const shelves = { breakers: failingShelf({ update }), responses: failingShelf({}) };
    const { fetch, exchange } = fetching({ rate_limit: { count: 1, per: "1s" } }, { shelves });
    expect(await fetch([answer()])).toMatchObject({ error: { code: "rate_limited" } });
    expect(exchange.asked).toEqual([]);
  });

  it("let nobody try a circuit, as others could not be told", async () => {
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

  it("hold nobody up for longer than a fetch may take", async () => {
    const shelves = {
      breakers: failingShelf({ update: () => new Promise(() => undefined) }),
      responses: failingShelf({}),
    };
    const { fetch, time } = fetching({ rate_limit: { count: 1, per: "1s" } }, { shelves });
    const startedAt = time.now();
    expect(await fetch([answer()])).toMatchObject({ error: { code: "rate_limited" } });
    expect(time.now() - startedAt).toBe(5 * second);
  });

  it("keep no answer back for long", async () => {
    const stuck = failingShelf({ update: () => new Promise(() => undefined) });
    const { fetch, time } = fetching({}, { shelves: { breakers: stuck, responses: failingShelf({}) } });
    const startedAt = time.now();
    expect(await fetch([answer()])).toMatchObject(ok);
    expect(time.now() - startedAt).toBe(second);
  });
});
