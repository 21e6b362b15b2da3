import * as fs from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { systemFiles } from "../../src/store/drivers/jsonl/files.js";
import { ShelfFiles } from "../../src/store/drivers/jsonl/file-shelf.js";
import { storeDirectory } from "./jsonl-log.js";

/** Runs once, just before a file of a shelf is read. */
let meanwhile: (() => void) | undefined;

/** Simulates a crash after this many files were removed. */
let unlinksLeft = Infinity;

vi.mock("node:fs", async (original) => {
  const actual = await original<typeof fs>();
  const readFileSync = ((path: string, ...more: []) => {
    const act = path.includes("/all") ? meanwhile : undefined;
    if (act !== undefined) meanwhile = undefined;
    act?.();
    return actual.readFileSync(path, ...more);
  }) as typeof fs.readFileSync;
  const unlinkSync = ((path: string) => {
    if (unlinksLeft-- <= 0) throw new Error("crash");
    actual.unlinkSync(path);
  }) as typeof fs.unlinkSync;
  return { ...actual, readFileSync, unlinkSync };
});

const open = (directory: string): ShelfFiles =>
  new ShelfFiles(directory, { files: systemFiles, now: () => 0, durable: false });

/** A shelf that the next value splits. */
function aboutToDivide(): { directory: string; divide: () => void } {
  const directory = join(storeDirectory(), "shelf");
  open(directory).put(Array.from({ length: 400 }, (_, at) => ({ key: `key-${at}`, value: "v".repeat(500) })));
  return {
    directory,
    divide: () => {
      open(directory).put([{ key: "last", value: 1 }]);
      expect(fs.existsSync(join(directory, "all.jsonl"))).toBe(false);
    },
  };
}

it("finds a value on a shelf that is split during the lookup", () => {
  const { directory, divide } = aboutToDivide();
  meanwhile = divide;
  expect(open(directory).get("key-7")?.key).toBe("key-7");
});

it("lists every value of a shelf that is split during the listing", () => {
  const { directory, divide } = aboutToDivide();
  const shelf = open(directory);
  meanwhile = divide;
  const keys = shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf).map(({ key }) => key));
  expect(new Set(keys).size).toBeGreaterThanOrEqual(400);
});

it.each([0, 1, 5, 15, 16])(
  "loses no new value after removing everything was interrupted at file %i",
  (count) => {
    const { directory, divide } = aboutToDivide();
    divide();
    unlinksLeft = count;
    try {
      open(directory).remove(() => true);
    } catch (error) {
      expect(error).toMatchObject({ message: "crash" });
    }
    unlinksLeft = Infinity;
    const shelf = open(directory);
    const list = (): readonly string[] =>
      shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf).map(({ key }) => key));
    const keys = Array.from({ length: 300 }, (_, at) => `new-${at}`);
    for (const key of keys) shelf.put([{ key, value: "v".repeat(500) }]);
    expect(keys.filter((key) => shelf.get(key) === undefined)).toEqual([]);
    expect(list()).toEqual(expect.arrayContaining(keys));
    shelf.remove(() => true);
    expect(list()).toEqual([]);
  },
);
