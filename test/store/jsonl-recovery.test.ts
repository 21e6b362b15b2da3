import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { collect, decided, seqs } from "./entries.js";
import { crashed, expectRepairs, tornFiles } from "./torn-tails.js";
import { FaultyFiles } from "./faulty-files.js";
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
  writeHeadFile,
  writeLog,
} from "./jsonl-log.js";

const damagedLog = { code: "log_damaged" };

const append = (directory: string, options?: Partial<JsonlOptions>): Promise<unknown> =>
  openLog(directory, options).log.append({ body: decided({ input: "next" }) });

/** All files of the log, except derived ones. */
function snapshot(directory: string): Record<string, string> {
  const names = readdirSync(join(directory, "log")).filter((name) => name !== "index");
  return Object.fromEntries(names.map((name) => [name, readLog(directory, name).toString("latin1")]));
}

function flip(bytes: Buffer, at: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}

async function expectRefused(directory: string): Promise<void> {
  const before = snapshot(directory);
  await expect(append(directory)).rejects.toMatchObject(damagedLog);
  await expect(append(directory)).rejects.toMatchObject(damagedLog);
  expect(snapshot(directory)).toEqual(before);
}

describe("after a crash between a record and the head", () => {
  it.each([1, 2, 7])("%i records are kept", async (count) => {
    const { directory, ahead } = await crashed(3, count);
    appendFileSync(logFile(directory, segmentFile(1)), ahead);
    expect(expectSound(directory)).toMatchObject({
      size: 3 + count,
      notes: [expect.stringContaining("a crash left")],
    });
    expect(await seqs(openLog(directory).log.select({}))).toHaveLength(3 + count);
    expect(await append(directory)).toMatchObject({ seq: 4 + count });
    expect(linesOf(directory)).toHaveLength(4 + count);
    expect(expectSound(directory)).toMatchObject({ size: 4 + count, notes: [] });
    expect(tornFiles(directory)).toEqual([]);
  });

  it("the first record is kept", async () => {
    const directory = await filled(1);
    const { head } = headOf(directory);
    writeHeadFile(directory, { size: 0, head: "0".repeat(64), segment: 1, bytes: 0 });
    expect(expectSound(directory)).toMatchObject({ size: 1, head });
    expect(await append(directory)).toMatchObject({ seq: 2 });
    expectSound(directory);
  });

  it("the missing checkpoints are written", async () => {
    const options = { checkpointEvery: 3 };
    const { directory, ahead } = await crashed(2, 6, options);
    appendFileSync(logFile(directory, segmentFile(1)), ahead);
    expect(existsSync(logFile(directory, "checkpoints.jsonl"))).toBe(false);
    await append(directory, options);
    const lines = linesOf(directory).map((line) => JSON.parse(line) as { hash: string });
    expect(checkpointsOf(directory)).toMatchObject(
      [3, 6, 9].map((size) => ({ size, head: lines[size - 1]?.hash })),
    );
    expectSound(directory);
  });

  it("a checkpoint that was written before the head is not written twice", async () => {
    const options = { checkpointEvery: 1 };
    const directory = await filled(2, options);
    const before = headOf(directory);
    await append(directory, options);
    writeHeadFile(directory, before);
    expectSound(directory);
    await append(directory, options);
    expect(checkpointsOf(directory).map(({ size }) => size)).toEqual([1, 2, 3, 4]);
    expectSound(directory);
  });

  it("counters are increased once", async () => {
    const counted = { body: decided(), counts: ["uses", "others"] };
    const directory = storeDirectory();
    const store = openLog(directory);
    await store.log.append(counted);
    const [head, counters] = [headOf(directory), join(directory, "counters")];
    const kept = storeDirectory();
    cpSync(counters, kept, { recursive: true });
    await Promise.all([store.log.append(counted), store.log.append(counted)]);
    await store.close();
    // Only the head is behind: the counters are up to date.
    writeHeadFile(directory, head);
    await append(directory);
    expect((await openLog(directory).log.counter("uses")).count).toBe(3);
    // The head and the counters are behind.
    cpSync(kept, counters, { recursive: true });
    writeHeadFile(directory, head);
    await append(directory);
    expect((await openLog(directory).log.counter("uses")).count).toBe(3);
    expect((await openLog(directory).log.counter("others")).count).toBe(3);
    expectSound(directory);
  });
});

describe("after a crash in the middle of a line", () => {
  it("the incomplete line is moved to a file and noted, and the log continues", async () => {
    await expectRepairs(41);
  });

  it("the complete lines before it are kept", async () => {
    const { directory, ahead } = await crashed(2, 5);
    appendFileSync(logFile(directory, segmentFile(1)), ahead.subarray(0, -10));
    expect(expectSound(directory)).toMatchObject({ size: 6 });
    expect(await append(directory)).toMatchObject({ seq: 8 });
    expect(await collect(openLog(directory).log.select({ kind: "note" }))).toMatchObject([
      { record: { seq: 7 } },
    ]);
    expectSound(directory);
  });

  it.each([
    { name: "a zero", tail: Buffer.alloc(1) },
    { name: "a block of zeros", tail: Buffer.alloc(4096) },
    {
      name: "an incomplete line and zeros",
      tail: Buffer.concat([Buffer.from('{"seq":3,"kind":"dec'), Buffer.alloc(5000)]),
    },
    { name: "zeros and a newline", tail: Buffer.concat([Buffer.alloc(100), Buffer.from("\n")]) },
    { name: "bytes that are not text", tail: Buffer.from([0xff, 0xfe, 0x80, 0xc3]) },
    { name: "half a character", tail: Buffer.from('{"seq":3,"kind":"ü').subarray(0, -1) },
  ])("$name at the end is moved to a file", async ({ tail }) => {
    const directory = await filled(2);
    appendFileSync(logFile(directory, segmentFile(1)), tail);
    expectSound(directory);
    expect(await append(directory)).toMatchObject({ seq: 4 });
    expect(tornFiles(directory).map((name) => readLog(directory, name))).toEqual([tail]);
    expectSound(directory);
  });

  it("readers see the complete records", async () => {
    const { directory, ahead } = await crashed(3, 1);
    appendFileSync(logFile(directory, segmentFile(1)), ahead.subarray(0, 200));
    const { log } = openLog(directory);
    expect(await seqs(log.select({}))).toEqual([1, 2, 3]);
    expect(await log.state()).toEqual({ size: 3, head: headOf(directory).head });
    await log.append({ body: decided() });
    expect(await seqs(log.select({}))).toEqual([1, 2, 3, 4, 5]);
  });

  it("each of several crashes is noted", async () => {
    const { directory, ahead } = await crashed(2, 1);
    for (let times = 1; times <= 4; times++) {
      appendFileSync(logFile(directory, segmentFile(1)), ahead.subarray(0, times * 20));
      await append(directory);
      expectSound(directory);
    }
    expect(tornFiles(directory)).toHaveLength(4);
    const notes = await collect(openLog(directory).log.select({ kind: "note" }));
    expect(notes).toHaveLength(4);
  });

  it("the note is not lost if it cannot be written at first", async () => {
    const { directory, ahead } = await crashed(2, 1);
    const half = ahead.subarray(0, 300);
    appendFileSync(logFile(directory, segmentFile(1)), half);
    const faulty = new FaultyFiles();
    faulty.failAt("writeSync", /^log\/\d{12}\.jsonl$/, "ENOSPC");
    await expect(append(directory, { files: faulty.files })).rejects.toMatchObject({ code: "store_failed" });
    expectSound(directory);
    await append(directory);
    expect(await collect(openLog(directory).log.select({ kind: "note" }))).toHaveLength(1);
    expect(tornFiles(directory).map((name) => readLog(directory, name))).toEqual([half]);
    expectSound(directory);
  });
});

describe("damage", () => {
  it.each([
    { name: "a complete line that is not a record", tail: "oops\n" },
    { name: "an empty line", tail: "\n" },
    {
      name: "a complete record with a wrong hash",
      tail: `{"seq":3,"kind":"note","prev_hash":"${"0".repeat(64)}","hash":"${"0".repeat(64)}"}\n`,
    },
  ])("at the end, such as $name, is not repaired", async ({ tail }) => {
    const directory = await filled(2);
    appendFileSync(logFile(directory, segmentFile(1)), tail);
    expect(verifyStore(directory).ok).toBe(false);
    await expectRefused(directory);
  });

  it("before a valid record is not repaired", async () => {
    const { directory, ahead } = await crashed(2, 3);
    ahead[20] = 0;
    appendFileSync(logFile(directory, segmentFile(1)), ahead);
    expect(verifyStore(directory).ok).toBe(false);
    await expectRefused(directory);
  });

  it("of the last record stops appends", async () => {
    const directory = await filled(3);
    const bytes = readLog(directory, segmentFile(1));
    flip(bytes, bytes.length - 10);
    writeLog(directory, segmentFile(1), bytes);
    await expectRefused(directory);
  });

  it("such as a removed end stops appends, wherever it was cut", async () => {
    const directory = await filled(3);
    const { length } = readLog(directory, segmentFile(1));
    for (const cut of [1, 2, 100, Math.floor(length / 3), Math.floor(length / 2), length]) {
      truncateSync(logFile(directory, segmentFile(1)), length - cut);
      expect(verifyStore(directory).ok).toBe(false);
      await expectRefused(directory);
    }
  });

  it.each([
    { name: "is missing", head: undefined },
    { name: "is empty", head: "" },
    { name: "is cut", head: "half" },
    { name: "is garbage", head: "x".repeat(512) },
    { name: "is zeros", head: "\0".repeat(512) },
    { name: "is longer", head: "longer" },
    { name: "has no size", head: JSON.stringify({ head: "0".repeat(64), segment: 1, bytes: 0 }).padEnd(512) },
    {
      name: "has a negative size",
      head: JSON.stringify({ size: -1, head: "0".repeat(64), segment: 1, bytes: 0 }).padEnd(512),
    },
    { name: "is null", head: "null".padEnd(512) },
    { name: "is of another log", head: "another" },
  ])("of the head is detected, and nothing is written: it $name", async ({ head }) => {
    const directory = await filled(3);
    const whole = readLog(directory, "head").toString("latin1");
    if (head === undefined) rmSync(logFile(directory, "head"));
    else if (head === "half") writeLog(directory, "head", whole.slice(0, 256));
    else if (head === "longer") writeLog(directory, "head", `${whole} `);
    else if (head === "another") cpSync(logFile(await filled(5), "head"), logFile(directory, "head"));
    else writeLog(directory, "head", head);
    expect(verifyStore(directory).ok).toBe(false);
    await expectRefused(directory);
  });

  it("does not prevent reading", async () => {
    const directory = await filled(5);
    const bytes = readLog(directory, segmentFile(1));
    const second = bytes.indexOf("\n") + 1;
    flip(bytes, second + 100);
    writeLog(directory, segmentFile(1), bytes);
    writeLog(directory, "head", "gone");
    const { log } = openLog(directory);
    expect((await seqs(log.select({}))).length).toBeGreaterThanOrEqual(4);
    expect((await log.tally("gate", {})).total).toBeGreaterThanOrEqual(4);
    expect(await log.find({ seq: 5 })).toMatchObject({ record: { seq: 5 } });
  });
});

describe("after a crash at the start of a segment", () => {
  const options = { segmentSize: 1, checkpointEvery: 100 };

  it("an empty one is used", async () => {
    const directory = await filled(3, options);
    writeLog(directory, segmentFile(4), "");
    expectSound(directory);
    expect(await append(directory, options)).toMatchObject({ seq: 4 });
    expect(segmentFiles(directory)).toEqual([1, 2, 3, 4].map(segmentFile));
    expectSound(directory);
    expect(checkpointsOf(directory).map(({ size }) => size)).toEqual([1, 2, 3]);
  });

  it("a complete record in it is kept", async () => {
    const directory = await filled(3, options);
    const before = headOf(directory);
    await append(directory, options);
    writeHeadFile(directory, before);
    expect(expectSound(directory)).toMatchObject({ size: 4 });
    expect(await append(directory, options)).toMatchObject({ seq: 5 });
    expectSound(directory);
  });

  it("an incomplete record in it is moved to a file", async () => {
    const directory = await filled(3, options);
    const before = headOf(directory);
    await append(directory, options);
    writeHeadFile(directory, before);
    truncateSync(logFile(directory, segmentFile(4)), 99);
    expectSound(directory);
    expect(await append(directory, options)).toMatchObject({ seq: 5 });
    expect(tornFiles(directory)).toHaveLength(1);
    expectSound(directory);
  });

  it("several segments after the head are kept", async () => {
    const directory = await filled(2, options);
    const before = headOf(directory);
    for (let times = 0; times < 4; times++) await append(directory, options);
    writeHeadFile(directory, before);
    expect(expectSound(directory)).toMatchObject({ size: 6 });
    expect(await append(directory, options)).toMatchObject({ seq: 7 });
    expectSound(directory);
  });

  it("the checkpoint of its start is written", async () => {
    const directory = await filled(3, options);
    const before = headOf(directory);
    const checkpoints = readLog(directory, "checkpoints.jsonl");
    await append(directory, options);
    writeHeadFile(directory, before);
    writeLog(directory, "checkpoints.jsonl", checkpoints);
    await append(directory, options);
    expect(checkpointsOf(directory).map(({ size }) => size)).toEqual([1, 2, 3, 4]);
    expectSound(directory);
  });
});

describe("after a crash during the creation", () => {
  it.each([
    {
      name: "the directory",
      prepare: (log: string) => {
        mkdirSync(log);
      },
    },
    {
      name: "an empty head",
      prepare: (log: string) => {
        mkdirSync(log);
        writeFileSync(join(log, "head"), "");
      },
    },
    {
      name: "half a head",
      prepare: (log: string) => {
        mkdirSync(log);
        writeFileSync(join(log, "head"), '{"size":0,"he');
      },
    },
  ])("that left only $name, the log is created", async ({ prepare }) => {
    const directory = storeDirectory();
    prepare(join(directory, "log"));
    expectSound(directory);
    expect(await append(directory)).toMatchObject({ seq: 1 });
    expectSound(directory);
  });

  it("that left a temporary lock directory, the log is created", async () => {
    const directory = storeDirectory();
    mkdirSync(join(directory, "lock.new-abc123"));
    expect(await append(directory)).toMatchObject({ seq: 1 });
  });
});
