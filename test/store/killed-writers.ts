import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { storeDirectory, expectSound, linesOf } from "./jsonl-log.js";
import { chance } from "./entries.js";
import { Writer } from "./writers.js";

/** The number of rounds per store, so that new stores are created often and stay small. */
const roundsPerStore = 4;

export interface Killed {
  readonly kills: number;
  readonly acknowledged: number;
  readonly repairs: number;
}

/** Kills four writers at random moments, repeatedly. All acknowledged records must be in the log. */
export async function killWriters(rounds: number): Promise<Killed> {
  let [kills, acknowledged, repairs] = [0, 0, 0];
  const beginning = await timeToBegin();
  for (let done = 0; done < rounds;) {
    const home = storeDirectory();
    const directory = join(home, "store");
    const known = new Set<string>();
    for (let round = 0; round < roundsPerStore && done < rounds; round++, done++) {
      const folder = join(home, `round-${round}`);
      for (const id of await killRound(directory, folder, beginning)) known.add(id);
      kills += 4;
      expectAllKept(directory, known);
    }
    acknowledged += known.size;
    repairs += await goOn(directory, home);
  }
  return { kills, acknowledged, repairs };
}

const store = { segmentSize: 128 * 1024, checkpointEvery: 10 };

async function killRound(directory: string, folder: string, beginning: number): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const writers = [
    new Writer(directory, folder, { name: "one", atOnce: 1, store }),
    new Writer(directory, folder, { name: "few", atOnce: 8, store, bulk: 2000 }),
    new Writer(directory, folder, { name: "many", atOnce: 100, store }),
    new Writer(directory, folder, { name: "bulky", atOnce: 2, store, bulk: 500_000, bulkEvery: 3 }),
  ];
  await Promise.all(
    writers.map(async (writer) => {
      await new Promise((resolve) => setTimeout(resolve, beginning * (0.6 + 0.4 * chance()) + 60 * chance()));
      writer.kill();
      const { signal } = await writer.ended;
      expect([signal, writer.complaints()]).toEqual(["SIGKILL", ""]);
    }),
  );
  return writers.flatMap((writer) => writer.acknowledged());
}

function expectAllKept(directory: string, acknowledged: ReadonlySet<string>): void {
  expectSound(directory);
  const kept = new Set(linesOf(directory).map((line) => /"record_id":"([^"]*)"/.exec(line)?.[1] ?? ""));
  expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
}

/** Opens the store, which repairs it if needed; returns the number of repairs. */
async function goOn(directory: string, home: string): Promise<number> {
  const writer = new Writer(directory, home, { name: "next", records: 3, store });
  expect([(await writer.ended).code, writer.complaints()]).toEqual([0, ""]);
  expect(writer.acknowledged()).toHaveLength(3);
  expect(expectSound(directory).notes).toEqual([]);
  return linesOf(directory).filter((line) => line.includes('"note":"tail_repaired"')).length;
}

/** Measures how long four concurrent writers take until the first record. */
async function timeToBegin(): Promise<number> {
  const home = storeDirectory();
  const startedAt = performance.now();
  const names = ["a", "b", "c", "d"];
  const writers = names.map((name) => new Writer(join(home, "store"), home, { name, records: 1 }));
  await Promise.all(writers.map(({ ended }) => ended));
  return performance.now() - startedAt;
}
