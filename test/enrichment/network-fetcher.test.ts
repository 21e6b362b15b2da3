import { expect, it } from "vitest";
import { stopwatch } from "../../src/clock.js";
import type { FetchOutcome } from "../../src/enrichment/fetcher.js";
import { createNetworkFetcher } from "../../src/enrichment/fetcher.js";
import type { Endpoint, Fetch } from "../../src/model/endpoint.js";
import type { Store } from "../../src/model/store.js";
import { openJsonlStore } from "../../src/store/drivers/jsonl/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { newId, TestClock } from "../store/entries.js";
import { storeDirectory } from "../store/jsonl-log.js";
import type { Listening } from "./servers.js";
import { httpServer, rawServer, saying } from "./servers.js";

const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

type Fetching = (endpoint: Partial<Endpoint>, more?: Partial<Fetch>) => Promise<FetchOutcome>;

/** Fetches over the network from a local server. */
function fetchingFrom(
  { url }: Pick<Listening, "url">,
  store: Store = openMemoryStore(),
  env: Readonly<Record<string, string>> = {},
): Fetching {
  const shelves = { breakers: store.shelf("breakers"), responses: store.shelf("responses") };
  const fetcher = createNetworkFetcher({ shelves, env });
  const configured = new Map<string, Endpoint>();
  return (endpoint, more) => {
    const text = JSON.stringify(endpoint);
    const whole = configured.get(text) ?? { url, allow_private: true, ...endpoint };
    configured.set(text, whole);
    return fetcher.fetch({ name: "it", endpoint: whole, params: {}, cached: true, dryRun: false, ...more });
  };
}

const drip = (socket: { write: (text: string) => void; destroyed: boolean }): void => {
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(" ");
  }, 20);
};

it.each<{ readonly name: string; readonly server: () => Promise<Listening>; readonly error: object }>([
  {
    name: "says nothing",
    server: () => rawServer(() => undefined),
    error: { code: "request_timeout", message: "no response within 300ms" },
  },
  {
    name: "never ends its headers",
    server: () => rawServer((socket) => socket.write(head)),
    error: { code: "request_timeout", message: "no response within 300ms" },
  },
  {
    name: "drips",
    server: () =>
      rawServer((socket) => {
        socket.write(`${head}\r\n`);
        drip(socket);
      }),
    error: { code: "request_timeout", message: "no response within 300ms" },
  },
  {
    name: "resets",
    server: () => rawServer((socket) => socket.resetAndDestroy()),
    error: { code: "network_failed", message: expect.stringMatching(/\(3 times\)$/) as string },
  },
  {
    name: "gives half an answer",
    server: () => saying(`${head}content-length: 100\r\n\r\n{"a":`),
    error: { code: "request_failed" },
  },
  {
    name: "gives too much",
    server: () => saying(`${head}\r\n"${"x".repeat(3 * 1024 * 1024)}"`),
    error: { code: "request_failed", message: expect.stringContaining("1 MiB") as string },
  },
  {
    name: "asks to wait for too long",
    server: () => saying("HTTP/1.1 429 Slow Down\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"),
    error: { code: "request_failed", message: "HTTP status 429" },
  },
  {
    name: "is out of order",
    server: () => saying("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"),
    error: { code: "request_failed", message: "HTTP status 503 (3 times)" },
  },
  {
    name: "sends elsewhere",
    server: () => saying("HTTP/1.1 302 There\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
    error: { code: "request_failed", message: "redirects are not followed (HTTP status 302)" },
  },
])("ends in time with one that $name", async ({ server, error }) => {
  const fetch = fetchingFrom(await server());
  const startedAt = stopwatch();
  const retry = { attempts: 3, base: "20ms", max: "40ms" };
  expect(await fetch({ timeout: "300ms", retry })).toMatchObject({ ok: false, error });
  expect(stopwatch() - startedAt).toBeLessThan(300 + 700);
});

it("asks again until there is an answer", async () => {
  let asked = 0;
  const server = await httpServer((_request, response) => {
    response.writeHead(++asked < 3 ? 503 : 200, { "content-type": "application/json", "retry-after": "0" });
    response.end('{"score":1}');
  });
  const fetch = fetchingFrom(server);
  expect(await fetch({ retry: { base: "10ms" } })).toMatchObject({ ok: true, data: { score: 1 } });
  expect(server.heard).toHaveLength(3);
});

it("asks once for a thousand who want the same, fifty at a time", async () => {
  const server = await httpServer((_request, response) => {
    setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end("7"), 20);
  });
  const directory = storeDirectory();
  const store = openJsonlStore({ directory, clock: new TestClock().read, newId });
  const fetch = fetchingFrom(server, store);
  for (let lot = 0; lot < 20; lot++) {
    const all = await Promise.all(Array.from({ length: 50 }, () => fetch({ cache: { ttl: "1h" } })));
    expect(new Set(all.map((each) => each.ok && each.data))).toEqual(new Set([7]));
  }
  expect(server.heard).toHaveLength(1);
});

// On a busy machine the first of two requests may take longer than the second.
it("keeps to the rate limit as the endpoint sees it", { retry: 3 }, async () => {
  const arrivals: number[] = [];
  const server = await httpServer((_request, response) => {
    arrivals.push(stopwatch());
    response.end();
  });
  const fetch = fetchingFrom(server);
  await Promise.all([1, 2, 3, 4, 5].map(() => fetch({ rate_limit: { count: 2, per: "200ms" } })));
  expect(arrivals).toHaveLength(5);
  const gaps = arrivals.slice(2).map((at, index) => at - (arrivals[index] ?? 0));
  // As exact as timers and latency allow.
  for (const gap of gaps) expect(gap).toBeGreaterThan(190);
});

it("puts no secret on a shelf, though the endpoint sends it back", async () => {
  const server = await httpServer((request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(request.headers));
  });
  const store = openMemoryStore();
  const fetch = fetchingFrom(server, store, { TOKEN: "canary-of-a-secret" });
  const auth = { type: "bearer", token_key: "TOKEN" } as const;
  const fetched = await fetch({ auth, cache: { ttl: "1h" } }, { params: { card: "4111" } });
  expect(server.heard[0]?.headers.authorization).toBe("Bearer canary-of-a-secret");
  const kept: unknown[] = [fetched];
  for (const name of ["breakers", "responses"] as const)
    for await (const entry of store.shelf(name).entries()) kept.push(entry);
  expect(kept).toHaveLength(3);
  expect(JSON.stringify(kept)).not.toMatch(/canary|4111/);
});
