import { appendFileSync, cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { Entry, Store } from "../../src/model/store.js";
import { ShelfFiles } from "../../src/store/drivers/jsonl/file-shelf.js";
import { systemFiles } from "../../src/store/drivers/jsonl/files.js";
import { verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { decided, noted } from "./entries.js";
import {
  expectSound,
  headOf,
  linesOf,
  logFile,
  openLog,
  segmentFile,
  storeDirectory,
  writeHeadFile,
  writeUnsealedHead,
} from "./jsonl-log.js";

const limited = (input = 1): Entry => ({
  body: decided({ input }),
  counts: ["uses", { counter: "timed", keep: 3, at: input }],
  limits: [{ counter: "uses", most: 6 }],
});

const small = { segmentSize: 2000, checkpointEvery: 5 };

/** A log whose limit has one use left. */
async function usedFiveTimes(): Promise<string> {
  const directory = storeDirectory();
  const store = openLog(directory, small);
  for (let input = 0; input < 5; input++) {
    await store.log.append(limited(input));
    await store.log.append({ body: decided({ input }), counts: [`other-${input}`] });
  }
  await store.close();
  return directory;
}

const counterFiles = (directory: string): readonly string[] =>
  readdirSync(join(directory, "counters")).map((name) => join(directory, "counters", name));

/** Uses the limit up and expects that exactly one use was left. */
async function expectOneLeft(directory: string): Promise<void> {
  const { log } = openLog(directory, small);
  expect(await log.counter("uses")).toMatchObject({ count: 5 });
  expect(await log.append(limited(9))).toHaveProperty("seq");
  expect(await log.append(limited(10))).toMatchObject({ refused: { counter: "uses" }, count: 6 });
  expect(await log.counter("timed")).toMatchObject({ count: 6, times: [3, 4, 9] });
  for (let input = 0; input < 5; input++)
    expect(await log.counter(`other-${input}`)).toMatchObject({ count: 1 });
  expectSound(directory);
}

const prune = async ({ log }: Store, noteOf: (details: JsonObject) => string = noted): Promise<void> => {
  const found = await log.prunable({ keep: 1 });
  expect(found.records).toBeGreaterThan(0);
  await log.prune(found, noteOf);
};

describe("counters are counted again from the log", () => {
  it("if their directory was removed", async () => {
    const directory = await usedFiveTimes();
    rmSync(join(directory, "counters"), { recursive: true });
    await expectOneLeft(directory);
    expect(verifyDerived(directory)).toEqual([]);
  });

  it("if any of their files was removed", async () => {
    const template = await usedFiveTimes();
    for (const [at] of counterFiles(template).entries()) {
      const directory = storeDirectory();
      cpSync(template, directory, { recursive: true });
      rmSync(counterFiles(directory)[at] ?? "");
      await expectOneLeft(directory);
    }
  });

  it("if a value was edited, even with a new checksum", async () => {
    const directory = await usedFiveTimes();
    for (const file of counterFiles(directory)) {
      const text = readFileSync(file, "latin1");
      writeFileSync(file, text.replace('"count":5', '"count":0'), "latin1");
    }
    await expectOneLeft(directory);
  });

  it("if they were replaced by an older copy", async () => {
    const directory = await usedFiveTimes();
    const [counters, older] = [join(directory, "counters"), join(directory, "older")];
    cpSync(counters, older, { recursive: true });
    await openLog(directory, small).log.append({ body: decided(), counts: ["uses"] });
    rmSync(counters, { recursive: true });
    cpSync(older, counters, { recursive: true });
    expect(await openLog(directory, small).log.counter("uses")).toMatchObject({ count: 6 });
    expect(await openLog(directory, small).log.append(limited())).toMatchObject({ refused: {} });
  });

  it("without writing anything, if they are only read", async () => {
    const directory = await usedFiveTimes();
    rmSync(join(directory, "counters"), { recursive: true });
    expect(await openLog(directory, small).log.counter("uses")).toMatchObject({ count: 5 });
    expect(readdirSync(directory)).not.toContain("counters");
  });

  it("reading the log only once", async () => {
    const directory = await usedFiveTimes();
    rmSync(join(directory, "counters"), { recursive: true });
    const progress: number[] = [];
    const store = openLog(directory, { ...small, progress: (done) => progress.push(done) });
    await store.log.append(limited());
    const read = progress.length;
    expect(read).toBeGreaterThan(0);
    await store.log.append(limited());
    await openLog(directory, { ...small, progress: (done) => progress.push(done) }).log.append(limited());
    expect(progress).toHaveLength(read);
  });
});

describe("records that a crash left behind the head", () => {
  it.each([
    { name: "with an incomplete line after them", rest: '{"seq":' },
    { name: "and nothing after them", rest: "" },
  ])("are counted once $name, even if the next append is refused", async ({ rest }) => {
    const directory = storeDirectory();
    const store = openLog(directory);
    await store.log.append({ body: decided() });
    const before = readFileSync(logFile(directory, "head"));
    const counters = join(directory, "counters");
    for (let input = 0; input < 6; input++) await store.log.append(limited(input));
    await store.close();
    rmSync(counters, { recursive: true });
    writeFileSync(logFile(directory, "head"), before);
    appendFileSync(logFile(directory, segmentFile(1)), rest);
    for (let times = 0; times < 3; times++)
      expect(await openLog(directory).log.append(limited())).toMatchObject({ refused: {}, count: 6 });
    expect(await openLog(directory).log.append({ body: decided() })).toHaveProperty("seq");
    expect(await openLog(directory).log.append(limited())).toMatchObject({ refused: {}, count: 6 });
    expectSound(directory);
  });
});

describe("a prune", () => {
  it("resets no limit, even if the counters are removed afterwards", async () => {
    const directory = await usedFiveTimes();
    await prune(openLog(directory, small));
    rmSync(join(directory, "counters"), { recursive: true });
    await expectOneLeft(directory);
    await prune(openLog(directory, small));
    rmSync(join(directory, "counters"), { recursive: true });
    expect(await openLog(directory, small).log.counter("uses")).toMatchObject({ count: 6 });
    expectSound(directory);
  });

  it("does not repeat the counters of earlier prunes", async () => {
    const directory = await usedFiveTimes();
    await prune(openLog(directory, small));
    await expectOneLeft(directory);
    for (let input = 0; input < 9; input++)
      await openLog(directory, small).log.append({ body: decided({ input }) });
    await prune(openLog(directory, small));
    const note = linesOf(directory).find((line) => line.includes('"note":"pruned"')) ?? "";
    expect(note.match(/"counters":/g)).toHaveLength(1);
  });
});

describe("counters of an earlier version, without checksums", () => {
  /** Replaces the counters and the head by those that an earlier version would have. */
  function makeEarlier(directory: string): ShelfFiles {
    rmSync(join(directory, "counters"), { recursive: true });
    const shelf = new ShelfFiles(join(directory, "counters"), {
      files: systemFiles,
      now: () => 0,
      durable: false,
    });
    shelf.put([{ key: "uses", value: { count: 6, seq: 9 } }]);
    const {
      size,
      head,
      segment,
      bytes,
      checkpoint: { size: covered = 0, hash = "" } = {},
    } = headOf(directory);
    writeUnsealedHead(directory, { size, head, segment, bytes, checkpoint: { size: covered, hash } });
    return shelf;
  }

  /** The note of a prune of an earlier version. */
  const withoutCounters = ({ through = 0, hash = "", records = 0 }: JsonObject): string =>
    noted({ through, hash, records });

  it("are taken over where records that they count were pruned, and noted in the log", async () => {
    const directory = await usedFiveTimes();
    await prune(openLog(directory, small), withoutCounters);
    const shelf = makeEarlier(directory);
    const { log } = openLog(directory, small);
    expect(await log.counter("uses")).toMatchObject({ count: 6 });
    expect(await log.append(limited())).toMatchObject({ refused: {}, count: 6 });
    expect(shelf.leaves()).toEqual([]);
    expect(linesOf(directory).at(-1)).toContain('"note":"counters_migrated"');
    rmSync(join(directory, "counters"), { recursive: true });
    expect(await openLog(directory, small).log.counter("uses")).toMatchObject({ count: 6 });
    expect(verifyDerived(directory)).toEqual([]);
    expectSound(directory);
  });

  it("are not trusted where a note has the counters of pruned records", async () => {
    const directory = await usedFiveTimes();
    await prune(openLog(directory, small));
    makeEarlier(directory).put([{ key: "uses", value: { count: 0, seq: 9 } }]);
    expect(await openLog(directory, small).log.counter("uses")).toMatchObject({ count: 5 });
    await expectOneLeft(directory);
  });

  it("are not trusted if they are below what the other records count", async () => {
    const directory = await usedFiveTimes();
    await prune(openLog(directory, small), withoutCounters);
    for (let input = 0; input < 4; input++)
      await openLog(directory, small).log.append({ body: decided({ input }), counts: ["uses"] });
    makeEarlier(directory).put([{ key: "uses", value: { count: 0, seq: 9 } }]);
    expect((await openLog(directory, small).log.counter("uses")).count).toBeGreaterThanOrEqual(4);
  });

  it("are not trusted where all records are present", async () => {
    const directory = await usedFiveTimes();
    makeEarlier(directory);
    const { log } = openLog(directory, small);
    expect(await log.counter("uses")).toMatchObject({ count: 5 });
    expect(await log.append(limited())).not.toHaveProperty("refused");
    expect(await log.counter("uses")).toMatchObject({ count: 6 });
  });
});

describe("verify", () => {
  it("names the file of a counter that was forged with all its checksums", async () => {
    const directory = await usedFiveTimes();
    const other = storeDirectory();
    await openLog(other, small).log.append(limited());
    // The counters of another log, and the pin in the head that fits them.
    rmSync(join(directory, "counters"), { recursive: true });
    cpSync(join(other, "counters"), join(directory, "counters"), { recursive: true });
    const { counters } = JSON.parse(readFileSync(logFile(other, "head"), "utf8")) as { counters: string };
    writeHeadFile(directory, { ...headOf(directory), counters });
    expect(await openLog(directory, small).log.counter("uses")).toMatchObject({ count: 1 });
    const files = verifyDerived(directory).map(({ file }) => file);
    expect(files).toContain("log/head");
    expect(files).toContain("counters/table");
    expect(files.filter((file) => /^counters\/[0-9a-f]{3}\.json$/.test(file ?? "")).length).toBeGreaterThan(
      0,
    );
  });
});
