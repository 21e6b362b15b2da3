import { cpSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { LogLine } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { decided, noon, noted, seqs } from "./entries.js";
import { FaultyFiles } from "./faulty-files.js";
import {
  expectSound,
  filled,
  linesOf,
  logFile,
  openLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
} from "./jsonl-log.js";

const small = { segmentSize: 2000, checkpointEvery: 5 };
const start = microsecondsOf(noon);

async function prune(directory: string, keep: number): Promise<number> {
  const { log } = openLog(directory, small);
  const found = await log.prunable({ keep });
  await log.prune(found, noted);
  return found.through;
}

describe("pruning", () => {
  it("removes the oldest whole segments and leaves a valid log", async () => {
    const directory = await filled(30, small);
    const before = segmentFiles(directory);
    const through = await prune(directory, 10);
    expect(through).toBeGreaterThan(0);
    expect(through).toBeLessThanOrEqual(20);
    const after = segmentFiles(directory);
    expect(after[0]).toBe(segmentFile(through + 1));
    expect(before.slice(before.indexOf(segmentFile(through + 1)))).toEqual(
      after.filter((name) => before.includes(name)),
    );
    expect(expectSound(directory)).toMatchObject({ size: 31, pruned: through, records: 31 - through });
    expect(await openLog(directory, small).log.append({ body: decided() })).toMatchObject({ seq: 32 });
    expectSound(directory);
  });

  it("keeps a segment with one record to keep", async () => {
    const directory = storeDirectory();
    const { log } = openLog(directory, small);
    for (let at = 0; at < 20; at++)
      await log.append({ body: decided({ timestamp: formatTimestamp(start + at), input: at }) });
    const firsts = segmentFiles(directory).map((name) => Number.parseInt(name, 10));
    for (let at = 0; at <= 20; at++) {
      const { through } = await log.prunable({ before: start + at });
      const fitting = [...firsts.slice(1), 21].map((first) => first - 1).filter((last) => last <= at);
      expect([at, through]).toEqual([at, fitting.at(-1) ?? 0]);
    }
  });

  it("reports the number of removed bytes", async () => {
    const directory = await filled(30, small);
    const { through, bytes } = await openLog(directory, small).log.prunable({ keep: 10 });
    const gone = linesOf(directory).slice(0, through);
    expect(bytes).toBe(gone.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0));
  });

  it("is refused if the log has changed meanwhile, and removes nothing", async () => {
    const directory = await filled(9, small);
    const { log } = openLog(directory, small);
    const all = await log.prunable({ keep: 0 });
    await log.append({ body: decided() });
    await log.prune(all, noted).catch(() => undefined);
    expect((await seqs(log.select({ kind: "decision" }))).at(-1)).toBe(10);
    expectSound(directory);
    const stale = { records: 1, through: 1, bytes: 1 };
    await expect(log.prune(stale, noted)).rejects.toMatchObject({ code: "store_failed" });
    expectSound(directory);
  });

  it("that was interrupted before the note leaves a valid log", async () => {
    const directory = await filled(9, small);
    const faulty = new FaultyFiles();
    const { log } = openLog(directory, { ...small, files: faulty.files });
    const all = await log.prunable({ keep: 0 });
    const crash = (): never => {
      throw new Error("crash");
    };
    await expect(log.prune(all, crash)).rejects.toThrow("crash");
    expect(linesOf(directory)).toHaveLength(9);
    expectSound(directory);
    expect(await log.append({ body: decided() })).toMatchObject({ seq: 10 });
    expectSound(directory);
  });

  it("that was interrupted at any segment leaves a valid log, and can be completed", async () => {
    const template = await filled(20, small);
    const firsts = segmentFiles(template);
    const pruned = storeDirectory();
    cpSync(template, pruned, { recursive: true });
    const through = await prune(pruned, 4);
    const doomed = firsts.filter((name) => Number.parseInt(name, 10) <= through);
    expect(doomed.length).toBeGreaterThan(3);
    for (let gone = 0; gone <= doomed.length; gone++) {
      const directory = storeDirectory();
      cpSync(pruned, directory, { recursive: true });
      for (const name of doomed.slice(gone)) cpSync(logFile(template, name), logFile(directory, name));
      expect({ gone, problems: verifyStore(directory).problems }).toEqual({ gone, problems: [] });
      await prune(directory, 1);
      expect({ gone, problems: verifyStore(directory).problems }).toEqual({ gone, problems: [] });
      expect(await openLog(directory, small).log.append({ body: decided() })).toHaveProperty("seq");
    }
  });

  it("is detected without a note", async () => {
    const directory = await filled(20, small);
    for (const name of segmentFiles(directory).slice(0, 2)) {
      rmSync(logFile(directory, name));
      expect(verifyStore(directory).problems[0]).toMatchObject({ kind: "missing", seq: 1 });
    }
  });

  it("is detected if more is missing than noted", async () => {
    const directory = await filled(30, small);
    await prune(directory, 15);
    rmSync(logFile(directory, segmentFiles(directory)[0] ?? ""));
    expect(verifyStore(directory).ok).toBe(false);
  });

  it("does not disturb concurrent readers", async () => {
    const directory = await filled(30, small);
    const { log } = openLog(directory, small);
    const read: LogLine[] = [];
    for await (const line of log.select({})) {
      if (read.push(line) === 1) await log.prune(await log.prunable({ keep: 5 }), noted);
    }
    expect(read.map(({ record }) => record.seq)).toEqual(expect.arrayContaining([1, 30]));
    const seen = read.map(({ record }) => record.seq);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });
});
