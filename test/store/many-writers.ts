import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { run, samples } from "../acceptance/command.js";
import { chainProblems } from "./entries.js";
import { expectSound, linesOf, storeDirectory } from "./jsonl-log.js";
import { Writer } from "./writers.js";

export interface ManyWriters {
  readonly processes: number;
  readonly records: number;
  /** The number of decisions that the command makes meanwhile. */
  readonly commands: number;
}

/** Lets many processes write at once. All records must be complete and in one chain without gaps. */
export async function writeAtOnce({ processes, records, commands }: ManyWriters): Promise<number> {
  const home = storeDirectory();
  const directory = join(home, "store");
  const folder = join(home, "said");
  mkdirSync(folder);
  const store = { segmentSize: 2 * 1024 * 1024, checkpointEvery: 250 };
  const writers = Array.from(
    { length: processes },
    (_, at) =>
      new Writer(directory, folder, { name: `writer-${at}`, records, atOnce: 1 + at * 5, store, bulk: 2000 }),
  );
  const byCommand = await decideByCommand(directory, commands);
  for (const writer of writers) expect([(await writer.ended).code, writer.complaints()]).toEqual([0, ""]);

  const acknowledged = writers.map((writer) => writer.acknowledged());
  expect(acknowledged.map(({ length }) => length)).toEqual(writers.map(() => records));
  const lines = linesOf(directory);
  expect(chainProblems(lines)).toEqual([]);
  const kept = new Set(lines.map((line) => (JSON.parse(line) as { record_id: string }).record_id));
  const all = [...acknowledged.flat(), ...byCommand];
  expect(all.filter((id) => !kept.has(id))).toEqual([]);
  expect(kept.size).toBe(processes * records + commands);
  expect(lines).toHaveLength(kept.size);
  expect(expectSound(directory)).toMatchObject({ size: kept.size, notes: [] });
  expect(readdirSync(join(directory, "log")).filter((name) => /torn|tmp/.test(name))).toEqual([]);
  return kept.size;
}

async function decideByCommand(directory: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at++) {
    const input = JSON.stringify({ artifact: { quality_score: at / count } });
    const flags = ["--input", input, "--store", directory, "--decisions", samples];
    const { exitCode, stdout } = await run(["decision", "evaluate", "decision-quality-gate", ...flags]);
    expect(exitCode).toBe(0);
    ids.push((JSON.parse(stdout) as { record_id: string }).record_id);
  }
  return ids;
}
