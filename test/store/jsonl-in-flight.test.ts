import { cpSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Appended, Entry, Store } from "../../src/model/store.js";
import { chainProblems, decided } from "./entries.js";
import { FaultyFiles, systemError } from "./faulty-files.js";
import { HeldDisk } from "./paused-disk.js";
import {
  expectSound,
  linesOf,
  openLog,
  readLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
} from "./jsonl-log.js";
import { PowerCut, worst } from "./power-cut.js";

let directory = "";
let faulty = new FaultyFiles();
let disk = new HeldDisk(faulty.files);
let store: Store;
let before = 0;

beforeEach(async () => {
  directory = storeDirectory();
  faulty = new FaultyFiles();
  disk = new HeldDisk(faulty.files);
  store = openLog(directory, { files: disk.files });
  before = await disk.holdFrom(store);
});

const entry = (input: string): Entry => ({ body: decided({ input }) });
const seqOf = (appended: Appended): number => ("seq" in appended ? appended.seq : 0);

/** Appends, and adds the outcome to `outcomes`. */
function append(input: string, outcomes: string[]): Promise<Appended> {
  const appended = store.log.append(entry(input));
  appended.then(
    () => outcomes.push(input),
    () => outcomes.push(`${input} failed`),
  );
  return appended;
}

/** Waits until only the sync is pending. */
async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("a batch that is not synced yet", () => {
  it("is not acknowledged, and nothing is written after it", async () => {
    const outcomes: string[] = [];
    const first = append("first", outcomes);
    await disk.isAsked();
    const others = [append("second", outcomes), append("third", outcomes)];
    await turns();
    expect(outcomes).toEqual([]);
    expect(linesOf(directory)).toHaveLength(before + 1);
    disk.answer();
    await first;
    await disk.isAsked();
    await turns();
    expect(outcomes).toEqual(["first"]);
    expect(linesOf(directory)).toHaveLength(before + 3);
    disk.answer();
    const seqs = (await Promise.all([first, ...others])).map(seqOf);
    expect(seqs).toEqual([before + 1, before + 2, before + 3]);
    expect(outcomes).toEqual(["first", "second", "third"]);
    expectSound(directory);
  });

  it("is removed if the sync fails, and the next batch is chained to the last stored record", async () => {
    const outcomes: string[] = [];
    const failed = append("lost", outcomes).catch((error: unknown) => error);
    await disk.isAsked();
    const others = [append("second", outcomes), append("third", outcomes)];
    disk.answer(systemError("EIO"));
    expect(await failed).toMatchObject({ code: "store_failed" });
    faulty.calls.length = 0;
    disk.letGo();
    expect((await Promise.all(others)).map(seqOf)).toEqual([before + 1, before + 2]);
    expect(outcomes).toEqual(["lost failed", "second", "third"]);
    expect(chainProblems(linesOf(directory))).toEqual([]);
    expect(linesOf(directory).join("")).not.toContain('"lost"');
    const synced = faulty.calls.filter(({ call }) => call.endsWith("syncSync")).map(({ file }) => file);
    expect(synced).not.toContain(`log/${segmentFile(1)}`);
    expect(segmentFiles(directory)).toEqual([segmentFile(1), segmentFile(before + 1)]);
    expectSound(directory);
  });

  it("counts for the limits of the next batch only if it is stored", async () => {
    const once = { counts: ["uses"], limits: [{ counter: "uses", most: 1 }] };
    for (const isKept of [false, true]) {
      const first = store.log.append({ ...entry("first"), ...once }).catch(() => "failed");
      await disk.isAsked();
      const second = store.log.append({ ...entry("second"), ...once, counts: [] });
      await turns();
      disk.answer(isKept ? undefined : systemError("EIO"));
      await first;
      if (!isKept) await disk.isAsked();
      disk.answer();
      expect("refused" in (await second)).toBe(isKept);
    }
    disk.letGo();
    expect((await store.log.counter("uses")).count).toBe(1);
    expectSound(directory);
  });

  it("lets a shelf be written after it, before the next batch", async () => {
    const outcomes: string[] = [];
    const first = append("first", outcomes);
    await disk.isAsked();
    const put = store.shelf("definitions").put([{ key: "k", value: 1 }]);
    const noted = put.then(() => outcomes.push("put"));
    const second = append("second", outcomes);
    await turns();
    expect(outcomes).toEqual([]);
    disk.answer();
    await noted;
    expect(outcomes).toEqual(["first", "put"]);
    disk.letGo();
    await Promise.all([first, second]);
    expect(await store.shelf("definitions").get("k")).toMatchObject({ value: 1 });
  });
});

describe("a process that dies while a batch is in flight", () => {
  it("has lost no acknowledged record, wherever the batch was cut", async () => {
    const inFlight = [append("first", []), append("second", [])];
    await disk.isAsked();
    const length = readLog(directory, segmentFile(1)).length;
    const lines = linesOf(directory);
    const lot = lines.slice(before).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    for (const cut of [0, 1, 100, Math.floor(lot / 2), lot - 1, lot]) {
      const left = join(storeDirectory(), "store");
      cpSync(directory, left, { recursive: true });
      // The holder of the lock is dead.
      rmSync(join(left, "lock"), { recursive: true });
      truncateSync(join(left, "log", segmentFile(1)), length - cut);
      expectSound(left);
      const next = openLog(left);
      expect(await next.log.append(entry("next"))).toHaveProperty("seq");
      expect(linesOf(left).slice(0, before)).toEqual(lines.slice(0, before));
      expectSound(left);
    }
    disk.letGo();
    await Promise.all(inFlight);
  });

  it("has acknowledged nothing that a power cut can remove", async () => {
    const power = new PowerCut();
    const cut = new HeldDisk(power.files);
    const home = storeDirectory();
    const dying = openLog(home, { files: cut.files });
    const kept = await cut.holdFrom(dying);
    const inFlight = dying.log.append(entry("in flight"));
    await cut.isAsked();
    const left = join(storeDirectory(), "store");
    power.cut(home, worst);
    cpSync(home, left, { recursive: true });
    rmSync(join(left, "lock"), { recursive: true });
    expect(linesOf(left)).toHaveLength(kept);
    expectSound(left);
    cut.letGo();
    await inFlight.catch(() => undefined);
  });
});

describe("closing", () => {
  it("waits for batches in flight and in the queue", async () => {
    const outcomes: string[] = [];
    const all = [append("first", outcomes)];
    await disk.isAsked();
    all.push(append("second", outcomes));
    const closed = store.close().then(() => outcomes.push("closed"));
    await turns();
    expect(outcomes).toEqual([]);
    disk.letGo();
    await closed;
    expect(outcomes).toEqual(["first", "second", "closed"]);
    await Promise.all(all);
    expect(readdirSync(join(directory, "lock"))).toEqual([expect.stringMatching(/^\d+\.free$/)]);
    expectSound(directory);
  });

  it.each([
    { name: "a record", ask: () => store.log.append(entry("asked for")) },
    { name: "a value of a shelf", ask: () => store.shelf("cache").put([{ key: "k", value: 1 }]) },
  ])("waits for $name that was requested just before", async ({ ask }) => {
    disk.letGo();
    let isDone = false;
    void (ask() as Promise<unknown>).then(() => (isDone = true));
    await store.close();
    expect(isDone).toBe(true);
  });
});
