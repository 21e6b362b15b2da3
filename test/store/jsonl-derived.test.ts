import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ResponseCache } from "../../src/enrichment/response-cache.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { writeSealedJson } from "../../src/store/drivers/jsonl/index/sealed-json.js";
import { discardDerived, verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { chained } from "./forging.js";
import { decided, noon, noted, seqs, sha256 } from "./entries.js";
import type { HeadFile } from "./jsonl-log.js";
import {
  expectSound,
  filled,
  headOf,
  linesOf,
  logFile,
  openLog,
  segmentFiles,
  storeDirectory,
  writeHeadFile,
  writeLog,
} from "./jsonl-log.js";

const small = { segmentSize: 3000, checkpointEvery: 5 };

/** A log of 40 records with an index and a tally. */
async function indexed(): Promise<string> {
  const directory = await filled(40, small);
  await openLog(directory, small).log.tally("gate", {});
  expect(verifyDerived(directory)).toEqual([]);
  return directory;
}

const indexFile = (directory: string, kind: string): string =>
  logFile(
    directory,
    `index/${readdirSync(logFile(directory, "index")).find((name) => name.startsWith(kind)) ?? ""}`,
  );

const nameOf = (path: string): string => path.replace(/^.*\/log\//, "log/");

it("a tally of a decision without records is no difference, even if the log has notes", async () => {
  const directory = await indexed();
  const { log } = openLog(directory, small);
  await log.prune(await log.prunable({ keep: 1 }), noted);
  await openLog(directory, small).log.tally("unknown", {});
  expect(verifyDerived(directory)).toEqual([]);
});

it("counters that a backup left out are no difference", async () => {
  const directory = await filled(3, small);
  await openLog(directory, small).log.append({ body: decided({}), counts: ["uses"] });
  rmSync(join(directory, "counters"), { recursive: true });
  expect(verifyDerived(directory)).toEqual([]);
});

describe("a cached response of an endpoint", () => {
  const response = { data: { score: 1 }, fetched_at: noon };

  async function cachedResponse(): Promise<{ directory: string; file: string }> {
    const directory = await filled(1);
    const cache = new ResponseCache(openLog(directory).shelf("responses"), () => undefined);
    await cache.put("key", { settings: { lifetime: 1 }, stateKey: "crm" } as never, response);
    expect(verifyDerived(directory)).toEqual([]);
    return { directory, file: join(directory, "responses/all.jsonl") };
  }
  const withoutSum = (line: string): string => line.replace(/,"sum":"[0-9a-f]{8}"\}$/m, "}");

  it("is a difference if it does not match its digest, and is discarded", async () => {
    const { directory, file } = await cachedResponse();
    const text = readFileSync(file, "utf8");
    writeFileSync(file, withoutSum(text).replace('"score":1', '"score":99'));
    const problems = verifyDerived(directory);
    expect(problems).toMatchObject([{ kind: "derived", file: "responses/all.jsonl" }]);
    discardDerived(directory, problems);
    expect(verifyDerived(directory)).toEqual([]);
  });

  it("is no difference if an earlier version wrote it without a digest", async () => {
    const { directory, file } = await cachedResponse();
    const text = readFileSync(file, "utf8");
    writeFileSync(file, withoutSum(text).replace(/,"digest":"[0-9a-f]{64}"/, ""));
    expect(verifyDerived(directory)).toEqual([]);
  });
});

describe("a file of the index that was changed", () => {
  const edits: { kind: string; edit: (bytes: Buffer) => void }[] = [
    { kind: "rows-", edit: (bytes) => bytes.fill(0xff, 4, 8) },
    { kind: "state.json", edit: (bytes) => bytes.write("9", bytes.indexOf('"counts":[') + 10) },
    { kind: "tally-", edit: (bytes) => bytes.write("9", bytes.indexOf('"0":') + 4) },
  ];

  it.each(edits)("does not change any answer ($kind)", async ({ kind, edit }) => {
    const directory = await indexed();
    const path = indexFile(directory, kind);
    const bytes = readFileSync(path);
    edit(bytes);
    writeFileSync(path, bytes);
    expect(verifyDerived(directory)).toMatchObject([{ kind: "derived", file: nameOf(path) }]);
    const { log } = openLog(directory, small);
    expect((await log.tally("gate", {})).total).toBe(40);
    expect(await seqs(log.select({ decision_id: "gate" }))).toHaveLength(40);
    expect(await seqs(log.select({ decision_id: "gate", reverse: true, limit: 39 }))).toHaveLength(39);
    expect(verifyDerived(directory)).toEqual([]);
    expectSound(directory);
  });

  it("is found while records are read, and the rest is read with a new one", async () => {
    const directory = await filled(700, { durability: "fast" });
    await openLog(directory).log.state();
    const path = indexFile(directory, "rows-");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(7, bytes.length - 500));
    for (const reverse of [false, true]) {
      const found = await seqs(openLog(directory).log.select({ decision_id: "gate", reverse }));
      expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 700 }, (_, at) => at + 1));
    }
  });
});

describe("an index that was forged with its checksum", () => {
  it("is found and discarded by verify", async () => {
    const directory = await indexed();
    const path = indexFile(directory, "tally-");
    const [json = ""] = readFileSync(path, "utf8").split("\n");
    const tally = JSON.parse(json) as { records: Record<string, number> };
    writeSealedJson(path, { ...tally, records: { 0: 7 } });
    expect((await openLog(directory, small).log.tally("gate", {})).total).toBe(7);
    const problems = verifyDerived(directory);
    expect(problems).toMatchObject([{ kind: "derived", file: nameOf(path) }]);
    discardDerived(directory, problems);
    expect((await openLog(directory, small).log.tally("gate", {})).total).toBe(40);
    expect(verifyDerived(directory)).toEqual([]);
  });

  it("decides neither what is pruned nor what is exported", async () => {
    const directory = await indexed();
    const path = logFile(directory, "index/state.json");
    const [json = ""] = readFileSync(path, "utf8").split("\n");
    const state = JSON.parse(json) as { shapes: { decision_id: string }[] };
    writeSealedJson(path, { ...state, shapes: state.shapes.map((each) => ({ ...each, decision_id: "x" })) });
    const { log } = openLog(directory, small);
    expect(await seqs(log.select({ decision_id: "gate" }))).toEqual([]);
    expect(await seqs(log.select({ decision_id: "gate", unindexed: true }))).toHaveLength(40);
    expect(await log.prunable({ before: microsecondsOf(noon) })).toMatchObject({ records: 0 });
    expect(await log.prunable({ before: microsecondsOf(noon) + 1 })).toMatchObject({ records: 40 });
    expect(verifyDerived(directory)).toMatchObject([{ file: "log/index/state.json" }]);
  });
});

describe("verify", () => {
  it("names an environment that is missing", async () => {
    const directory = await filled(3);
    rmSync(join(directory, "environments"), { recursive: true });
    expect(verifyStore(directory).problems).toMatchObject([
      { kind: "definition", seq: 1, message: expect.stringContaining("the environment") as string },
    ]);
  });

  it("names approval locks that were forgotten, and they are not used", async () => {
    const directory = await filled(3);
    const entry = { key: "lock", value: { serial: 4, head: sha256("lock") } };
    await openLog(directory).shelf("approvals").put([entry]);
    await openLog(directory).log.append({ body: decided() });
    expectSound(directory);
    rmSync(join(directory, "approvals"), { recursive: true });
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "approvals", file: "approvals" }]);
    const approvals = openLog(directory).shelf("approvals");
    await expect(approvals.get("lock")).rejects.toMatchObject({ code: "store_failed" });
    expect(await openLog(directory).log.append({ body: decided() })).toHaveProperty("seq");
  });
});

describe("a forged note of a prune", () => {
  /** Appends a note as a prune would write it, with a matching head. */
  function appendNote(directory: string, head: Partial<HeadFile>): void {
    const [oldest = ""] = segmentFiles(directory);
    const lines = readFileSync(logFile(directory, oldest), "utf8").trimEnd().split("\n");
    const { seq, hash } = JSON.parse(lines.at(-1) ?? "") as { seq: number; hash: string };
    rmSync(logFile(directory, oldest));
    const before = headOf(directory);
    const body = `{"seq":1,${noted({ through: seq, hash, records: seq })},"prev_hash":"${before.head}","hash":"${before.head}"}`;
    const [line = ""] = chained([body], before.size + 1, before.head);
    const newest = segmentFiles(directory).at(-1) ?? "";
    writeLog(directory, newest, `${readFileSync(logFile(directory, newest), "utf8")}${line}\n`);
    const { hash: last } = JSON.parse(line) as { hash: string };
    const end = { size: before.size + 1, head: last, bytes: before.bytes + line.length + 1 };
    writeHeadFile(directory, { ...before, ...end, ...head });
  }

  it.each([
    { name: "without a checkpoint", head: {} },
    { name: "in the head, too", head: { pruned: 1000 } },
  ])("is noticed $name", async ({ head }) => {
    const directory = await filled(30, small);
    expect(linesOf(directory)).toHaveLength(30);
    appendNote(directory, head);
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "missing", seq: 1 }]);
  });
});

it("a store that was never used has nothing to compare", () => {
  expect(verifyDerived(storeDirectory())).toEqual([]);
});
