import { statSync, utimesSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Ledger } from "../../src/model/store.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { isModifiedAfterHead } from "../../src/store/drivers/jsonl/damage-detection.js";
import { chance, decided } from "./entries.js";
import { FaultyFiles } from "./faulty-files.js";
import { expectSound, filled, logFile, openLog, readLog, segmentFiles, writeLog } from "./jsonl-log.js";

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

describe("a log whose modification time changed but not its content", () => {
  it("is verified once, and continues", async () => {
    const directory = await filled(60, smallSegments);
    const [first = ""] = segmentFiles(directory);
    touch(directory, first);
    const later = statSync(logFile(directory, first)).mtimeMs / 1000 + 1;
    expect(isModifiedAfterHead(`${directory}/log`)).toBe(true);
    expect(await append(directory)).toMatchObject({ seq: 61 });
    // The head was written since, but the test has set the segment's time ahead.
    utimesSync(logFile(directory, "head"), later, later);
    expect(isModifiedAfterHead(`${directory}/log`)).toBe(false);
    const heard: string[] = [];
    await openLog(directory, { onDamage: (message) => heard.push(message) }).log.tally("gate", {});
    expect(heard).toEqual([]);
  });

  it("is not detected after an append", async () => {
    const directory = await filled(60, smallSegments);
    expect(isModifiedAfterHead(`${directory}/log`)).toBe(false);
    await append(directory, { durability: "fast" });
    expect(isModifiedAfterHead(`${directory}/log`)).toBe(false);
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
