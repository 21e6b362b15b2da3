import { appendFileSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Entry, Store } from "../../src/model/store.js";
import { chainProblems, decided } from "./entries.js";
import { FaultyFiles } from "./faulty-files.js";
import { appendWithRoom } from "./limited-space.js";
import {
  checkpointsOf,
  expectSound,
  filled,
  linesOf,
  openLog,
  readLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
} from "./jsonl-log.js";

const segments = /^log\/\d{12}\.jsonl$/;
const notRecorded = { code: "store_failed" };

const entry = (input: number | string = 1): Entry => ({ body: decided({ input }) });

const sizeOf = (directory: string, first = 1): number =>
  statSync(join(directory, "log", segmentFile(first))).size;

/** Checks that the store continues, contains nothing of the failed append, and is valid. */
async function expectRecovered(store: Store, directory: string, seq: number): Promise<void> {
  expect(await store.log.append(entry("afterwards"))).toMatchObject({ seq });
  expect(linesOf(directory)).toHaveLength(seq);
  expect(chainProblems(linesOf(directory))).toEqual([]);
  expectSound(directory);
  expect(await openLog(directory).log.append(entry("another"))).toMatchObject({ seq: seq + 1 });
  expectSound(directory);
}

describe("a failed sync", () => {
  it("acknowledges nothing and leaves nothing in the log", async () => {
    const directory = await filled(3);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    const before = readLog(directory, segmentFile(1));
    faulty.failAt("fdatasyncSync", segments, "EIO");
    await expect(store.log.append(entry())).rejects.toMatchObject(notRecorded);
    expect(readLog(directory, segmentFile(1))).toEqual(before);
    expect(linesOf(directory)).toHaveLength(3);
    expectSound(directory);
    faulty.heal();
    await expectRecovered(store, directory, 4);
  });

  it("is never retried on the same file: the log continues in another", async () => {
    const directory = await filled(3);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    faulty.failAt("fdatasyncSync", segments, "EIO");
    await store.log.append(entry()).catch(() => undefined);
    faulty.heal();
    faulty.calls.length = 0;
    for (let input = 0; input < 5; input++) await store.log.append(entry(input));
    const synced = faulty.calls.filter(({ call }) => call.startsWith("f") && call.endsWith("syncSync"));
    expect(synced.filter(({ file }) => file === `log/${segmentFile(1)}`)).toEqual([]);
    expect(segmentFiles(directory)).toEqual([segmentFile(1), segmentFile(4)]);
    expectSound(directory);
  });

  it("can happen repeatedly", async () => {
    const directory = await filled(2);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files, segmentSize: 3000, checkpointEvery: 3 });
    let size = 2;
    for (let round = 0; round < 12; round++) {
      faulty.failAt("fdatasyncSync", segments, "EIO");
      for (let times = 0; times <= round % 3; times++)
        await expect(store.log.append(entry(round))).rejects.toMatchObject(notRecorded);
      faulty.heal();
      for (let times = 0; times < round % 4; times++)
        expect(await store.log.append(entry(times))).toMatchObject({ seq: ++size });
      expectSound(directory);
    }
    await expectRecovered(store, directory, size + 1);
  });

  it.each([
    { name: "the very first record", before: 0, options: {} },
    { name: "the first record of a new segment", before: 3, options: { segmentSize: 1 } },
  ])("is handled at $name", async ({ before, options }) => {
    const directory = await filled(before, options);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files, ...options });
    faulty.failAt("fdatasyncSync", segments, "EIO");
    await expect(store.log.append(entry())).rejects.toMatchObject(notRecorded);
    expect(linesOf(directory)).toHaveLength(before);
    expectSound(directory);
    faulty.heal();
    await expectRecovered(store, directory, before + 1);
  });

  it("rejects the whole group, and the next group is admitted", async () => {
    const directory = await filled(1);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    faulty.failAt("fdatasyncSync", segments, "EIO");
    const failed = await Promise.allSettled(
      Array.from({ length: 300 }, (_, input) => store.log.append(entry(input))),
    );
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(linesOf(directory)).toHaveLength(1);
    faulty.heal();
    const appended = await Promise.all(
      Array.from({ length: 300 }, (_, input) => store.log.append(entry(input))),
    );
    expect(appended.map((each) => "seq" in each && each.seq)).toEqual(
      Array.from({ length: 300 }, (_, at) => at + 2),
    );
    expectSound(directory);
  });

  it("counts nothing", async () => {
    const directory = storeDirectory();
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    const limited = { ...entry(), counts: ["uses"], limits: [{ counter: "uses", most: 2 }] };
    await store.log.append(limited);
    faulty.failAt("fdatasyncSync", segments, "EIO");
    await store.log.append(limited).catch(() => undefined);
    faulty.heal();
    expect((await store.log.counter("uses")).count).toBe(1);
    expect(await store.log.append(limited)).toMatchObject({ seq: 2 });
    expect(await store.log.append(limited)).toMatchObject({ count: 2 });
  });

  it("cannot happen with durability `fast`, which does not sync", async () => {
    const faulty = new FaultyFiles();
    const store = openLog(storeDirectory(), { files: faulty.files, durability: "fast" });
    faulty.failAt("fdatasyncSync", segments, "EIO");
    expect(await store.log.append(entry())).toMatchObject({ seq: 1 });
  });
});

describe("a partial write", () => {
  it("is truncated at any byte, and the log continues", async () => {
    const faulty = new FaultyFiles();
    const directory = await filled(2);
    const store = openLog(directory, { files: faulty.files, durability: "fast" });
    await store.log.append(entry("long"));
    const before = readLog(directory, segmentFile(1));
    const length = linesOf(directory)[2]?.length ?? 0;
    for (let room = 0; room <= length; room++) {
      faulty.room = room;
      await expect(store.log.append(entry("long"))).rejects.toMatchObject(notRecorded);
      expect(readLog(directory, segmentFile(1)).equals(before)).toBe(true);
    }
    expectSound(directory);
    faulty.heal();
    await expectRecovered(store, directory, 4);
  });

  it("leaves nothing of a group that fits partly", async () => {
    const directory = await filled(2);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    faulty.room = 5000;
    const failed = await Promise.allSettled(
      Array.from({ length: 20 }, (_, input) => store.log.append(entry(input))),
    );
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(linesOf(directory)).toHaveLength(2);
    expectSound(directory);
    faulty.heal();
    await expectRecovered(store, directory, 3);
  });

  it("is detected without an error from the system", async () => {
    const directory = storeDirectory();
    const faulty = new FaultyFiles();
    const { writeSync } = faulty.files;
    const slow = ((fd: number, bytes: Uint8Array, from: number, length: number, position: number | null) =>
      writeSync(fd, bytes, from, Math.min(length, 7), position)) as typeof writeSync;
    const store = openLog(directory, { files: { ...faulty.files, writeSync: slow }, checkpointEvery: 2 });
    for (let input = 0; input < 5; input++) await store.log.append(entry(input));
    expectSound(directory);
    const never = (() => 0) as unknown as typeof writeSync;
    const stuck = openLog(directory, { files: { ...faulty.files, writeSync: never } });
    await expect(stuck.log.append(entry())).rejects.toMatchObject(notRecorded);
    expect(linesOf(directory)).toHaveLength(5);
    expectSound(directory);
  });

  it("is repaired later if it could not be truncated", async () => {
    const directory = await filled(2);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    faulty.failAt("ftruncateSync", segments, "EIO");
    faulty.room = 100;
    await expect(store.log.append(entry())).rejects.toMatchObject(notRecorded);
    expect(linesOf(directory)).toHaveLength(2);
    expectSound(directory);
    faulty.heal();
    expect(await store.log.append(entry())).toMatchObject({ seq: 4 });
    expect(linesOf(directory)[2]).toContain('"note":"tail_repaired"');
    expectSound(directory);
  });
});

describe("a full disk", () => {
  it.each([0, 1, 2, 3])("continues when there is space again, after %i records", async (before) => {
    for (let room = 0; room < 2600; room += 71) await appendWithRoom(before, room);
  });

  it("starts a log when there is space", async () => {
    for (const room of [0, 1, 100, 511, 512, 600]) {
      const directory = join(storeDirectory(), "store");
      const faulty = new FaultyFiles();
      faulty.room = room;
      const store = openLog(directory, { files: faulty.files });
      await expect(store.log.append(entry())).rejects.toMatchObject(notRecorded);
      expectSound(directory);
      faulty.heal();
      expect(await openLog(directory).log.append(entry())).toMatchObject({ seq: 1 });
      expect(await store.log.append(entry())).toMatchObject({ seq: 2 });
      expectSound(directory);
    }
  });

  it("keeps all counters", async () => {
    const limited = { ...entry(), counts: ["uses"], limits: [{ counter: "uses", most: 3 }] };
    for (let room = 0; room < 60; room++) {
      const directory = storeDirectory();
      const faulty = new FaultyFiles();
      const store = openLog(directory, { files: faulty.files, durability: "fast" });
      for (let times = 0; times < 3; times++) await store.log.append(limited);
      await store.log.append({ ...entry(), counts: ["uses"] });
      const line = linesOf(directory)[3]?.length ?? 0;
      faulty.room = line + 1 + room;
      await store.log.append({ ...entry(), counts: ["uses"] }).catch(() => undefined);
      faulty.heal();
      expect({ room, outcome: await store.log.append(limited) }).toMatchObject({
        room,
        outcome: { refused: { most: 3 } },
      });
      rmSync(directory, { recursive: true });
    }
  });
});

describe("a file that cannot be written or opened", () => {
  it.each([
    { name: "write the head", call: "writeSync", file: /^log\/head$/ },
    { name: "write the segment", call: "writeSync", file: segments },
    { name: "write the checkpoints", call: "writeSync", file: /^log\/checkpoints/ },
    { name: "sync the checkpoints", call: "fdatasyncSync", file: /^log\/checkpoints/ },
    { name: "open the checkpoints", call: "openSync", file: /^log\/checkpoints/ },
    { name: "open the head", call: "openSync", file: /^log\/head$/ },
    { name: "open the segment", call: "openSync", file: segments },
    { name: "sync the directory", call: "openSync", file: /\/log$/ },
    { name: "write the counter", call: "writeSync", file: /^counters\// },
    { name: "open the counter", call: "openSync", file: /^counters\// },
  ] as const)("fails to $name and continues afterwards", async ({ call, file }) => {
    for (const code of ["EIO", "EACCES", "EMFILE", "ENOSPC"]) {
      const directory = await filled(3, { checkpointEvery: 1 });
      const faulty = new FaultyFiles();
      const store = openLog(directory, { files: faulty.files, checkpointEvery: 1, segmentSize: 1 });
      const counted = { ...entry(), counts: ["uses"] };
      await store.log.append(counted);
      faulty.failAt(call, file, code);
      const fresh = openLog(directory, { files: faulty.files, checkpointEvery: 1, segmentSize: 1 });
      await expect(fresh.log.append(counted)).rejects.toMatchObject(notRecorded);
      expectSound(directory);
      faulty.heal();
      const after = await store.log.append(counted);
      expect(after).toHaveProperty("seq");
      expectSound(directory);
      const decisions = linesOf(directory).filter((line) => line.includes('"counted":')).length;
      expect((await store.log.counter("uses")).count).toBe(decisions);
      expect(checkpointsOf(directory).at(-1)).toMatchObject({ size: linesOf(directory).length });
    }
  });

  it("leaves no record if the checkpoint cannot be signed", async () => {
    const directory = storeDirectory();
    const sign = (): never => {
      throw Object.assign(new Error("there is no key"), { code: "ENOENT" });
    };
    const store = openLog(directory, { checkpointEvery: 2, sign });
    await store.log.append(entry());
    for (let times = 0; times < 3; times++) await expect(store.log.append(entry())).rejects.toThrow();
    expect(linesOf(directory)).toHaveLength(1);
    expectSound(directory);
    expect(await openLog(directory, { checkpointEvery: 2 }).log.append(entry())).toMatchObject({ seq: 2 });
    expectSound(directory);
  });

  it("reports that the decision was not made, and why", async () => {
    const faulty = new FaultyFiles();
    const store = openLog(storeDirectory(), { files: faulty.files });
    faulty.failAt("writeSync", segments, "ENOSPC");
    await expect(store.log.append(entry())).rejects.toMatchObject({
      code: "store_failed",
      message: "the decision could not be recorded, so it was not made: ENOSPC: injected",
    });
  });

  it("is reported if the store directory is a file", async () => {
    const directory = join(storeDirectory(), "file");
    appendFileSync(directory, "");
    await expect(openLog(directory).log.append(entry())).rejects.toMatchObject(notRecorded);
    await expect(openLog(join(directory, "deeper")).log.append(entry())).rejects.toMatchObject(notRecorded);
  });
});

describe.skipIf(process.getuid?.() === 0)(
  "a directory that cannot be written (skipped as root, who may write anywhere)",
  () => {
    it("is reported, and nothing is acknowledged", async () => {
      const directory = join(storeDirectory(), "store");
      mkdirSync(directory, { mode: 0o500 });
      await expect(openLog(directory).log.append(entry())).rejects.toMatchObject(notRecorded);
      expect(readdirSync(directory)).toEqual([]);
    });
  },
);

describe("files that were removed while they are open", () => {
  it("are not written to", async () => {
    const directory = storeDirectory();
    const store = openLog(directory);
    await store.log.append(entry());
    rmSync(join(directory, "log", segmentFile(1)));
    await expect(store.log.append(entry())).rejects.toMatchObject({ code: "log_damaged" });
  });

  it("are not replaced by a new log until they are restored or the store is opened again", async () => {
    const directory = storeDirectory();
    const store = openLog(directory);
    await store.log.append(entry());
    renameSync(directory, `${directory}-moved`);
    for (let times = 0; times < 2; times++) {
      await expect(store.log.ready()).rejects.toMatchObject({ code: "store_failed" });
      await expect(store.log.append(entry())).rejects.toMatchObject({ code: "store_failed" });
    }
    rmSync(directory, { recursive: true });
    renameSync(`${directory}-moved`, directory);
    await store.log.ready();
    expect(await store.log.append(entry())).toMatchObject({ seq: 2 });
    expectSound(directory);
    rmSync(directory, { recursive: true });
    expect(await openLog(directory).log.append(entry())).toMatchObject({ seq: 1 });
    expectSound(directory);
  });

  it("are not appended to if an older copy or another log replaces them", async () => {
    const directory = storeDirectory();
    const store = openLog(directory);
    await store.log.append(entry());
    const copy = (from: string, to: string): void =>
      cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith("lock") });
    copy(directory, `${directory}-older`);
    await store.log.append(entry());
    const other = await filled(2);
    for (const place of [`${directory}-older`, other]) {
      rmSync(directory, { recursive: true });
      copy(place, directory);
      await expect(store.log.ready()).rejects.toMatchObject({ code: "log_damaged" });
      await expect(store.log.append(entry())).rejects.toMatchObject({ code: "log_damaged" });
      expect(sizeOf(directory)).toBe(sizeOf(place));
    }
    rmSync(`${directory}-older`, { recursive: true });
  });
});
