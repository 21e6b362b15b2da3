import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compose } from "../src/compose.js";
import type { Fetched } from "../src/model/endpoint.js";
import { storeDirectory } from "./store/jsonl-log.js";
import { httpServer } from "./enrichment/servers.js";

const auth = { type: "api_key", secret_key: "BUREAU_KEY" } as const;

function decisionsDirectory(): string {
  const directory = join(storeDirectory(), "decisions");
  mkdirSync(directory);
  return directory;
}

async function fetchIn(
  world: Awaited<ReturnType<typeof compose>>,
  url: string,
): Promise<Fetched | undefined> {
  const fetcher = await world.fetcher?.();
  const endpoint = { url, allow_private: true, cache: { ttl: "1h" }, auth };
  return fetcher?.fetch({ name: "bureau", endpoint, params: {}, cached: true, dryRun: false });
}

it("gives the world a fetcher with the environment's secrets, which says whom it asks", async () => {
  const { url, heard } = await httpServer();
  const asked: string[] = [];
  const world = await compose({
    decisions: decisionsDirectory(),
    env: { BUREAU_KEY: "canary" },
    onRequest: (name) => {
      asked.push(name);
      return () => asked.push("over");
    },
  });
  expect(await fetchIn(world, url)).toMatchObject({ ok: true, from: "endpoint" });
  expect(await fetchIn(world, url)).toMatchObject({ ok: true, from: "cache" });
  expect(heard.map(({ headers }) => headers["x-api-key"])).toEqual(["canary"]);
  expect(asked).toEqual(["bureau", "over"]);
});

it("takes secrets from the environment of the process where it is told no other", async () => {
  const { url } = await httpServer();
  const world = await compose({ decisions: decisionsDirectory(), store: "memory" });
  expect(await fetchIn(world, url)).toMatchObject({ ok: false, error: { code: "fetch_refused" } });
});

it("shares what endpoints answered by way of the store", async () => {
  const { url, heard } = await httpServer();
  const configuration = {
    decisions: decisionsDirectory(),
    store: { directory: join(storeDirectory(), "store") },
    env: { BUREAU_KEY: "canary" },
  };
  await fetchIn(await compose(configuration), url);
  expect(await fetchIn(await compose(configuration), url)).toMatchObject({ from: "cache" });
  expect(heard).toHaveLength(1);
});
