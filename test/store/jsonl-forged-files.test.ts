import { cpSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checksum } from "../../src/digest/sha256.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Entry, Ledger, ShelfEntry } from "../../src/model/store.js";
import { discardDerived, verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { ShelfFiles } from "../../src/store/drivers/jsonl/file-shelf.js";
import { systemFiles } from "../../src/store/drivers/jsonl/files.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { collect, decided, noted, sha256 } from "./entries.js";
import { chained, forgeLog } from "./forging.js";
import {
  expectSound,
  filled,
  headOf,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFile,
  storeDirectory,
  writeHeadFile,
  writeLog,
  writeUnsealedHead,
} from "./jsonl-log.js";

/*
 * An attacker who can write every file of a store, and knows how they are made, but has no key.
 */

const most = 6;

const limited = (input = 1): Entry => ({
  body: decided({ input }),
  counts: ["uses"],
  limits: [{ counter: "uses", most }],
});

/** A log whose limit is used up. */
async function usedUp(options = {}): Promise<string> {
  const directory = storeDirectory();
  const store = openLog(directory, options);
  for (let input = 0; input < most; input++) await store.log.append(limited(input));
  await store.close();
  return directory;
}

/** Makes the head the newest file, so that no time shows which file was edited. */
function touchHead(directory: string): void {
  const later = new Date(Date.now() + 60_000);
  utimesSync(logFile(directory, "head"), later, later);
}

const removeCounters = (directory: string): void =>
  rmSync(join(directory, "counters"), { recursive: true, force: true });

const damagedLog = { code: "log_damaged" };

/** Expects that the log is not appended to, and that readers of it are warned. */
async function expectRefused(directory: string): Promise<void> {
  await expect(openLog(directory).log.append(limited())).rejects.toMatchObject(damagedLog);
  const heard: string[] = [];
  await openLog(directory, { onDamage: (message) => heard.push(message) }).log.tally("gate", {});
  expect(heard).toEqual([expect.stringContaining("is damaged")]);
}

describe("a head without a checksum", () => {
  it.each([
    { name: "the pin of counters", field: { counters: "0".repeat(16) } },
    { name: "pruned records", field: { pruned: 2 } },
    { name: "approvals", field: { approvals: 0 } },
  ])("is damage if it has $name, which no earlier version wrote", async ({ field }) => {
    const directory = await usedUp();
    const { size, head, segment, bytes } = headOf(directory);
    writeUnsealedHead(directory, { size, head, segment, bytes, ...field });
    removeCounters(directory);
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "head" }]);
    await expect(openLog(directory).log.counter("uses")).rejects.toMatchObject(damagedLog);
    await expectRefused(directory);
  });

  it("of an earlier version is used after the log was verified, and gets a checksum", async () => {
    const directory = await usedUp();
    const { size, head, segment, bytes } = headOf(directory);
    writeUnsealedHead(directory, { size, head, segment, bytes });
    expect(await openLog(directory).log.append(limited())).toMatchObject({ refused: {}, count: most });
    expect(await openLog(directory).log.append({ body: decided() })).toMatchObject({ seq: most + 1 });
    expect(headOf(directory)).toHaveProperty("sum");
    expectSound(directory);
  });

  it("does not hide an edited record", async () => {
    const directory = await usedUp();
    edit(directory, '"counted":["uses"]', '"counted":["used"]');
    const { size, head, segment, bytes } = headOf(directory);
    writeUnsealedHead(directory, { size, head, segment, bytes });
    touchHead(directory);
    await expectRefused(directory);
  });
});

/** Replaces all occurrences of a text in a segment by another one of the same length. */
function edit(directory: string, from: string, to: string): void {
  const text = readLog(directory, segmentFile(1)).toString("latin1");
  expect(to).toHaveLength(from.length);
  expect(text).toContain(from);
  writeLog(directory, segmentFile(1), Buffer.from(text.replaceAll(from, to), "latin1"));
}

describe("counters that are counted again", () => {
  it.each([
    { name: "what a record counts", from: '"counted":["uses"]', to: '"counted":["used"]' },
    { name: "that a record counts", from: ',"counted":["uses"]', to: ',"Counted":["uses"]' },
  ])("are refused if someone edited $name", async ({ from, to }) => {
    const directory = await usedUp();
    edit(directory, from, to);
    removeCounters(directory);
    touchHead(directory);
    await expect(openLog(directory).log.counter("uses")).rejects.toMatchObject(damagedLog);
    await expectRefused(directory);
  });

  it("are refused if a record was removed and the others were not hashed again", async () => {
    const directory = await usedUp();
    const [first = "", , ...rest] = linesOf(directory);
    const text = [first, ...rest].map((line) => `${line}\n`).join("");
    writeLog(directory, segmentFile(1), text);
    writeHeadFile(directory, { ...headOf(directory), bytes: text.length });
    removeCounters(directory);
    touchHead(directory);
    await expect(openLog(directory).log.counter("uses")).rejects.toMatchObject(damagedLog);
    await expectRefused(directory);
  });

  it("are refused if the whole chain was hashed again, but not the head", async () => {
    const directory = await usedUp();
    const lines = linesOf(directory).map((line) => line.replace('"counted":["uses"]', '"counted":["used"]'));
    writeLog(
      directory,
      segmentFile(1),
      chained(lines)
        .map((line) => `${line}\n`)
        .join(""),
    );
    removeCounters(directory);
    touchHead(directory);
    await expect(openLog(directory).log.counter("uses")).rejects.toMatchObject(damagedLog);
    await expectRefused(directory);
  });
});

describe("a head that says that nothing was counted", () => {
  it("is found by verify, with its checksum and without counters, and is not trusted afterwards", async () => {
    const directory = await usedUp();
    writeHeadFile(directory, { ...headOf(directory), counters: "0".repeat(16) });
    removeCounters(directory);
    expectSound(directory);
    const problems = verifyDerived(directory);
    expect(problems).toMatchObject([{ kind: "derived", file: "log/head" }]);
    // A process that has read the forged counters before.
    const running = openLog(directory);
    expect(await running.log.counter("uses")).toMatchObject({ count: 0 });
    discardDerived(directory, problems);
    expect(verifyDerived(directory)).toEqual([]);
    expect(await running.log.counter("uses")).toMatchObject({ count: most });
    expect(await openLog(directory).log.append(limited())).toMatchObject({ refused: {}, count: most });
    expect(await openLog(directory).log.append({ body: decided(), counts: ["other"] })).toHaveProperty("seq");
    expect(verifyDerived(directory)).toEqual([]);
  });
});

describe("a log that is indexed again", () => {
  const questions: { name: string; ask: (log: Ledger) => Promise<unknown> }[] = [
    { name: "a distribution", ask: (log) => log.tally("gate", {}) },
    { name: "a filter", ask: (log) => collect(log.select({ label: "Nope" })) },
    { name: "the use of the cache", ask: (log) => log.cacheUse() },
    {
      name: "neighbours",
      ask: (log) => log.neighbours({ decision_id: "gate" }, [{ type: "x", id: "y" }], 1),
    },
  ];

  it.each(questions)("is read with a warning by $name if labels were edited", async ({ ask }) => {
    const directory = await filled(10);
    await openLog(directory).log.tally("gate", {});
    edit(directory, '"selected_labels":["Pass"]', '"selected_labels":["Fail"]');
    touchHead(directory);
    // The second reader uses the index of the first.
    for (let reader = 0; reader < 2; reader++) {
      const heard: string[] = [];
      await ask(openLog(directory, { onDamage: (message) => heard.push(message) }).log);
      expect(heard).toEqual([expect.stringContaining("is damaged")]);
    }
    await expect(openLog(directory).log.append({ body: decided() })).rejects.toMatchObject(damagedLog);
  });

  it("is read with a warning if a record was replaced by one with a hash of its own", async () => {
    const directory = await filled(10);
    const lines = [...linesOf(directory)];
    const { prev_hash } = JSON.parse(lines[4] ?? "") as { prev_hash: string };
    [lines[4] = ""] = chained([(lines[4] ?? "").replace('["Pass"]', '["Fail"]')], 5, prev_hash);
    writeLog(directory, segmentFile(1), lines.map((line) => `${line}\n`).join(""));
    touchHead(directory);
    const heard: string[] = [];
    await openLog(directory, { onDamage: (message) => heard.push(message) }).log.tally("gate", {});
    expect(heard).toEqual([expect.stringContaining("is damaged")]);
  });

  it("is read without a warning once it was restored, even if its times are the same", async () => {
    const directory = await filled(10);
    const original = readLog(directory, segmentFile(1));
    const time = new Date("2026-01-01T00:00:00Z");
    const setTime = (): void => utimesSync(logFile(directory, segmentFile(1)), time, time);
    edit(directory, '"selected_labels":["Pass"]', '"selected_labels":["Fail"]');
    setTime();
    touchHead(directory);
    await openLog(directory).log.tally("gate", {});
    writeLog(directory, segmentFile(1), original);
    setTime();
    touchHead(directory);
    expectSound(directory);
    const problems = verifyDerived(directory);
    expect(problems).toMatchObject([{ kind: "derived", file: "log/index/state.json" }]);
    discardDerived(directory, problems);
    const heard: string[] = [];
    const { log } = openLog(directory, { onDamage: (message) => heard.push(message) });
    expect(await log.tally("gate", {})).toMatchObject({ counts: { Pass: 10 } });
    expect(heard).toEqual([]);
  });
});

describe("an older head with older counters", () => {
  const kept = ["log/head", "counters"];

  /** Replaces the head and the counters by those of an earlier moment. */
  async function rolledBack(): Promise<string> {
    const directory = storeDirectory();
    const older = storeDirectory();
    const store = openLog(directory);
    for (let input = 0; input < most; input++) {
      await store.log.append(limited(input));
      if (input === 2)
        for (const name of kept) cpSync(join(directory, name), join(older, name), { recursive: true });
    }
    await store.close();
    for (const name of kept) {
      rmSync(join(directory, name), { recursive: true });
      cpSync(join(older, name), join(directory, name), { recursive: true });
    }
    return directory;
  }

  it("does not hide from readers what the records after it count", async () => {
    const directory = await rolledBack();
    expect(headOf(directory).size).toBe(3);
    expect(await openLog(directory).log.counter("uses")).toMatchObject({ count: most, seq: most });
    expect(await openLog(directory).log.counter("others")).toMatchObject({ count: 0 });
    expect(headOf(directory).size).toBe(3);
  });

  it("is replaced by the next append, even if a limit refuses it", async () => {
    const directory = await rolledBack();
    expect(await openLog(directory).log.append(limited())).toMatchObject({ refused: {}, count: most });
    expect(headOf(directory).size).toBe(most);
    expect(await openLog(directory).log.counter("uses")).toMatchObject({ count: most, seq: most });
    expectSound(directory);
  });
});

describe("older approval locks", () => {
  const lock = (serial: number): ShelfEntry => ({
    key: "lock",
    value: { serial, head: sha256(`${serial}`) },
  });

  /** A store that has seen the serials 3 and 7, and a copy of it from between. */
  async function seenTwice(): Promise<{ directory: string; older: string }> {
    const directory = await filled(3);
    await openLog(directory)
      .shelf("approvals")
      .put([lock(3)]);
    const older = storeDirectory();
    cpSync(directory, older, { recursive: true });
    await openLog(directory)
      .shelf("approvals")
      .put([lock(7)]);
    await openLog(directory).log.append({ body: decided() });
    expectSound(directory);
    return { directory, older };
  }

  function rollBack(directory: string, older: string, names: readonly string[]): void {
    for (const name of names) {
      rmSync(join(directory, name), { recursive: true });
      cpSync(join(older, name), join(directory, name), { recursive: true });
    }
  }

  async function expectForgotten(directory: string): Promise<void> {
    const approvals = openLog(directory).shelf("approvals");
    const forgotten = { code: "store_failed", message: expect.stringContaining("approval locks") as string };
    await expect(approvals.get("lock")).rejects.toMatchObject(forgotten);
    await expect(approvals.update("lock", () => lock(4))).rejects.toMatchObject(forgotten);
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "approvals" }]);
  }

  it("are noticed if the newer one was moved to where it is not looked up", async () => {
    const { directory } = await seenTwice();
    const file = (leaf: string): string => join(directory, "approvals", `all${leaf}.jsonl`);
    const [header = ""] = readFileSync(file(""), "utf8").split("\n");
    const sum = checksum("lock");
    renameSync(file(""), file(sum.startsWith("0") ? "1" : "0"));
    writeFileSync(file(sum.slice(0, 2)), `${header}\n`);
    await expectForgotten(directory);
  });

  it("are noticed with an older head, because the log is longer", async () => {
    const { directory, older } = await seenTwice();
    rollBack(directory, older, ["approvals", "log/head"]);
    expect(headOf(directory).size).toBe(4);
    await expectForgotten(directory);
    await openLog(directory).log.append({ body: decided() });
    expect(headOf(directory)).toMatchObject({ size: 7, approvals: 7 });
    await expectForgotten(directory);
  });

  it("are noticed with a head in the format of an earlier version", async () => {
    const { directory, older } = await seenTwice();
    rollBack(directory, older, ["approvals"]);
    const { size, head, segment, bytes } = headOf(directory);
    writeUnsealedHead(directory, { size, head, segment, bytes });
    await expectForgotten(directory);
  });

  it("are noticed by verify with a head that says nothing about them", async () => {
    const { directory, older } = await seenTwice();
    rollBack(directory, older, ["approvals"]);
    const { size, head, segment, bytes } = headOf(directory);
    writeHeadFile(directory, { size, head, segment, bytes });
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "approvals" }]);
  });

  it("are noticed by verify if another lock was invented to make up for them", async () => {
    const { directory, older } = await seenTwice();
    rollBack(directory, older, ["approvals"]);
    const shelf = new ShelfFiles(join(directory, "approvals"), {
      files: systemFiles,
      now: () => 0,
      durable: false,
      checked: true,
    });
    shelf.put([{ ...lock(1000), key: "invented" }]);
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "approvals" }]);
  });

  it("are noticed after the note was pruned", async () => {
    const { directory, older } = await seenTwice();
    const { log } = openLog(directory);
    await log.prune(await log.prunable({ keep: 0 }), noted);
    rollBack(directory, older, ["approvals"]);
    const { size, head, segment, bytes, checkpoint, pruned } = headOf(directory);
    writeHeadFile(directory, {
      size,
      head,
      segment,
      bytes,
      ...(checkpoint && { checkpoint }),
      pruned: pruned ?? 0,
    });
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "approvals" }]);
  });

  it("are not used if the head cannot be read", async () => {
    const { directory } = await seenTwice();
    rmSync(logFile(directory, "head"));
    await expect(openLog(directory).shelf("approvals").get("lock")).rejects.toMatchObject(damagedLog);
  });

  it("are noted once, and a damaged log gets no note", async () => {
    const { directory } = await seenTwice();
    const notes = (): number => linesOf(directory).filter((line) => line.includes('"approvals_seen"')).length;
    expect(notes()).toBe(2);
    await openLog(directory)
      .shelf("approvals")
      .update("lock", () => lock(7));
    expect(notes()).toBe(2);
    edit(directory, '"selected_labels":["Pass"]', '"selected_labels":["Fail"]');
    await expect(
      openLog(directory)
        .shelf("approvals")
        .update("lock", () => lock(8)),
    ).rejects.toMatchObject(damagedLog);
    expect(notes()).toBe(2);
  });
});

describe("a forged note of a prune in a log that was hashed again", () => {
  /** Appends a note with a matching chain and head. */
  function appendNote(directory: string, details: JsonObject): void {
    const lines = linesOf(directory);
    const [line = ""] = chained([`{"seq":1,${noted(details)}}`.replace(/\}$/, endOfLine)], lines.length + 1);
    forgeLog(directory, chained([...lines, line]));
  }
  const endOfLine = `,"prev_hash":"${"0".repeat(64)}","hash":"${"0".repeat(64)}"}`;

  it.each([
    { name: "no counters", counters: {} },
    { name: "a lower count", counters: { uses: { count: 1, seq: most } } },
    { name: "a count of another record", counters: { uses: { count: most, seq: 1 } } },
    { name: "one more counter", counters: { uses: { count: most, seq: most }, other: { count: 1, seq: 1 } } },
  ])("is found if it has $name, and resets no limit", async ({ counters }) => {
    const directory = await usedUp();
    const { hash } = JSON.parse(linesOf(directory)[1] ?? "") as { hash: string };
    appendNote(directory, { through: 2, hash, records: 2, counters });
    removeCounters(directory);
    expect(verifyStore(directory).problems).toMatchObject([
      { kind: "changed", seq: most + 1, message: expect.stringContaining("counters") as string },
    ]);
    await expect(openLog(directory).log.counter("uses")).rejects.toMatchObject(damagedLog);
    await expectRefused(directory);
  });

  it("is found if it has less than the records that are left count", async () => {
    const small = { segmentSize: 2000 };
    const directory = await usedUp(small);
    const { log } = openLog(directory, small);
    const found = await log.prunable({ keep: 3 });
    expect(found.records).toBeGreaterThan(0);
    await log.prune(found, (details) => noted({ ...details, counters: { uses: { count: 1, seq: most } } }));
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "changed", seq: most + 1 }]);
  });

  it("is not found if it has the counters that a prune would note", async () => {
    const directory = await filled(3);
    await openLog(directory).log.append(limited());
    const { hash } = JSON.parse(linesOf(directory)[1] ?? "") as { hash: string };
    appendNote(directory, { through: 2, hash, records: 2, counters: { uses: { count: 1, seq: 4 } } });
    expectSound(directory);
  });
});
