import { rmSync } from "node:fs";
import { expect } from "vitest";
import type { Store } from "../../src/model/store.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { chainProblems, chance, decided, noted } from "./entries.js";
import { linesOf, openLog, storeDirectory } from "./jsonl-log.js";
import type { Choose } from "./power-cut.js";
import { PowerCut, worst } from "./power-cut.js";

export const counted = (input: number): { body: string; counts: string[] } => ({
  body: decided({ input }),
  counts: ["uses"],
});

/** Appends records that count nothing, one by one; returns the acknowledged hashes. */
export async function append(store: Store, count: number, first = 0): Promise<readonly string[]> {
  const hashes: string[] = [];
  for (let input = first; input < first + count; input++) {
    const appended = await store.log.append({ body: decided({ input }) });
    if ("hash" in appended) hashes.push(appended.hash);
  }
  return hashes;
}

export const hashesOf = (directory: string): readonly string[] =>
  linesOf(directory).map((line) => (JSON.parse(line) as { hash: string }).hash);

export const keepAllBut =
  (lost: RegExp): Choose =>
  (states, file) =>
    lost.test(file) ? 0 : states - 1;

export const segments = /\d{12}\.jsonl$/;

interface Run {
  /** The acknowledged records that were not pruned. */
  readonly acknowledged: readonly string[];
  readonly counted: number;
  /** Ends the run with a power cut. */
  readonly cut: (choose: Choose) => Promise<void>;
}

/** A run: appends one by one and in batches, by two processes, and optionally prunes. */
async function use(options: Partial<JsonlOptions>, directory: string, prunes: boolean): Promise<Run> {
  const power = new PowerCut();
  const stores = [1, 2].map(() => openLog(directory, { ...options, files: power.files }));
  let acknowledged: string[] = [];
  let uses = 0;
  for (let step = 0; step < 8; step++) {
    const store = stores[step % 2]!;
    const kind = chance();
    if (kind < 0.5) {
      acknowledged.push(...(await append(store, 1 + Math.floor(chance() * 3))));
    } else if (kind < 0.85 || !prunes) {
      const together = Array.from({ length: 1 + Math.floor(chance() * 9) }, (_, at) =>
        store.log.append(counted(at)),
      );
      acknowledged.push(
        ...(await Promise.all(together)).flatMap((each) => ("hash" in each ? [each.hash] : [])),
      );
    } else {
      await store.log.prune(await store.log.prunable({ keep: 5 }), noted);
      const kept = new Set(hashesOf(directory));
      acknowledged = acknowledged.filter((hash) => kept.has(hash));
    }
    uses = (await store.log.counter("uses")).count;
  }
  const cut = async (choose: Choose): Promise<void> => {
    power.cut(directory, choose);
    for (const store of stores) await store.close();
  };
  return { acknowledged, counted: uses, cut };
}

export const losses: readonly { readonly name: string; readonly choose: Choose }[] = [
  { name: "all that was not waited for is lost", choose: worst },
  { name: "the segments lose it", choose: keepAllBut(segments) },
  { name: "the head loses it", choose: keepAllBut(/head$/) },
  { name: "the checkpoints lose it", choose: keepAllBut(/checkpoints\.jsonl$/) },
  { name: "the counters lose it", choose: keepAllBut(/counters/) },
  { name: "each file keeps some of it", choose: (states) => Math.floor(chance() * states) },
];

export interface Circumstances {
  readonly durability: "full" | "fast";
  readonly prunes: boolean;
}

export const circumstances: readonly Circumstances[] = [
  { durability: "full", prunes: false },
  { durability: "fast", prunes: false },
  { durability: "full", prunes: true },
  { durability: "fast", prunes: true },
];

/** Uses a store and cuts the power, three times each. The log must recover and, except with `fast`, lose nothing. */
export async function cutPower(
  { durability, prunes }: Circumstances,
  choose: Choose,
  rounds: number,
): Promise<void> {
  const options = { durability, segmentSize: 4000, checkpointEvery: 4 };
  for (let round = 0; round < rounds; round++) {
    const directory = storeDirectory();
    for (let times = 0; times < 3; times++) {
      const run = await use(options, directory, prunes);
      await run.cut(choose);
      const store = openLog(directory, options);
      const { log } = store;
      const appended = await log.append(counted(99)).catch((error: unknown) => error);
      const { problems } = verifyStore(directory);
      const kept = new Set(hashesOf(directory));
      const lost = durability === "fast" ? [] : run.acknowledged.filter((hash) => !kept.has(hash));
      expect({ round, times, appended, problems, lost }).toMatchObject({
        round,
        times,
        appended: { seq: expect.any(Number) as number, hash: expect.any(String) as string },
        problems: [],
        lost: [],
      });
      expect((await log.counter("uses")).count).toBe(run.counted + 1);
      expectChained(directory);
      await store.close();
    }
    rmSync(directory, { recursive: true });
  }
}

function expectChained(directory: string): void {
  const lines = linesOf(directory);
  const { seq, prev_hash } = JSON.parse(lines[0] ?? "{}") as { seq: number; prev_hash: string };
  expect(chainProblems(lines, seq, prev_hash)).toEqual([]);
}
