import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { Appended, LogPlace, ShelfEntry, Store } from "../../src/model/store.js";
import { AnswerCache } from "../../src/record/answer-cache.js";
import { discardDerived, verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { cacheAnswer, cachedAt, lifetime, lookup } from "./cached-answers.js";
import { decided, noted } from "./entries.js";
import { chained } from "./forging.js";
import {
  expectSound,
  headOf,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFile,
  storeDirectory,
  writeLog,
} from "./jsonl-log.js";

/** Looks an answer up as another process would. */
async function ask(
  directory: string,
  key = "key",
  options = lookup,
): Promise<{ readonly labels: readonly string[] | undefined; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const cache = new AnswerCache(openLog(directory), (message) => warnings.push(message));
  const found = await cache.get(key, options);
  return { labels: found?.answer.selected_labels, warnings };
}

const put = (directory: string, entry: ShelfEntry): Promise<void> =>
  openLog(directory).shelf("cache").put([entry]);

const valueOf = ({ value }: ShelfEntry): JsonObject => value as JsonObject;

it("a cached answer is used while its record is in the log and it has not expired", async () => {
  const directory = storeDirectory();
  await cacheAnswer(openLog(directory));
  expect(await ask(directory)).toEqual({ labels: ["Pass"], warnings: [] });
  expect(await ask(directory, "key", { now: cachedAt + lifetime, lifetime })).toMatchObject({
    labels: undefined,
  });
  expect(verifyDerived(directory)).toEqual([]);
});

describe("a forged answer is not used, and verify names it", () => {
  interface Forgery {
    readonly name: string;
    readonly forge: (
      genuine: ShelfEntry,
      other: ShelfEntry,
      store: Store,
    ) => ShelfEntry | Promise<ShelfEntry>;
  }
  const forgeries: readonly Forgery[] = [
    {
      name: "another answer of the same record",
      forge: (genuine, other) => {
        const kept = { ...(valueOf(genuine)["kept"] as JsonObject) };
        const { answer = {} } = valueOf(other)["kept"] as JsonObject;
        return { ...genuine, value: { ...valueOf(genuine), kept: { ...kept, answer } } };
      },
    },
    { name: "the answer to another question", forge: (genuine, other) => ({ ...other, key: genuine.key }) },
    {
      name: "an answer without a record",
      forge: (genuine, other) => {
        const { answer = {} } = valueOf(other)["kept"] as JsonObject;
        return { ...genuine, value: { created_at: cachedAt, kept: { answer } } };
      },
    },
    {
      name: "an answer with the id of a record, as earlier versions stored it",
      forge: (genuine) => {
        const { kept = {} } = valueOf(genuine);
        return { ...genuine, value: { created_at: cachedAt, kept, digest: "0".repeat(64) } };
      },
    },
    {
      name: "the answer of a newer record, with the time of an older one",
      forge: (genuine) => ({ ...genuine, value: { ...valueOf(genuine), created_at: cachedAt + 1 } }),
    },
    {
      name: "an answer at a place without a record",
      forge: (genuine) => ({
        ...genuine,
        value: { ...valueOf(genuine), place: { segment: 1, offset: 7, length: 9 } },
      }),
    },
    {
      name: "an answer at a place that is no place",
      forge: (genuine) => ({ ...genuine, value: { ...valueOf(genuine), place: null } }),
    },
    {
      name: "an answer that the input of a record claims to be a record",
      forge: async (genuine, other, store) => {
        const line = (await textAt(store, valueOf(other)["place"])).replace(
          '"cache_key":"other"',
          '"cache_key":"key"',
        );
        const [forged = ""] = chained([line]);
        const context = { x: JSON.parse(forged) as JsonObject };
        const [outer = {}] = ((await store.log.append({ body: decided({ context }) })) as Placed).places;
        const { segment = 0, offset = 0 } = outer;
        const within = (await textAt(store, outer)).indexOf(forged);
        expect(within).toBeGreaterThan(0);
        const place = { segment, offset: offset + within, length: forged.length };
        return { ...other, key: genuine.key, value: { ...valueOf(other), place } };
      },
    },
  ];

  const textAt = async (store: Store, place: unknown): Promise<string> =>
    (await store.log.at(place as LogPlace))?.text ?? "";
  type Placed = Extract<Appended, { readonly places: unknown }>;

  it.each(forgeries)("$name", async ({ forge }) => {
    const directory = storeDirectory();
    const store = openLog(directory);
    const genuine = await cacheAnswer(store);
    const other = await cacheAnswer(store, { key: "other", label: "Fail" });
    await put(directory, await forge(genuine, other, store));
    expect((await ask(directory)).labels).toBeUndefined();
    expect((await ask(directory, "other")).labels).toEqual(["Fail"]);
    expectSound(directory);
    const problems = verifyDerived(directory);
    expect(problems).toMatchObject([{ kind: "derived", file: "cache/all.jsonl" }]);
    // An answer that has expired is not used either way.
    expect(verifyDerived(directory, cachedAt + lifetime)).toEqual([]);
    discardDerived(directory, problems);
    expect(verifyDerived(directory)).toEqual([]);
  });

  it("an answer whose record was edited", async () => {
    const directory = storeDirectory();
    await cacheAnswer(openLog(directory));
    const text = readLog(directory, segmentFile(1)).toString("utf8");
    writeLog(directory, segmentFile(1), text.replace('"type":"binary"', '"type":"switch"'));
    expect((await ask(directory)).labels).toBeUndefined();
  });

  it("an answer whose record is in a segment after the end of the log", async () => {
    const directory = storeDirectory();
    const genuine = await cacheAnswer(openLog(directory));
    const { size } = headOf(directory);
    const [line = ""] = linesOf(directory);
    writeFileSync(logFile(directory, segmentFile(size + 7)), `${line}\n`);
    const place = { segment: size + 7, offset: 0, length: line.length };
    await put(directory, { ...genuine, value: { ...valueOf(genuine), place } });
    expect((await ask(directory)).labels).toBeUndefined();
  });

  it("an answer whose record is in a file that is not part of the log", async () => {
    const directory = storeDirectory();
    const genuine = await cacheAnswer(openLog(directory));
    const [line = ""] = linesOf(directory);
    writeFileSync(logFile(directory, "0000000000-5.jsonl"), `${line}\n`);
    const place = { segment: -5, offset: 0, length: line.length };
    await put(directory, { ...genuine, value: { ...valueOf(genuine), place } });
    expect((await ask(directory)).labels).toBeUndefined();
    expect(verifyDerived(directory)).toMatchObject([{ kind: "derived", file: "cache/all.jsonl" }]);
  });

  it.each([
    { name: "the last one", options: {}, later: 0 },
    { name: "before another one", options: {}, later: 1 },
    { name: "the last one of its segment", options: { segmentSize: 100 }, later: 1 },
  ])("an answer whose record was edited and hashed again, $name", async ({ options, later }) => {
    const directory = storeDirectory();
    const store = openLog(directory, options);
    await cacheAnswer(store);
    for (let input = 0; input < later; input++) await store.log.append({ body: decided({ input }) });
    expect((await ask(directory)).labels).toEqual(["Pass"]);
    const [line = ""] = linesOf(directory);
    const [forged = ""] = chained([line.replace('"type":"binary"', '"type":"switch"')]);
    const text = readLog(directory, segmentFile(1)).toString("utf8");
    writeLog(directory, segmentFile(1), text.replace(line, forged));
    expect((await ask(directory)).labels).toBeUndefined();
  });

  it("an answer that was made to live longer", async () => {
    const directory = storeDirectory();
    const genuine = await cacheAnswer(openLog(directory));
    await put(directory, { ...genuine, expires_at: cachedAt + 9 * lifetime });
    expect((await ask(directory, "key", { now: cachedAt + lifetime, lifetime })).labels).toBeUndefined();
  });
});

it("an answer whose record was pruned is not used, which is no difference", async () => {
  const directory = storeDirectory();
  const small = { segmentSize: 500 };
  const store = openLog(directory, small);
  await cacheAnswer(store);
  await store.log.append({ body: decided() });
  await store.log.prune(await store.log.prunable({ keep: 1 }), noted);
  expect(linesOf(directory)[0]).not.toContain("cache_key");
  expect(await ask(directory)).toEqual({ labels: undefined, warnings: [] });
  expect(verifyDerived(directory)).toEqual([]);
});

it("an answer is used if a power cut has brought back an older head", async () => {
  const directory = storeDirectory();
  await openLog(directory).log.append({ body: decided() });
  const older = readLog(directory, "head");
  await cacheAnswer(openLog(directory));
  writeLog(directory, "head", older);
  expect((await ask(directory)).labels).toEqual(["Pass"]);
  expect(verifyDerived(directory)).toEqual([]);
});

it("an answer is not used without a log", async () => {
  const directory = storeDirectory();
  await cacheAnswer(openLog(directory));
  rmSync(logFile(directory, ""), { recursive: true });
  expect((await ask(directory)).labels).toBeUndefined();
});
