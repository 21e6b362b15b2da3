import { existsSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Ledger } from "../../src/model/store.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { verifyInSlices } from "../../src/store/drivers/jsonl/verify-store.js";
import { chance, collect, decided } from "./entries.js";
import { FaultyFiles } from "./faulty-files.js";
import { chained, forgeLog } from "./forging.js";
import {
  expectSound,
  filled,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFiles,
  storeDirectory,
  writeLog,
} from "./jsonl-log.js";

const smallSegments = { segmentSize: 8 * 1024 };

/** Edits a file like an editor: the bytes change, and the modification time is later than that of the head. */
function edit(directory: string, name: string, change: (bytes: Buffer) => void): void {
  const bytes = readLog(directory, name);
  change(bytes);
  writeLog(directory, name, bytes);
  touch(directory, name);
}

/** Sets the time a second ahead, because file systems have a coarse clock. */
function touch(directory: string, name: string): void {
  const later = statSync(logFile(directory, "head")).mtimeMs / 1000 + 1;
  utimesSync(logFile(directory, name), later, later);
}

const append = (directory: string, options: Partial<JsonlOptions> = {}): Promise<unknown> =>
  openLog(directory, { ...smallSegments, ...options }).log.append({ body: decided({ input: "more" }) });

describe("a log that was edited without changing its length", () => {
  it("is not appended to, whichever byte was changed", async () => {
    const directory = await filled(60, smallSegments);
    const names = segmentFiles(directory);
    expect(names.length).toBeGreaterThan(4);
    for (const name of names) {
      const original = readLog(directory, name);
      const at = Math.floor(chance() * original.length);
      edit(directory, name, (bytes) => (bytes[at] = (bytes[at] ?? 0) ^ 1));
      await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
      writeLog(directory, name, original);
    }
    expectSound(directory);
    expect(await append(directory)).toMatchObject({ seq: 61 });
  });

  it("is read with a warning by every query", async () => {
    const directory = await filled(60, smallSegments);
    const [first = ""] = segmentFiles(directory);
    const questions: ((log: Ledger) => Promise<unknown>)[] = [
      (log) => log.tally("gate", {}),
      (log) => log.select({ limit: 1 })[Symbol.asyncIterator]().next(),
      (log) => log.find({ seq: 60 }),
    ];
    await openLog(directory).log.tally("gate", {});
    edit(directory, first, (bytes) => bytes.fill("x", 200, 210));
    for (const ask of questions) {
      const heard: string[] = [];
      await ask(openLog(directory, { onDamage: (message) => heard.push(message) }).log);
      expect(heard).toEqual([expect.stringContaining("is damaged")]);
    }
  });
});

/** The verifications that were remembered. */
const remembered = (directory: string): string =>
  existsSync(logFile(directory, "index/verified.json"))
    ? readFileSync(logFile(directory, "index/verified.json"), "utf8")
    : "";

/** Writes a log that is read in several slices. */
async function filledLong(): Promise<string> {
  const directory = storeDirectory();
  const store = openLog(directory, { durability: "fast" });
  const context = { text: "x".repeat(500_000) };
  for (let input = 0; input < 10; input++) await store.log.append({ body: decided({ input, context }) });
  await store.close();
  return directory;
}

/** Returns how often the event loop could do something else. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): void => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await work();
  clearImmediate(timer);
  return turns;
}

describe("a log whose modification time changed but not its content", () => {
  it("is verified once, even if the time is in the future", async () => {
    const directory = await filled(60, smallSegments);
    const [first = ""] = segmentFiles(directory);
    const future = new Date("2050-01-01T00:00:00Z");
    utimesSync(logFile(directory, first), future, future);
    expect(await append(directory)).toMatchObject({ seq: 61 });
    const verified = statSync(logFile(directory, "index/verified.json")).mtimeMs;
    expect(remembered(directory)).toContain(first);
    expect(await append(directory)).toMatchObject({ seq: 62 });
    const heard: string[] = [];
    await openLog(directory, { onDamage: (message) => heard.push(message) }).log.tally("gate", {});
    expect(heard).toEqual([]);
    expect(statSync(logFile(directory, "index/verified.json")).mtimeMs).toBe(verified);
  });

  it("is verified without blocking the event loop", async () => {
    const directory = await filledLong();
    expect(
      await turnsDuring(async () => {
        expect(await verifyInSlices(directory)).toMatchObject({ ok: true, records: 10 });
      }),
    ).toBeGreaterThanOrEqual(4);
  });

  it.each<{ readonly name: string; readonly ask: (log: Ledger) => Promise<unknown> }>([
    { name: "a query", ask: (log) => log.tally("gate", {}) },
    { name: "a list", ask: (log) => log.select({ limit: 1 })[Symbol.asyncIterator]().next() },
    { name: "precedents", ask: (log) => log.neighbours({ decision_id: "gate" }, [], 20) },
    { name: "results", ask: (log) => log.related({ session_id: "s" })[Symbol.asyncIterator]().next() },
  ])("is indexed for $name without blocking the event loop", async ({ ask }) => {
    const directory = await filledLong();
    touch(directory, segmentFiles(directory)[0] ?? "");
    const verifying = openLog(directory);
    await verifying.log.ready();
    await verifying.close();
    const store = openLog(directory);
    expect(await turnsDuring(() => ask(store.log))).toBeGreaterThanOrEqual(4);
    await store.close();
  });

  it("is indexed again only once, if several queries need it", async () => {
    const directory = await filledLong();
    rmSync(logFile(directory, "index"), { recursive: true, force: true });
    let read = 0;
    const store = openLog(directory, { progress: (done, total) => (read += done === total ? 1 : 0) });
    const tallies = Array.from({ length: 5 }, () => store.log.tally("gate", {}));
    const lists = Array.from({ length: 5 }, () => store.log.neighbours({ decision_id: "gate" }, [], 20));
    const [first] = await Promise.all([...tallies, ...lists]);
    expect(first).toMatchObject({ total: 10 });
    expect(read).toBe(1);
    await store.close();
  });

  it("is read correctly while records are appended", async () => {
    const directory = await filledLong();
    rmSync(logFile(directory, "index"), { recursive: true, force: true });
    const store = openLog(directory);
    const early = store.log.tally("gate", {});
    const related = collect(store.log.related({ session_id: "s" }));
    await store.log.append({ body: decided({ input: "more", session_id: "s" }) });
    expect((await early).total).toBeGreaterThanOrEqual(10);
    expect((await related).length).toBeLessThanOrEqual(1);
    expect(await collect(store.log.related({ session_id: "s" }))).toHaveLength(1);
    expect(await store.log.tally("gate", {})).toMatchObject({ total: 11 });
    await store.close();
  });

  it("is verified again if the file changes later", async () => {
    const directory = await filled(60, smallSegments);
    const [first = ""] = segmentFiles(directory);
    const future = new Date("2050-01-01T00:00:00Z");
    utimesSync(logFile(directory, first), future, future);
    await append(directory);
    const bytes = readLog(directory, first);
    bytes[300] = (bytes[300] ?? 0) ^ 1;
    writeLog(directory, first, bytes);
    utimesSync(logFile(directory, first), future, future);
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
  });

  it("is verified if the time was set back", async () => {
    const directory = await filled(60, smallSegments);
    const [first = ""] = segmentFiles(directory);
    edit(directory, first, (bytes) => (bytes[300] = (bytes[300] ?? 0) ^ 1));
    const past = new Date("2020-01-01T00:00:00Z");
    for (const name of [...segmentFiles(directory), "checkpoints.jsonl", "head"])
      utimesSync(logFile(directory, name), past, past);
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
  });

  it("is not verified after an append", async () => {
    const directory = await filled(60, smallSegments);
    await append(directory);
    await append(directory, { durability: "fast" });
    await append(directory);
    expect(remembered(directory)).toBe("");
  });

  it("is not detected after a failed append", async () => {
    const directory = await filled(3);
    const faulty = new FaultyFiles();
    const store = openLog(directory, { files: faulty.files });
    const early = statSync(logFile(directory, "head")).mtimeMs;
    faulty.failAt("writeSync", /^log\/\d{12}\.jsonl$/, "ENOSPC");
    await expect(store.log.append({ body: decided({ input: "lost" }) })).rejects.toMatchObject({
      code: "store_failed",
    });
    const late = statSync(logFile(directory, "head")).mtimeMs;
    expect(late).toBeGreaterThan(early);
  });
});

describe("a log with missing parts", () => {
  const damages: { name: string; damage: (directory: string) => void }[] = [
    {
      name: "its first segment",
      damage: (directory) => rmSync(logFile(directory, segmentFiles(directory)[0] ?? "")),
    },
    {
      name: "a segment in the middle",
      damage: (directory) => rmSync(logFile(directory, segmentFiles(directory)[2] ?? "")),
    },
    { name: "its checkpoints", damage: (directory) => rmSync(logFile(directory, "checkpoints.jsonl")) },
    {
      name: "its last checkpoint",
      damage: (directory) => {
        const lines = readLog(directory, "checkpoints.jsonl").toString().trimEnd().split("\n");
        writeLog(
          directory,
          "checkpoints.jsonl",
          lines
            .slice(0, -1)
            .map((line) => `${line}\n`)
            .join(""),
        );
      },
    },
  ];

  it.each(damages)("is not appended to without $name, and is read with a warning", async ({ damage }) => {
    const directory = await filled(60, { ...smallSegments, checkpointEvery: 7 });
    damage(directory);
    // The head is newer, so that only the content shows the damage.
    const later = new Date(Date.now() + 1000);
    utimesSync(logFile(directory, "head"), later, later);
    const heard: string[] = [];
    await openLog(directory, { onDamage: (message) => heard.push(message) }).log.tally("gate", {});
    expect(heard).toEqual([expect.stringContaining("is damaged")]);
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
    await expect(openLog(directory).log.ready()).rejects.toMatchObject({ code: "log_damaged" });
  });

  it("is not appended to if its checkpoints were edited", async () => {
    const directory = await filled(60, { ...smallSegments, checkpointEvery: 7 });
    edit(directory, "checkpoints.jsonl", (bytes) => (bytes[12] = (bytes[12] ?? 0) ^ 1));
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
  });

  it("is not appended to if it was hashed again and contradicts its checkpoints", async () => {
    const directory = await filled(20, { checkpointEvery: 7 });
    const [changed = "", ...rest] = linesOf(directory);
    forgeLog(directory, chained([changed.replace('["Pass"]', '["Fail"]'), ...rest]));
    const later = new Date(Date.now() + 1000);
    utimesSync(logFile(directory, "head"), later, later);
    await expect(append(directory)).rejects.toMatchObject({ code: "log_damaged" });
  });
});
