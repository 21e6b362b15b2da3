import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeIo } from "./fake-io.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";
import { main } from "../../src/cli/main.js";
import { systemClock } from "../../src/clock.js";
import type { EndpointState } from "../../src/enrichment/endpoint-state.js";
import { stateKey } from "../../src/enrichment/endpoint-settings.js";
import type { Endpoint, EndpointStatus } from "../../src/model/endpoint.js";
import type { Json } from "../../src/model/json.js";
import type { Shelf, ShelfName } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { openStore } from "../../src/store/open-store.js";

const canary = "canary-71-of-the-environment";

let place: Workplace;
let status = 200;
let asked = 0;
const server = createServer((_request, response) => {
  asked++;
  response.writeHead(status, { "content-type": "application/json", location: "http://127.0.0.1:1/" });
  response.end("{}");
});

beforeEach(async () => {
  place = workplace();
  status = 200;
  asked = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const urlOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

const bureau: Endpoint = {
  url: "http://127.0.0.1:8733/score",
  auth: { type: "api_key", header: "X-API-Key", secret_key: "CREDIT_API_KEY" },
  timeout: "1s",
  cache: { ttl: "1m" },
  retry: { attempts: 2, base: "20ms", max: "100ms" },
  circuit_breaker: { failure_threshold: 3, timeout: "5s", success_threshold: 1 },
  allow_private: true,
};

/** Declares endpoints beside those of the samples. */
const declare = (endpoints: Readonly<Record<string, Endpoint>>): void =>
  writeFileSync(join(place.decisions, "more.yaml"), JSON.stringify({ endpoints }));

const withKey = { env: { CREDIT_API_KEY: canary } };

const statusesOf = ({ out }: Ran): readonly EndpointStatus[] =>
  (JSON.parse(out) as { readonly endpoints: readonly EndpointStatus[] }).endpoints;

const statusOf = async (name = "credit_bureau"): Promise<EndpointStatus> => {
  const [found] = statusesOf(await place.run(["endpoints", name, "--json"], withKey));
  if (found === undefined) throw new Error("nothing was said of it");
  return found;
};

const now = (): number => microsecondsOf(systemClock());

/** Works on a shelf of the store as a process that decides would. */
async function onShelf(name: ShelfName, work: (shelf: Shelf) => Promise<unknown>): Promise<void> {
  const store = await openStore(
    { directory: place.store, durability: "fast" },
    { clock: systemClock, newId: () => "" },
  );
  await work(store.shelf(name));
  await store.close();
}

const keepState = (state: EndpointState | Json, endpoint = bureau): Promise<void> =>
  onShelf("breakers", (shelf) =>
    shelf.put([{ key: stateKey("credit_bureau", endpoint), group: "credit_bureau", value: state as Json }]),
  );

const open = (at: number): EndpointState => ({
  circuit: "OPEN",
  failures: 3,
  successes: 0,
  opened_at: at,
  sent: [1],
  last: {
    at: formatTimestamp(at),
    milliseconds: 12,
    error: { code: "request_failed", message: "HTTP status 503" },
  },
});

const keepAnswer = (
  key: string,
  fetchedAt: number,
  group = stateKey("credit_bureau", bureau),
): Promise<void> =>
  onShelf("responses", (shelf) =>
    shelf.put([{ key, group, value: { data: 1, fetched_at: formatTimestamp(fetchedAt), digest: "" } }]),
  );

describe("the endpoints", () => {
  it("are listed with who uses them and where they are written", async () => {
    expect(await statusOf()).toEqual({
      name: "credit_bureau",
      method: "get",
      url: "http://127.0.0.1:8733/score",
      circuit: { state: "CLOSED", failures: 0 },
      cache: { ttl: "1m", fresh: 0, stale: 0 },
      needs: [{ variable: "CREDIT_API_KEY", set: true }],
      last: null,
      used_by: ["decision-credit-check", "decision-credit-limit"],
      file: join(place.decisions, "credit-check.yaml"),
      line: 4,
    });
  });

  it("are listed without a store, and no store is created", async () => {
    for (const words of [["endpoints"], ["endpoints", "reset", "--all", "--cache"]]) {
      expect((await place.run(words)).code).toBe(0);
    }
    expect(existsSync(place.store)).toBe(false);
  });

  it("have a rate limit, no cache and other secrets where they are so configured", async () => {
    declare({
      other: {
        url: "https://example.com/",
        method: "post",
        auth: { type: "basic", username_key: "BUREAU_USER", password_key: "BUREAU_PASSWORD" },
        rate_limit: { count: 10, per: "1s" },
      },
    });
    const { out } = await place.run(["endpoints", "other", "--json"], { env: { BUREAU_USER: canary } });
    expect(JSON.parse(out)).toMatchObject({
      endpoints: [
        {
          method: "post",
          cache: { fresh: 0, stale: 0 },
          rate_limit: { count: 10, per: "1s" },
          needs: [
            { variable: "BUREAU_USER", set: true },
            { variable: "BUREAU_PASSWORD", set: false },
          ],
          used_by: [],
        },
      ],
    });
  });

  it("are those that are named", async () => {
    declare({ other: { url: "https://example.com/" }, third: { url: "https://example.com/" } });
    const named = statusesOf(await place.run(["endpoints", "third", "credit_bureau", "--json"]));
    expect(named.map(({ name }) => name)).toEqual(["credit_bureau", "third"]);
  });

  it.each([["endpoints"], ["endpoints", "reset"]])("must be known: %s %s", async (...words) => {
    const { code, out, err } = await place.run([...words, "credit_buro"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("no endpoint called `credit_buro`");
    expect(err).toContain("did you mean `credit_bureau`?");
  });

  it("may be declared in an invalid file, which the hint mentions", async () => {
    writeFileSync(join(place.decisions, "more.yaml"), "endpoints: { hidden_one: { url: 1 } }");
    const { code, err } = await place.run(["endpoints", "hidden_one"]);
    expect(code).toBe(2);
    expect(err).toContain("some definition files are invalid: run `agent-33 decision validate`");
  });

  it("are described line by line for people", async () => {
    await keepState(open(Date.UTC(2026, 0, 2, 3, 4, 5) * 1000));
    declare({ other: { url: "https://example.com/", rate_limit: { count: 10, per: "1s" } } });
    const { out } = await place.run(["endpoints"], { terminal: true, ...withKey });
    expect(out).toBe(`credit_bureau  HALF_OPEN
  url       get http://127.0.0.1:8733/score
  failures  3 consecutive
  cached    0 fresh, 0 stale
  last      2026-01-02 03:04:05 UTC, 12 ms: HTTP status 503
  secrets   CREDIT_API_KEY (set)
  used by   decision-credit-check, decision-credit-limit

other  CLOSED
  url       get https://example.com/
  limit     10 requests per 1s
  last      never called
`);
  });

  it("are a line each to scripts", async () => {
    await keepState(open(Date.UTC(2026, 0, 2, 3, 4, 5) * 1000));
    const { out } = await place.run(["endpoints", "--format", "plain"]);
    expect(out.trimEnd().split("\t")).toEqual([
      "credit_bureau",
      "get",
      "http://127.0.0.1:8733/score",
      "HALF_OPEN",
      "",
      "3",
      "0",
      "0",
      "2026-01-02T03:04:05.000000Z",
      "12",
      "HTTP status 503",
      "",
      "CREDIT_API_KEY (not set)",
    ]);
  });

  it("are an empty list with a note if none are declared", async () => {
    rmSync(join(place.decisions, "credit-check.yaml"));
    const { code, out, err } = await place.run(["endpoints"]);
    expect({ code, value: JSON.parse(out) as unknown, err }).toEqual({
      code: 0,
      value: { endpoints: [] },
      err: "no endpoints declared\n",
    });
  });

  it("are completed by shells", async () => {
    const complete = async (...words: readonly string[]): Promise<string> => {
      const io = fakeIo({ cwd: place.root, env: { AGENT33_DECISIONS: place.decisions } });
      await main(["__complete", "decision", ...words], io);
      return io.written.out;
    };
    expect(await complete("endpoints", "")).toBe("reset\ncredit_bureau\n");
    expect(await complete("endpoints", "reset", "cr")).toBe("credit_bureau\n");
  });
});

describe("a circuit", () => {
  it("is open until its time is over", async () => {
    const at = now();
    await keepState(open(at));
    expect(await statusOf()).toMatchObject({
      circuit: { state: "OPEN", failures: 3, open_until: formatTimestamp(at + 5e6) },
      last: { at: formatTimestamp(at), milliseconds: 12, error: { message: "HTTP status 503" } },
    });
  });

  it("is half open once its time is over", async () => {
    await keepState(open(now() - 5e6));
    expect((await statusOf()).circuit).toEqual({ state: "HALF_OPEN", failures: 3 });
  });

  it("is that of the endpoint as it is configured now", async () => {
    await keepState(open(now()), { ...bureau, timeout: "2s" });
    expect((await statusOf()).circuit.state).toBe("CLOSED");
  });

  it.each([[{ circuit: "AJAR" }], [[]], [{ circuit: "CLOSED", failures: 0, successes: 0, last: 7 }]])(
    "whose state is damaged is as good as new: %j",
    async (state) => {
      await keepState(state);
      expect(await statusOf()).toMatchObject({ circuit: { state: "CLOSED", failures: 0 }, last: null });
    },
  );

  it("is closed by reset, which forgets its failures and leaves what counts for its rate limit", async () => {
    await keepState(open(now()));
    expect(JSON.parse((await place.run(["endpoints", "reset", "credit_bureau"])).out)).toEqual({
      endpoints: [{ name: "credit_bureau", circuit_was: "OPEN", failures_were: 3 }],
    });
    expect(await statusOf()).toMatchObject({
      circuit: { state: "CLOSED", failures: 0 },
      last: { milliseconds: 12 },
    });
    await onShelf("breakers", async (shelf) => {
      expect((await shelf.get(stateKey("credit_bureau", bureau)))?.value).toMatchObject({ sent: [1] });
    });
  });

  it.each([
    [[], "specify endpoints to reset"],
    [["credit_bureau", "--all"], "names and --all cannot be combined"],
  ])("is reset only for names or --all: %j", async (words, message) => {
    const { code, err } = await place.run(["endpoints", "reset", ...words]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

describe("kept answers", () => {
  it("are counted: fresh, stale, and not those of another configuration", async () => {
    await keepAnswer("a", now());
    await keepAnswer("b", now() - 61e6);
    await keepAnswer("c", now() - 3600e6);
    await keepAnswer("d", now(), stateKey("credit_bureau", { ...bureau, timeout: "2s" }));
    expect((await statusOf()).cache).toEqual({ ttl: "1m", fresh: 1, stale: 2 });
  });

  it("stay with a reset, unless they are to be forgotten too", async () => {
    await keepAnswer("a", now());
    await keepAnswer("b", now(), "other x");
    await place.run(["endpoints", "reset", "--all"]);
    expect((await statusOf()).cache.fresh).toBe(1);
    const { out } = await place.run(["endpoints", "reset", "--all", "--cache"], { terminal: true });
    expect(out).toBe("credit_bureau is CLOSED (was CLOSED, 0 failures), 1 cached response removed\n");
    expect((await statusOf()).cache.fresh).toBe(0);
    await onShelf("responses", async (shelf) => expect(await shelf.get("b")).toBeDefined());
  });
});

describe("--check", () => {
  const check = (...words: readonly string[]): Promise<Ran> =>
    place.run(["endpoints", "asked", "--check", ...words], withKey);

  beforeEach(() => declare({ asked: { ...bureau, url: urlOf() } }));

  it.each([
    { status: 200, ok: true },
    { status: 204, ok: true },
    { status: 400, ok: true },
    { status: 404, ok: true },
    { status: 422, ok: true },
    { status: 429, ok: true },
    { status: 302, ok: false, error: "redirects are not followed (HTTP status 302)" },
    { status: 401, ok: false, error: "HTTP status 401" },
    { status: 403, ok: false, error: "HTTP status 403" },
    { status: 407, ok: false, error: "HTTP status 407" },
    { status: 500, ok: false, error: "HTTP status 500" },
    { status: 503, ok: false, error: "HTTP status 503" },
  ])("sends one request and reports the response: $status", async ({ status: given, ok, error }) => {
    status = given;
    const ran = await check("--json");
    expect(ran.code).toBe(ok ? 0 : 6);
    const [found] = statusesOf(ran);
    expect(found?.check).toEqual({
      ok,
      ...(given >= 300 && { status: given }),
      milliseconds: expect.any(Number) as number,
      ...(error !== undefined && { error }),
    });
    expect(asked).toBe(1);
  });

  it("sends the request even if the circuit is open, and changes no circuit", async () => {
    await onShelf("breakers", (shelf) =>
      shelf.put([
        { key: stateKey("asked", { ...bureau, url: urlOf() }), value: open(now()) as unknown as Json },
      ]),
    );
    const before = readFileSync(join(place.store, "breakers/all.jsonl"), "utf8");
    expect((await check()).code).toBe(0);
    expect(asked).toBe(1);
    expect(readFileSync(join(place.store, "breakers/all.jsonl"), "utf8")).toBe(before);
  });

  it("does not ask where that may change data", async () => {
    declare({ asked: { url: urlOf(), method: "post", allow_private: true } });
    const ran = await check("--json");
    expect(ran.code).toBe(0);
    expect(statusesOf(ran)[0]?.check).toEqual({ ok: null, not_asked: "`post` may change data" });
    expect(asked).toBe(0);
  });

  it.each([
    ["nobody is there", { url: "http://127.0.0.1:1/" }, /127\.0\.0\.1/],
    ["it is not allowed", { allow_private: false }, /allow_private/],
    ["a secret is missing", { auth: { type: "bearer", token_key: "NO_SUCH" } }, /`NO_SUCH` is not set/],
  ] as const)("tells why there is no answer: %s", async (_name, change, message) => {
    declare({ asked: { ...bureau, url: urlOf(), ...change } });
    const { code, out } = await place.run(["endpoints", "asked", "--check"], { terminal: true, ...withKey });
    expect(code).toBe(6);
    expect(out).toContain("✗");
    expect(out.replace(/\s+/g, " ")).toMatch(message);
  });
});

describe("secrets", () => {
  it.each(["table", "plain", "json", "yaml"])("are never shown: %s", async (format) => {
    declare({ asked: { ...bureau, url: urlOf() } });
    const { out, err } = await place.run(["endpoints", "--check", "--format", format], withKey);
    expect(out + err).not.toContain(canary);
    expect(out).toContain("CREDIT_API_KEY");
  });
});
