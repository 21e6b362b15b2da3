import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import {
  expectSound,
  filled,
  headOf,
  linesOf,
  openLog,
  readLog,
  segmentFile,
  storeDirectory,
} from "./jsonl-log.js";
import { PowerCut } from "./power-cut.js";
import {
  append,
  circumstances,
  counted,
  cutPower,
  hashesOf,
  keepAllBut,
  losses,
  segments,
} from "./power-cuts.js";

const notesIn = (directory: string, note: string): readonly { details: object }[] =>
  linesOf(directory)
    .filter((line) => line.includes(`"note":"${note}"`))
    .map((line) => JSON.parse(line) as { details: object });

const fast = { durability: "fast" as const };

describe("a power cut with durability `fast`", () => {
  it("that the head survived is detected and noted in the log", async () => {
    const directory = await filled(3);
    const power = new PowerCut();
    const before = await append(openLog(directory, { ...fast, files: power.files }), 4);
    const { size, head } = headOf(directory);
    power.cut(directory, keepAllBut(segments));
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "cut", seq: 4 }]);
    expect(verifyStore(directory).ok).toBe(false);

    expect(await openLog(directory, fast).log.append(counted(9))).toMatchObject({ seq: 5 });
    expect(notesIn(directory, "tail_lost")).toMatchObject([
      { details: { from: 4, to: size, last_hash: head } },
    ]);
    expect(expectSound(directory)).toMatchObject({ size: 5, notes: [] });
    expect(hashesOf(directory)).not.toContain(before[0]);
  });

  it("keeps all records that count something, and all counters", async () => {
    const directory = storeDirectory();
    const power = new PowerCut();
    const store = openLog(directory, { ...fast, files: power.files });
    for (let input = 0; input < 5; input++) await store.log.append(counted(input));
    await append(store, 2);
    power.cut(directory, keepAllBut(segments));
    const { log } = openLog(directory);
    expect((await log.counter("uses")).count).toBe(5);
    const limited = { ...counted(1), limits: [{ counter: "uses", most: 6 }] };
    expect(await log.append(limited)).toMatchObject({ seq: 7 });
    expect(await log.append(limited)).toMatchObject({ refused: { most: 6 }, count: 6 });
    expectSound(directory);
  });

  it("is noted once, also if it happens again", async () => {
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

  it("in the middle of a line moves the rest to a file and notes both", async () => {
    const directory = await filled(2);
    const power = new PowerCut();
    const hashes = await append(openLog(directory, { ...fast, files: power.files }), 4);
    const written = readLog(directory, segmentFile(1));
    const lengths = linesOf(directory).map((line) => Buffer.byteLength(line) + 1);
    const third = lengths.slice(0, 3).reduce((sum, length) => sum + length, 0);
    power.cut(directory, keepAllBut(/^$/));
    writeFileSync(`${directory}/log/${segmentFile(1)}`, written.subarray(0, third + 100));
    expect(verifyStore(directory).ok).toBe(false);
    expect(await openLog(directory).log.append(counted(1))).toMatchObject({ seq: 6 });
    expect(notesIn(directory, "tail_repaired")).toMatchObject([{ details: { bytes: 100 } }]);
    expect(notesIn(directory, "tail_lost")).toMatchObject([{ details: { from: 4, to: 6 } }]);
    expect(hashesOf(directory)).toContain(hashes[0]);
    expectSound(directory);
  });

  it("removes nothing before a checkpoint or a new segment", async () => {
    for (let count = 1; count <= 12; count++) {
      const directory = storeDirectory();
      const options = { ...fast, segmentSize: 2500, checkpointEvery: 5 };
      const power = new PowerCut();
      const hashes = await append(openLog(directory, { ...options, files: power.files }), count);
      const pinned = verifyStore(directory).checkpoints === 0 ? 0 : Math.floor(count / 5) * 5;
      power.cut(directory, keepAllBut(segments));
      await append(openLog(directory, options), 1);
      expect({
        count,
        lost: hashes.slice(0, pinned).filter((each) => !hashesOf(directory).includes(each)),
      }).toEqual({ count, lost: [] });
      expect({ count, problems: verifyStore(directory).problems }).toEqual({ count, problems: [] });
    }
  });

  it("that restores an older head loses nothing", async () => {
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

describe.each(circumstances)(
  "a power cut at any moment (durability $durability, pruned: $prunes)",
  (circumstance) => {
    it.each(losses)("recovers automatically if $name", async ({ choose }) => {
      await cutPower(circumstance, choose, 1);
    });
  },
);
