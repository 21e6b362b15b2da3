import { appendFileSync, cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { decided } from "./entries.js";
import {
  expectSound,
  filled,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFile,
  storeDirectory,
} from "./jsonl-log.js";

/** A store with some records, and the bytes of further records that a crash interrupts. */
export async function crashed(
  known: number,
  written: number,
  options: Partial<JsonlOptions> = {},
): Promise<{ directory: string; ahead: Buffer }> {
  const directory = await filled(known, options);
  const copy = storeDirectory();
  cpSync(directory, copy, { recursive: true });
  await filled(written, options, copy);
  const { length } = readLog(directory, segmentFile(1));
  return { directory, ahead: readLog(copy, segmentFile(1)).subarray(length) };
}

export const tornFiles = (directory: string): readonly string[] =>
  readdirSync(join(directory, "log")).filter((name) => name.endsWith(".torn"));

/**
 * Leaves an incomplete line, cut at every nth byte, and expects it to be moved and noted; returns the number of cuts.
 */
export async function expectRepairs(step: number): Promise<number> {
  const { directory: template, ahead } = await crashed(2, 1);
  const last = ahead.length - 1;
  const lengths = Array.from({ length: Math.ceil(last / step) }, (_, at) => 1 + at * step);
  const all = [...new Set([...lengths, last - 1, last])];
  for (const length of all) {
    const directory = storeDirectory();
    cpSync(template, directory, { recursive: true });
    await expectRepair(directory, ahead.subarray(0, length));
    rmSync(directory, { recursive: true });
  }
  return all.length;
}

async function expectRepair(directory: string, half: Buffer): Promise<void> {
  appendFileSync(logFile(directory, segmentFile(1)), half);
  expect(expectSound(directory).notes).toHaveLength(1);
  const { log } = openLog(directory, { durability: "fast" });
  expect(await log.append({ body: decided() })).toMatchObject({ seq: 4 });
  const [file = ""] = tornFiles(directory);
  expect(readLog(directory, file).equals(half)).toBe(true);
  const note: unknown = JSON.parse(linesOf(directory)[2] ?? "");
  const details = { file, bytes: half.length };
  expect(note).toMatchObject({ kind: "note", note: "tail_repaired", details });
  expect(expectSound(directory)).toMatchObject({ size: 4, notes: [] });
}
