import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/model/store.js";
import { formatTimestamp, microsecondsOf } from "../../src/record/timestamp.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { TestClock, collect, decided, noon } from "./entries.js";
import {
  expectSound,
  headOf,
  isNoticed,
  linesOf,
  openLog,
  segmentFiles,
  storeDirectory,
} from "./jsonl-log.js";

const small = { segmentSize: 2000, checkpointEvery: 5 };
const day = 86_400e6;
const after = (days: number): string => formatTimestamp(microsecondsOf(noon) + days * day);

/** Appends one record at a time of its own, with a store that is opened for it. */
async function appendAt(directory: string, days: number, options: Partial<JsonlOptions> = {}): Promise<void> {
  const clock = new TestClock(after(days));
  const store = openLog(directory, { ...small, clock: clock.read, ...options });
  await store.log.append({ body: decided({ input: days, timestamp: after(days) }), counts: ["calls"] });
  await store.close();
}

/** A store with one record for each day. */
async function filledDays(days: number): Promise<string> {
  const directory = storeDirectory();
  for (let day = 0; day < days; day++) await appendAt(directory, day);
  return directory;
}

const notesOf = async ({ log }: Store) => collect(log.select({ kind: "note" }));
/** The day of the oldest decision. */
function firstDay(directory: string): number {
  const line = linesOf(directory).find((each) => each.includes('"kind":"decision"')) ?? "";
  return (JSON.parse(line) as { context: { input: number } }).context.input;
}

describe("retention", () => {
  it("removes whole segments after an append, with a note and the counters of what it removed", async () => {
    const directory = await filledDays(30);
    await appendAt(directory, 30, { retention: "10d" });
    const first = firstDay(directory);
    expect(first).toBeGreaterThan(10);
    expect(first).toBeLessThanOrEqual(20);
    const store = openLog(directory, small);
    const [note] = await notesOf(store);
    expect(note?.record).toMatchObject({
      note: "pruned",
      details: { through: first, records: first, retention: "10d", counters: { calls: { count: 31 } } },
    });
    expect(await store.log.counter("calls")).toEqual({ count: 31, seq: 31 });
    expect(expectSound(directory)).toMatchObject({ size: 32, pruned: first });
    expect(verifyDerived(directory)).toEqual([]);
    expect(await store.log.append({ body: decided() })).toMatchObject({ seq: 33 });
  });

  it("keeps a segment with one record that has not expired", async () => {
    const directory = await filledDays(20);
    const firsts = segmentFiles(directory).map((name) => Number.parseInt(name, 10));
    for (let now = 20; now < 29; now++) {
      const copy = storeDirectory();
      cpSync(directory, copy, { recursive: true });
      await appendAt(copy, now, { retention: "10d" });
      // The record with number N is of day N - 1, and the clock has advanced a little since.
      const expected = firsts.findLast((first) => first - 2 <= now - 10) ?? 1;
      expect([now, segmentFiles(copy)[0]]).toEqual([now, `${String(expected).padStart(12, "0")}.jsonl`]);
    }
  });

  it("never removes the open segment", async () => {
    const directory = await filledDays(1);
    await appendAt(directory, 1000, { retention: "1d" });
    expect(linesOf(directory)).toHaveLength(2);
  });

  it("looks again when a segment is full, and writes nothing if nothing has expired", async () => {
    const directory = storeDirectory();
    const clock = new TestClock(noon);
    const store = openLog(directory, { ...small, clock: clock.read, retention: "10d" });
    for (let day = 0; day < 40; day++) {
      clock.set(after(day));
      await store.log.append({ body: decided({ input: day, timestamp: after(day) }) });
      if (day < 10) expect(headOf(directory).pruned).toBe(0);
      // Waits for the search, which runs in the background; the next append opens the files again.
      await store.close();
    }
    expect(firstDay(directory)).toBeGreaterThan(15);
    expect(firstDay(directory)).toBeLessThanOrEqual(30);
    expectSound(directory);
  });

  it("keeps the notes of earlier removals", async () => {
    const directory = await filledDays(40);
    for (const now of [40, 45, 55, 90]) await appendAt(directory, now, { retention: "10d" });
    const [note] = await notesOf(openLog(directory, small));
    const { earlier } = (note?.record as unknown as { details: { earlier: readonly object[] } }).details;
    expect(earlier.length).toBeGreaterThan(0);
    expect(earlier[0]).toMatchObject({ retention: "10d" });
    expectSound(directory);
  });

  it("removes nothing that was changed, and stops further writes", async () => {
    const directory = await filledDays(30);
    const path = join(directory, "log", segmentFiles(directory)[1] ?? "");
    writeFileSync(path, readFileSync(path, "utf8").replace('"Pass"', '"Fail"'));
    const before = segmentFiles(directory);
    // The change is found by the writer if the file is newer than the head, else by the search for expired records.
    await appendAt(directory, 99, { retention: "10d" }).catch(() => undefined);
    expect(segmentFiles(directory)).toEqual(expect.arrayContaining([...before]));
    await expect(appendAt(directory, 100, { retention: "10d" })).rejects.toThrow("damaged");
    expect(segmentFiles(directory)).toEqual(expect.arrayContaining([...before]));
    expect(isNoticed(directory)).toBe(true);
  });

  it("is done by one of several processes", async () => {
    const directory = await filledDays(30);
    await Promise.all([30, 30, 30].map((day) => appendAt(directory, day, { retention: "10d" })));
    expect(await notesOf(openLog(directory, small))).toHaveLength(1);
    expectSound(directory);
  });

  it("must be a duration", () => {
    for (const retention of ["90", "", "0d", "forever"])
      expect(() => openLog(storeDirectory(), { retention })).toThrow("`retention` must be a duration");
  });
});
