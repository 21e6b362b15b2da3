import { describe, expect, it } from "vitest";
import type { Store } from "../../src/model/store.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify.js";
import { chainProblems, chance, decided, noted } from "./entries.js";
import { expectSound, filled, headOf, linesOf, openLog, readLog, segmentFile, storeDirectory } from "./jsonl-log.js";
import type { Choose } from "./power-cut.js";
import { PowerCut, worst } from "./power-cut.js";

const counted = (input: number): { body: string; counts: string[] } => ({
  body: decided({ input }),
  counts: ["uses"],
});

/** Appends one after the other; tells the hashes that were acknowledged. */
async function append(store: Store, count: number, first = 0): Promise<readonly string[]> {
  const hashes: string[] = [];
  for (let input = first; input < first + count; input++) {
    const appended = await store.log.append(counted(input));
    if ("hash" in appended) hashes.push(appended.hash);
  }
  return hashes;
}

const hashesOf = (directory: string): readonly string[] =>
  linesOf(directory).map((line) => (JSON.parse(line) as { hash: string }).hash);

const notesIn = (directory: string, note: string): readonly { details: object }[] =>
  linesOf(directory)
    .filter((line) => line.includes(`"note":"${note}"`))
    .map((line) => JSON.parse(line) as { details: object });

const keepAllBut =
  (lost: RegExp): Choose =>
  (states, file) =>
    lost.test(file) ? 0 : states - 1;

const segments = /\d{12}\.jsonl$/;
const fast = { durability: "fast" as const };

describe("a power cut where the disk was not waited for", () => {
  it("that the head outlived is seen, told of in the log, and goes no further", async () => {
    const directory = await filled(3);
    const power = new PowerCut();
    const before = await append(openLog(directory, { ...fast, files: power.files }), 4);
    const { size, head } = headOf(directory);
    power.cut(directory, keepAllBut(segments));
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "cut", seq: 4 }]);
    expect(verifyStore(directory).ok).toBe(false);

    expect(await openLog(directory, fast).log.append(counted(9))).toMatchObject({ seq: 5 });
    expect(notesIn(directory, "tail_lost")).toMatchObject([{ details: { from: 4, to: size, last_hash: head } }]);
    expect(expectSound(directory)).toMatchObject({ size: 5, notes: [] });
    expect(hashesOf(directory)).not.toContain(before[0]);
  });

  it("forgets no count", async () => {
    const directory = storeDirectory();
    const power = new PowerCut();
    await append(openLog(directory, { ...fast, files: power.files }), 5);
    power.cut(directory, keepAllBut(segments));
    const { log } = openLog(directory);
    expect(await log.count("uses")).toBe(5);
    const limited = { ...counted(1), limits: [{ counter: "uses", most: 6 }] };
    expect(await log.append(limited)).toMatchObject({ seq: 2 });
    expect(await log.append(limited)).toMatchObject({ refused: { most: 6 }, count: 6 });
    expectSound(directory);
  });

  it("is told of once, also where it comes again", async () => {
    const directory = await filled(2);
    for (let times = 1; times <= 3; times++) {
      const power = new PowerCut();
      await append(openLog(directory, { ...fast, files: power.files }), 3);
      power.cut(directory, keepAllBut(segments));
      const { log } = openLog(directory);
      await log.append(counted(1));
      await log.append(counted(2));
      expect(notesIn(directory, "tail_lost")).toHaveLength(times);
      expectSound(directory);
    }
  });

  it("in the middle of a line puts that aside and tells of both", async () => {
    const directory = await filled(2);
    const power = new PowerCut();
    const hashes = await append(openLog(directory, { ...fast, files: power.files }), 4);
    const written = readLog(directory, segmentFile(1));
    const lengths = linesOf(directory).map((line) => Buffer.byteLength(line) + 1);
    const third = lengths.slice(0, 3).reduce((sum, length) => sum + length, 0);
    power.cut(directory, keepAllBut(/^$/));
    const { writeFileSync } = await import("node:fs");
    writeFileSync(`${directory}/log/${segmentFile(1)}`, written.subarray(0, third + 100));
    expect(verifyStore(directory).ok).toBe(false);
    expect(await openLog(directory).log.append(counted(1))).toMatchObject({ seq: 6 });
    expect(notesIn(directory, "tail_repaired")).toMatchObject([{ details: { bytes: 100 } }]);
    expect(notesIn(directory, "tail_lost")).toMatchObject([{ details: { from: 4, to: 6 } }]);
    expect(hashesOf(directory)).toContain(hashes[0]);
    expectSound(directory);
  });

  it("takes nothing that stands before a checkpoint or a new segment", async () => {
    for (let count = 1; count <= 12; count++) {
      const directory = storeDirectory();
      const options = { ...fast, segmentSize: 2500, checkpointEvery: 5 };
      const power = new PowerCut();
      const hashes = await append(openLog(directory, { ...options, files: power.files }), count);
      const pinned = verifyStore(directory).checkpoints === 0 ? 0 : Math.floor(count / 5) * 5;
      power.cut(directory, keepAllBut(segments));
      await append(openLog(directory, options), 1);
      expect({ count, lost: hashes.slice(0, pinned).filter((each) => !hashesOf(directory).includes(each)) }).toEqual(
        { count, lost: [] },
      );
      expect({ count, problems: verifyStore(directory).problems }).toEqual({ count, problems: [] });
    }
  });

  it("of a head that is older than the log loses nothing", async () => {
    const directory = await filled(2);
    const power = new PowerCut();
    const hashes = await append(openLog(directory, { ...fast, files: power.files, checkpointEvery: 3 }), 5);
    power.cut(directory, keepAllBut(/head$/));
    expectSound(directory);
    await append(openLog(directory), 1);
    expect(hashesOf(directory)).toEqual(expect.arrayContaining([...hashes]));
    expect(notesIn(directory, "tail_lost")).toEqual([]);
    expectSound(directory);
  });
});

interface Run {
  readonly directory: string;
  readonly power: PowerCut;
  /** What was acknowledged and not pruned. */
  readonly acknowledged: readonly string[];
  readonly counted: number;
}

/** Some time of use: appends one by one and together, by two processes, and perhaps prunes. */
async function use(options: Partial<JsonlOptions>, directory: string, prunes: boolean): Promise<Run> {
  const power = new PowerCut();
  const stores = [1, 2].map(() => openLog(directory, { ...options, files: power.files }));
  let acknowledged: string[] = [];
  let uses = 0;
  for (let step = 0; step < 8; step++) {
    const store = stores[step % 2] ?? openLog(directory);
    const kind = chance();
    if (kind < 0.5) {
      acknowledged.push(...(await append(store, 1 + Math.floor(chance() * 3))));
    } else if (kind < 0.85 || !prunes) {
      const together = Array.from({ length: 1 + Math.floor(chance() * 9) }, (_, at) => store.log.append(counted(at)));
      acknowledged.push(...(await Promise.all(together)).flatMap((each) => ("hash" in each ? [each.hash] : [])));
    } else {
      await store.log.prune(await store.log.prunable({ keep: 5 }), noted);
      const kept = new Set(hashesOf(directory));
      acknowledged = acknowledged.filter((hash) => kept.has(hash));
    }
    uses = await store.log.count("uses");
  }
  return { directory, power, acknowledged, counted: uses };
}

const losses: readonly { readonly name: string; readonly choose: Choose }[] = [
  { name: "all that was not waited for is lost", choose: worst },
  { name: "the segments lose it", choose: keepAllBut(segments) },
  { name: "the head loses it", choose: keepAllBut(/head$/) },
  { name: "the checkpoints lose it", choose: keepAllBut(/checkpoints\.jsonl$/) },
  { name: "the counters lose it", choose: keepAllBut(/counters/) },
  { name: "each file keeps some of it", choose: (states) => Math.floor(chance() * states) },
];

describe.each([
  { durability: "full", prunes: false },
  { durability: "fast", prunes: false },
  { durability: "full", prunes: true },
  { durability: "fast", prunes: true },
] as const)("a power cut at any moment (durability $durability, pruned: $prunes)", ({ durability, prunes }) => {
  it.each(losses)("goes on by itself where $name", async ({ choose }) => {
    const options = { durability, segmentSize: 4000, checkpointEvery: 4 };
    for (let round = 0; round < 6; round++) {
      const directory = storeDirectory();
      for (let times = 0; times < 3; times++) {
        const run = await use(options, directory, prunes);
        run.power.cut(directory, choose);
        const { log } = openLog(directory, options);
        const appended = await log.append(counted(99)).catch((error: unknown) => error);
        const { problems } = verifyStore(directory);
        const kept = new Set(hashesOf(directory));
        const lost = durability === "fast" ? [] : run.acknowledged.filter((hash) => !kept.has(hash));
        expect({ round, times, appended, problems, lost }).toEqual({
          round,
          times,
          appended: { seq: expect.any(Number) as number, hash: expect.any(String) as string },
          problems: [],
          lost: [],
        });
        expect(await log.count("uses")).toBe(run.counted + 1);
        expectChained(directory);
      }
    }
  });
});

function expectChained(directory: string): void {
  const lines = linesOf(directory);
  const { seq, prev_hash } = JSON.parse(lines[0] ?? "{}") as { seq: number; prev_hash: string };
  expect(chainProblems(lines, seq, prev_hash)).toEqual([]);
}
