import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { checksum } from "../../src/digest/sha256.js";
import type { ShelfEntry } from "../../src/model/store.js";
import { systemFiles } from "../../src/store/drivers/jsonl/files.js";
import { ShelfFiles } from "../../src/store/drivers/jsonl/file-shelf.js";
import { bundled } from "./bundle.js";
import { storeDirectory } from "./jsonl-log.js";

let directory = "";
let now = 0;

beforeEach(() => {
  directory = join(storeDirectory(), "shelf");
  now = 1_000_000;
});

/** Opens the shelf like another process. */
const shelf = (): ShelfFiles =>
  new ShelfFiles(directory, { files: systemFiles, now: () => now, durable: false });

const text = (letter: string, length = 500): string => letter.repeat(length);

const numbered = (count: number, value: string, first = 0): readonly ShelfEntry[] =>
  Array.from({ length: count }, (_, at) => ({ key: `key-${first + at}`, value: `${value}${first + at}` }));

function putInLots(entries: readonly ShelfEntry[], lot = 50): void {
  const files = shelf();
  for (let at = 0; at < entries.length; at += lot) files.put(entries.slice(at, at + lot));
}

const fileNames = (): readonly string[] => readdirSync(directory).sort();

const parts = Array.from({ length: 16 }, (_, digit) => `all${digit.toString(16)}.jsonl`);

/** Returns all entries, and checks that each key occurs once. */
function all(files = shelf()): Map<string, ShelfEntry> {
  const entries = files.leaves().flatMap((leaf) => files.entriesOf(leaf));
  const found = new Map(entries.map((entry) => [entry.key, entry]));
  expect(found.size).toBe(entries.length);
  return found;
}

/** Checks the content, by lookup and by listing. */
function expectExactly(entries: readonly ShelfEntry[], files = shelf()): void {
  const latest = new Map(entries.map(({ key, value }) => [key, value]));
  const found = all(files);
  expect([...found.keys()].filter((key) => !latest.has(key))).toEqual([]);
  expect([...latest.keys()].filter((key) => found.get(key)?.value !== latest.get(key))).toEqual([]);
  const asked = [...latest.keys()].filter((_, at) => latest.size < 300 || at % 7 === 0);
  expect(asked.filter((key) => files.get(key)?.value !== latest.get(key))).toEqual([]);
}

describe("a shelf that grows", () => {
  it("is split, and has everything that was put", () => {
    const entries = numbered(2000, text("v"));
    putInLots(entries);
    expect(fileNames()).toEqual(parts);
    expectExactly(entries);
  });

  it("is split again if a part has grown, so that no lookup reads much", () => {
    const entries = numbered(6000, text("v"));
    putInLots(entries, 300);
    expect(fileNames().filter((name) => /^all[0-9a-f]{2}\.jsonl$/.test(name))).not.toEqual([]);
    expect(Math.max(...fileNames().map((name) => statSync(join(directory, name)).size))).toBeLessThan(
      300_000,
    );
    expectExactly(entries);
    const files = shelf();
    for (const { key } of numbered(100, "", 6000)) expect(files.get(key)).toBeUndefined();
  });

  it("keeps the latest value of keys that are put repeatedly, before and after a split", () => {
    const files = shelf();
    const latest = new Map<string, ShelfEntry>();
    for (let round = 0; round < 60; round++) {
      const entries = numbered(40, text(String(round % 10)), (round * 17) % 900);
      files.put(entries);
      for (const entry of entries) latest.set(entry.key, entry);
    }
    expectExactly([...latest.values()]);
  });

  it("does not grow when the same keys are put again", () => {
    const files = shelf();
    for (let round = 0; round < 2000; round++) files.put(numbered(2, text(`${round} `, 20), round % 10));
    const size = files.leaves().reduce((sum, leaf) => sum + files.sizeOf(leaf), 0);
    expect(size).toBeLessThan(40_000);
    expect(files.get("key-9")?.value).toBe(`${text("1999 ", 20)}9`);
  });

  it("has what one process put before another split it, and vice versa", () => {
    const [one, other] = [shelf(), shelf()];
    const entries = numbered(3000, text("v"));
    for (let at = 0; at < 3000; at += 30) (at % 60 === 0 ? one : other).put(entries.slice(at, at + 30));
    expectExactly(entries, one);
    expectExactly(entries, other);
  });
});

describe("an expired value", () => {
  const expiring = (count: number, expiresAt: number, first = 0): readonly ShelfEntry[] =>
    numbered(count, text("v"), first).map((entry) => ({ ...entry, group: "gate", expires_at: expiresAt }));

  it("is removed by compaction, at the exact time and not before", () => {
    const [gone, live] = [expiring(10, 2_000_000), expiring(10, 2_000_001, 10)];
    putInLots([...gone, ...live]);
    now = 1_999_999;
    expect(all().size).toBe(20);
    now = 2_000_000;
    const last = numbered(200, text("w", 1000), 100);
    for (const entry of last) shelf().put([entry]);
    expectExactly([...live, ...last]);
  });

  it("is removed from other files, too, by new values with an expiry", () => {
    putInLots(expiring(2000, 2_000_000));
    expect(fileNames()).toEqual(parts);
    now = 3_000_000;
    const before = all().size;
    const fresh = expiring(600, 9_000_000, 5000);
    for (const entry of fresh) shelf().put([entry]);
    const left = [...all().values()].filter(({ expires_at = 0 }) => expires_at <= now);
    expect(before).toBe(2000);
    expect(left).toEqual([]);
    expectExactly(fresh);
  });

  it("is kept by compaction if it has no expiry", () => {
    const lasting = numbered(300, text("l"));
    putInLots(lasting);
    now = Number.MAX_SAFE_INTEGER;
    for (let round = 0; round < 20; round++) shelf().put(expiring(50, 5, 1000));
    expectExactly([...lasting, ...[...all().values()].filter(({ group }) => group !== undefined)]);
  });
});

describe("an incomplete line that a crash left on a shelf", () => {
  const line = `${JSON.stringify({ key: "key-1", value: "ünfinished" })}\n`;
  const bytes = Buffer.from(line);

  it.each(Array.from({ length: bytes.length - 2 }, (_, at) => at + 1))(
    "hides nothing and is not a value (%i bytes)",
    (length) => {
      shelf().put(numbered(3, "old "));
      appendFileSync(join(directory, "all.jsonl"), bytes.subarray(0, length));
      expectExactly(numbered(3, "old "));
      shelf().put([{ key: "key-2", value: "new" }]);
      expectExactly([...numbered(2, "old "), { key: "key-2", value: "new" }]);
      shelf().put([{ key: "key-1", value: "newer" }]);
      expect(shelf().get("key-1")).toEqual({ key: "key-1", value: "newer" });
    },
  );

  it("is treated the same by lookup and listing if only the newline is missing", () => {
    shelf().put(numbered(3, "old "));
    appendFileSync(join(directory, "all.jsonl"), bytes.subarray(0, -1));
    expect(all().get("key-1")).toEqual(shelf().get("key-1"));
    shelf().put([{ key: "key-2", value: "new" }]);
    expect(all().get("key-1")).toEqual(shelf().get("key-1"));
  });

  it("hides nothing if it is zeros of blocks that did not reach the disk", () => {
    shelf().put(numbered(3, "old "));
    appendFileSync(join(directory, "all.jsonl"), Buffer.alloc(4096));
    expectExactly(numbered(3, "old "));
    shelf().put(numbered(2, "new "));
    expectExactly([...numbered(2, "new "), { key: "key-2", value: "old 2" }]);
  });

  it.each([
    { name: "half of it", beginning: Buffer.from('{"tidied_at":16') },
    { name: "zeros", beginning: Buffer.alloc(512) },
    { name: "half a value", beginning: bytes.subarray(0, 20) },
  ])("does not prevent compaction if the header is $name", ({ beginning }) => {
    mkdirSync(directory);
    writeFileSync(join(directory, "all.jsonl"), beginning);
    const files = shelf();
    for (let round = 0; round < 600; round++) files.put([{ key: "key-1", value: text(String(round % 10)) }]);
    expect(files.get("key-1")?.value).toBe(text("9"));
    expect(statSync(join(directory, "all.jsonl")).size).toBeLessThan(100_000);
  });
});

/** A shelf after a crash during a split: some parts exist, and the whole file still does. */
function crashedDividing(partsDone: number): readonly ShelfEntry[] {
  const entries = numbered(600, text("v"));
  mkdirSync(directory);
  const lineOf = (entry: ShelfEntry): string => `${JSON.stringify(entry)}\n`;
  const write = (name: string, kept: readonly ShelfEntry[]): void =>
    writeFileSync(join(directory, name), `{"tidied_at":16384}\n${kept.map(lineOf).join("")}`);
  write("all.jsonl", entries);
  for (const name of parts.slice(0, partsDone)) {
    const digit = name[3] ?? "";
    write(
      name,
      entries.filter(({ key }) => checksum(key).startsWith(digit)),
    );
  }
  if (partsDone < 16) writeFileSync(join(directory, `${parts[partsDone] ?? ""}.4711.tmp`), '{"tidied_at":1');
  return entries;
}

describe.each([0, 1, 7, 16])("a shelf after a crash during a split, with %i parts written", (done) => {
  it("has everything, once", () => {
    expectExactly(crashedDividing(done));
  });

  it("takes new values, and is split in the end", () => {
    const entries = crashedDividing(done);
    const changed = numbered(500, text("w"), 300);
    putInLots(changed);
    expect(fileNames().filter((name) => name.endsWith(".jsonl"))).toEqual(parts);
    expectExactly([...entries, ...changed]);
  });

  it("removes values", () => {
    const entries = crashedDividing(done);
    expect(shelf().remove(({ key }) => key.endsWith("7"))).toBe(60);
    expectExactly(entries.filter(({ key }) => !key.endsWith("7")));
    putInLots(numbered(200, text("n"), 5000));
    expectExactly([...entries.filter(({ key }) => !key.endsWith("7")), ...numbered(200, text("n"), 5000)]);
  });

  it("is empty after everything is removed", () => {
    crashedDividing(done);
    expect(shelf().remove(() => true)).toBe(600);
    expectExactly([]);
    expect(shelf().get("key-1")).toBeUndefined();
    shelf().put([{ key: "key-1", value: "again" }]);
    expectExactly([{ key: "key-1", value: "again" }]);
  });
});

describe("a value that a lookup does not find", () => {
  const entry = { key: "key", value: "new" };
  const older = '{"key":"key","value":"old"}\n';
  const header = '{"tidied_at":16384}\n';
  const sum = checksum("key");
  const otherDigit = sum.startsWith("0") ? "1" : "0";
  const line = `${JSON.stringify(entry)}\n`;

  const forgeries: { name: string; files: Readonly<Record<string, string>>; found?: string }[] = [
    { name: "in the file of other keys", files: { [otherDigit]: header + line, [sum.slice(0, 2)]: header } },
    { name: "in a file with too long a name", files: { [sum]: header + line } },
    { name: "in place of the header", files: { "": line } },
    { name: "with a key in another spelling", files: { "": header + line.replace(':"k', ':"\\u006b') } },
    { name: "with two keys", files: { "": header + line.replace("{", '{"key":"other",') } },
    {
      name: "before a damaged one",
      files: { "": `${header}${older}${line.replace("value", "valuf")}` },
      found: "old",
    },
  ];

  it.each(forgeries)("is not listed either: $name", ({ files, found }) => {
    mkdirSync(directory, { recursive: true });
    for (const [leaf, text] of Object.entries(files))
      writeFileSync(join(directory, `all${leaf}.jsonl`), text);
    expect(shelf().get("key")?.value).toBe(found);
    expect(all().get("key")?.value).toBe(found);
  });
});

describe("removing everything", () => {
  it("starts over with one file", () => {
    putInLots(numbered(2000, text("v")));
    expect(shelf().remove(() => true)).toBe(2000);
    expect(fileNames()).toEqual([]);
    shelf().put(numbered(3, "n"));
    expect(fileNames()).toEqual(["all.jsonl"]);
    expectExactly(numbered(3, "n"));
  });

  it("stays split if values remain", () => {
    putInLots(numbered(2000, text("v")));
    expect(shelf().remove(({ key }) => key !== "key-77")).toBe(1999);
    expectExactly(numbered(1, text("v"), 77));
    putInLots(numbered(500, text("n"), 3000));
    expectExactly([...numbered(1, text("v"), 77), ...numbered(500, text("n"), 3000)]);
  });
});

describe("a shelf that several processes write to", () => {
  it("has all values, one complete value per key", async () => {
    const script = await bundled("shelf-user");
    const home = storeDirectory();
    const names = ["one", "two", "three", "four"];
    const ended = names.map(
      (name) =>
        new Promise((resolve) => {
          const child = spawn(process.execPath, [script, home, name, "20", "40", "600"], {
            stdio: "inherit",
          });
          child.on("exit", resolve);
        }),
    );
    expect(await Promise.all(ended)).toEqual([0, 0, 0, 0]);
    directory = join(home, "cache");
    const found = all();
    for (const name of names) {
      const own = [...found.keys()].filter((key) => key.startsWith(`${name}-`));
      expect(own).toHaveLength(800);
      for (const key of own) expect(found.get(key)?.value).toBe(text("x", 600));
    }
    const shared = [...found].filter(([key]) => key.startsWith("shared-"));
    expect(shared).toHaveLength(20);
    for (const [, { value }] of shared) expect(names).toContain(value);
    expect(found.size).toBe(3220);
    expect(fileNames().length).toBeGreaterThan(1);
    expect(fileNames().filter((name) => name.endsWith(".tmp"))).toEqual([]);
    for (const name of fileNames())
      for (const line of readFileSync(join(directory, name), "utf8").split("\n").slice(0, -1))
        expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});
