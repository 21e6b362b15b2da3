import { mkdirSync, writeFileSync } from "node:fs";
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

it("decides about tools without a policy as configured", async () => {
  const directory = decisionsDirectory();
  const call = { tool: "rm", params: {}, session_id: "s" };
  const checked = async (unknownTools?: "deny" | "allow"): Promise<unknown> =>
    (await compose({ decisions: directory, ...(unknownTools && { unknownTools }) })).check(call);
  await expect(checked()).rejects.toMatchObject({ code: "definition_invalid" });
  expect(await checked("allow")).toMatchObject({ allowed: true });
  writeFileSync(join(directory, "p.yaml"), "decision: { id: p, type: policy, tool: ls, policies: [] }");
  expect(await checked()).toMatchObject({ allowed: true });
  expect(await checked("deny")).toMatchObject({ allowed: false });
  await expect(checked("maybe" as "deny")).rejects.toMatchObject({ code: "usage" });
});

it("records as much of the lineage as configured", async () => {
  const directory = decisionsDirectory();
  writeFileSync(
    join(directory, "e.yaml"),
    "decision: { id: e, type: binary, default: { target: t }, entities: [{ type: c, id: '1' }], cases: [{ condition: 'n > 1', target: u }] }",
  );
  const lineageOf = async (lineage?: object): Promise<unknown> => {
    const world = await compose({ decisions: directory, store: "memory", ...(lineage && { lineage }) });
    for (let n = 0; n < 4; n++) await world.decide({ decision_id: "e", context: { n: 5 } });
    for await (const { record } of world.records?.log.select({ limit: 1 }) ?? [])
      if (record.kind === "decision")
        return [record.lineage?.entities.length, record.lineage?.precedents.length];
    return undefined;
  };
  expect(await lineageOf()).toEqual([1, 3]);
  expect(await lineageOf({ maxPrecedentRefs: 2 })).toEqual([1, 2]);
  expect(await lineageOf({ storePrecedents: false })).toEqual([1, 0]);
  expect(await lineageOf({ enabled: false })).toEqual([0, 0]);
  for (const wrong of [{ enabled: "no" }, { storePrecedents: 1 }, { maxPrecedentRefs: 0 }, { maxRefs: 3 }])
    await expect(lineageOf(wrong)).rejects.toMatchObject({ code: "usage" });
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
