import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { chainProblems, decided, noted, sha256 } from "./entries.js";
import {
  checkpointsOf,
  expectSound,
  filled,
  headOf,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
} from "./jsonl-log.js";

const firstsOf = (directory: string): readonly number[] =>
  segmentFiles(directory).map((name) => Number.parseInt(name, 10));

const bytesOf = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** Returns the expected starts of the segments for records that are appended one by one. */
function firstsExpected(lines: readonly string[], segmentSize: number): readonly number[] {
  const firsts = [1];
  let size = 0;
  for (const [at, line] of lines.entries()) {
    const length = Buffer.byteLength(line) + 1;
    if (size > 0 && size + length > segmentSize) {
      firsts.push(at + 1);
      size = 0;
    }
    size += length;
  }
  return firsts;
}

/** Returns the expected checkpoints: at the interval, and at the end of every segment except the last. */
function pinsExpected(directory: string, checkpointEvery: number): readonly number[] {
  const { length } = linesOf(directory);
  const regular = Array.from(
    { length: Math.floor(length / checkpointEvery) },
    (_, at) => (at + 1) * checkpointEvery,
  );
  const ends = firstsOf(directory).map((first) => first - 1);
  return [...new Set([...regular, ...ends.filter((end) => end > 0)])].sort((a, b) => a - b);
}

/** Checks sizes, hashes and the chain of the checkpoints, independently of the code under test. */
function expectCheckpoints(directory: string, sizes: readonly number[]): void {
  const hashes = linesOf(directory).map((line) => (JSON.parse(line) as { hash: string }).hash);
  const checkpoints = sizes.length === 0 ? [] : checkpointsOf(directory);
  expect(checkpoints.map(({ size }) => size)).toEqual(sizes);
  let previous = "0".repeat(64);
  for (const { size, head, prev_hash, timestamp, hash } of checkpoints) {
    expect({ size, head, prev_hash }).toEqual({ size, head: hashes[size - 1], prev_hash: previous });
    expect(hash).toBe(sha256(JSON.stringify({ size, head, timestamp, prev_hash })));
    previous = hash;
  }
  const pin = checkpoints.at(-1);
  expect(headOf(directory).checkpoint).toEqual(
    pin && expect.objectContaining({ size: pin.size, hash: pin.hash }),
  );
}

describe("segments", () => {
  it.each([1, 700, 1500, 2000, 5000, 10_000, 64 * 1024 * 1024])(
    "contain up to %i bytes",
    async (segmentSize) => {
      const directory = await filled(37, { segmentSize, durability: "fast" });
      expect(firstsOf(directory)).toEqual(firstsExpected(linesOf(directory), segmentSize));
      expectSound(directory);
    },
  );

  it("contain complete lines, and the chain continues across them", async () => {
    const directory = await filled(60, { segmentSize: 3000 });
    const firsts = firstsOf(directory);
    expect(firsts.length).toBeGreaterThan(8);
    for (const [at, first] of firsts.entries()) {
      const bytes = readLog(directory, segmentFile(first));
      expect(bytes.at(-1)).toBe(10);
      const lines = bytes.toString("utf8").split("\n").slice(0, -1);
      expect(lines).toHaveLength((firsts[at + 1] ?? 61) - first);
      expect(lines[0]).toMatch(new RegExp(`^\\{"seq":${first},`));
    }
    expect(chainProblems(linesOf(directory))).toEqual([]);
  });

  it("are never much larger than configured, however large a batch is", async () => {
    const directory = storeDirectory();
    const { log } = openLog(directory, { segmentSize: 8000 });
    await Promise.all(Array.from({ length: 300 }, (_, input) => log.append({ body: decided({ input }) })));
    const sizes = segmentFiles(directory).map((name) => readLog(directory, name).length);
    expect(Math.max(...sizes)).toBeLessThan(2 * 8000);
    expect(expectSound(directory)).toMatchObject({ size: 300 });
  });

  it("can contain a record that is larger than the segment size", async () => {
    const directory = storeDirectory();
    const { log } = openLog(directory, { segmentSize: 2000 });
    for (const length of [10, 9_000_000, 10])
      await log.append({ body: decided({ context: { filler: "ü".repeat(length) } }) });
    expect(firstsOf(directory)).toEqual([1, 2, 3]);
    expect(expectSound(directory)).toMatchObject({ size: 3 });
    expect(await openLog(directory).log.find({ seq: 2 })).toMatchObject({ record: { seq: 2 } });
  });

  it("are started by any process, even if their segment sizes differ", async () => {
    const directory = storeDirectory();
    const sizes = [1500, 4000, 1_000_000];
    const stores = sizes.map((segmentSize) =>
      openLog(directory, { segmentSize, durability: "fast", checkpointEvery: 4 }),
    );
    for (let input = 0; input < 45; input++)
      await stores[input % 3]?.log.append({ body: decided({ input }) });
    expect(firstsOf(directory).length).toBeGreaterThan(3);
    expect(expectSound(directory)).toMatchObject({ size: 45 });
    expectCheckpoints(directory, pinsExpected(directory, 4));
  });

  it("have a head with the length of the last one", async () => {
    const directory = storeDirectory();
    const store = openLog(directory, { segmentSize: 2500 });
    for (let size = 1; size <= 20; size++) {
      await store.log.append({ body: decided({ input: size }) });
      const last = firstsOf(directory).at(-1) ?? 0;
      const { length } = readLog(directory, segmentFile(last));
      const hash = (JSON.parse(linesOf(directory).at(-1) ?? "") as { hash: string }).hash;
      expect(headOf(directory)).toMatchObject({ size, head: hash, segment: last, bytes: length });
      expect(statSync(logFile(directory, "head")).size).toBe(512);
    }
  });

  it("can only be read by their owner", async () => {
    const directory = join(storeDirectory(), "store");
    const store = openLog(directory, { segmentSize: 1, checkpointEvery: 1 });
    for (let input = 0; input < 3; input++)
      await store.log.append({ body: decided({ input }), counts: ["uses"] });
    await store.shelf("cache").put([{ key: "k", value: 1 }]);
    await store.log.tally("gate", {});
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
      const { mode } = statSync(join(directory, name));
      const isDirectory = statSync(join(directory, name)).isDirectory();
      expect({ name, mode: (mode & 0o777).toString(8) }).toEqual({ name, mode: isDirectory ? "700" : "600" });
    }
  });
});

describe("checkpoints", () => {
  it.each([
    { every: 1, segmentSize: 3000 },
    { every: 3, segmentSize: 3000 },
    { every: 5, segmentSize: 1 },
    { every: 7, segmentSize: 64 * 1024 },
    { every: 1000, segmentSize: 3000 },
  ])(
    "are written every $every records and at every new segment of $segmentSize bytes",
    async ({ every, segmentSize }) => {
      const directory = await filled(41, { checkpointEvery: every, segmentSize, durability: "fast" });
      expectCheckpoints(directory, pinsExpected(directory, every));
      expectSound(directory);
    },
  );

  it("are written within a batch", async () => {
    const directory = storeDirectory();
    const options: Partial<JsonlOptions> = { checkpointEvery: 10, segmentSize: 20_000 };
    const store = openLog(directory, options);
    for (let round = 0; round < 6; round++)
      await Promise.all(
        Array.from({ length: 7 + round * 5 }, (_, input) => store.log.append({ body: decided({ input }) })),
      );
    expectCheckpoints(directory, pinsExpected(directory, 10));
    expectSound(directory);
  });

  it("are not written for an empty log", async () => {
    const directory = await filled(9, { checkpointEvery: 10 });
    expect(existsSync(logFile(directory, "checkpoints.jsonl"))).toBe(false);
    expect(headOf(directory).checkpoint).toBeUndefined();
  });

  it("survive the records that they pinned", async () => {
    const directory = await filled(30, { checkpointEvery: 4, segmentSize: 3000 });
    const before = checkpointsOf(directory);
    const store = openLog(directory, { checkpointEvery: 4, segmentSize: 3000 });
    await store.log.prune(await store.log.prunable({ keep: 5 }), noted);
    expect(checkpointsOf(directory).slice(0, before.length)).toEqual(before);
    expect(checkpointsOf(directory).at(-1)).toMatchObject({ size: 31 });
    expectSound(directory);
  });

  it("and segments count bytes, not characters", async () => {
    const directory = storeDirectory();
    const store = openLog(directory, { segmentSize: 3000, checkpointEvery: 5 });
    for (const filler of ["ü", "漢字", "🎉", "\u2028", "\n", "x".repeat(900)])
      for (let input = 0; input < 4; input++)
        await store.log.append({ body: decided({ input, context: { filler } }) });
    const lines = linesOf(directory);
    expect(firstsOf(directory)).toEqual(firstsExpected(lines, 3000));
    expect(bytesOf(lines)).toBe(
      segmentFiles(directory).reduce((sum, name) => sum + readLog(directory, name).length, 0),
    );
    expectSound(directory);
  });
});
