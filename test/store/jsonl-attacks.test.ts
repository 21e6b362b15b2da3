import { appendFileSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { Entry, Ledger } from "../../src/model/store.js";
import { describeRemovedLog } from "../../src/store/drivers/jsonl/head.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { collect, decided, noted, sha256 } from "./entries.js";
import { chained } from "./forging.js";
import {
  checkpointsOf,
  expectSound,
  filled,
  headOf,
  linesOf,
  logFile,
  openLog,
  segmentFile,
  segmentFiles,
  storeDirectory,
  writeHeadFile,
  writeLog,
} from "./jsonl-log.js";

/*
 * An attacker who edits a few files of a store, and computes the hashes of what they edit, but not the whole chain.
 */

const small = { segmentSize: 2000 };
const damagedLog = { code: "log_damaged" };
const limited: Entry = { body: decided(), counts: ["uses"], limits: [{ counter: "uses", most: 4 }] };

/** Makes the head the newest file, so that no time shows which file was edited. */
function touchHead(directory: string): void {
  const later = new Date(Date.now() + 60_000);
  utimesSync(logFile(directory, "head"), later, later);
}

/** Expects that the log is not appended to, and that readers of it are warned. */
async function expectRefused(directory: string): Promise<void> {
  await expect(openLog(directory, small).log.append(limited)).rejects.toMatchObject(damagedLog);
  await expectWarning(directory, (log) => log.tally("gate", {}));
}

async function expectWarning(directory: string, ask: (log: Ledger) => Promise<unknown>): Promise<void> {
  const heard: string[] = [];
  await ask(openLog(directory, { onDamage: (message) => heard.push(message) }).log);
  expect(heard).toEqual([expect.stringContaining("is damaged")]);
}

const lastOf = (directory: string): { seq: number; hash: string } =>
  JSON.parse(linesOf(directory).at(-1) ?? "") as { seq: number; hash: string };

/** Appends a chained line, without a new head. */
function appendLine(directory: string, body: string): void {
  const { seq, hash } = lastOf(directory);
  const unhashed = `{"seq":1,${body},"prev_hash":"${"0".repeat(64)}","hash":"${"0".repeat(64)}"}`;
  const [line = ""] = chained([unhashed], seq + 1, hash);
  appendFileSync(logFile(directory, segmentFiles(directory).at(-1) ?? ""), `${line}\n`);
}

/** Appends a checkpoint of the whole log, without a signature. */
function appendCheckpoint(directory: string): void {
  const { seq: size, hash: head } = lastOf(directory);
  const prev_hash = checkpointsOf(directory).at(-1)?.hash ?? "0".repeat(64);
  const text = JSON.stringify({ size, head, timestamp: "2026-03-02T12:00:00.000000Z", prev_hash });
  appendFileSync(logFile(directory, "checkpoints.jsonl"), `${text.slice(0, -1)},"hash":"${sha256(text)}"}\n`);
}

describe("a forged prune", () => {
  /** A log whose limit was used up in segments that are complete. */
  async function usedUp(): Promise<string> {
    const directory = storeDirectory();
    const store = openLog(directory, small);
    for (let use = 0; use < 4; use++) await store.log.append(limited);
    for (let input = 0; input < 6; input++) await store.log.append({ body: decided({ input }) });
    await store.close();
    return directory;
  }

  const firstKept = (directory: string): number =>
    Number.parseInt(
      segmentFiles(directory).find((name) => !readFileSync(logFile(directory, name)).includes("uses")) ?? "",
      10,
    );

  function forgeNote(directory: string, counters: JsonObject = {}): void {
    const through = firstKept(directory) - 1;
    const { hash } = JSON.parse(linesOf(directory)[through - 1] ?? "") as { hash: string };
    const note = noted({ through, hash, records: through, counters });
    appendLine(directory, `${note},"checkpoint":true`);
    appendCheckpoint(directory);
  }

  function removeUses(directory: string, through = firstKept(directory) - 1): void {
    for (const name of segmentFiles(directory))
      if (Number.parseInt(name, 10) <= through) rmSync(logFile(directory, name));
    rmSync(join(directory, "counters"), { recursive: true, force: true });
  }

  it("does not explain missing records if the head does not know of it", async () => {
    const directory = await usedUp();
    const { size, head } = expectSound(directory);
    forgeNote(directory);
    removeUses(directory);
    touchHead(directory);
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "missing" }]);
    expect(verifyStore(directory, { expect: { size, head } }).problems).toMatchObject([{ kind: "missing" }]);
    await expectRefused(directory);
  });

  it("is not taken over as the rest of a crash if its counters are wrong", async () => {
    const directory = await usedUp();
    forgeNote(directory);
    touchHead(directory);
    await expectRefused(directory);
    expect(headOf(directory)).toMatchObject({ size: 10, pruned: 0 });
  });

  it("is found by an expectation from before it, even with a new head", async () => {
    const directory = await usedUp();
    const { size, head } = expectSound(directory);
    const through = firstKept(directory) - 1;
    const uses = { uses: { count: 4, seq: 4 } };
    forgeNote(directory, uses);
    await openLog(directory, small).log.append({ body: decided() });
    removeUses(directory, through);
    expectSound(directory);
    const { problems } = verifyStore(directory, { expect: { size, head } });
    expect(problems).toMatchObject([{ kind: "expectation", seq: 1 }]);
    const now = expectSound(directory);
    expectSound(directory, { expect: { size: now.size, head: now.head } });
  });

  it("is not suspected in a log that an earlier version has pruned", async () => {
    const directory = await usedUp();
    const { log } = openLog(directory, small);
    await log.prune(await log.prunable({ keep: 3 }), noted);
    const { pruned, ...head } = headOf(directory);
    expect(pruned).toBeGreaterThan(3);
    writeHeadFile(directory, head);
    expectSound(directory);
    expect(await openLog(directory, small).log.append(limited)).toMatchObject({ refused: {}, count: 4 });
    expect(await openLog(directory, small).log.append({ body: decided() })).toHaveProperty("seq");
    expectSound(directory);
  });
});

describe("a record that was edited and hashed again, without the records after it", () => {
  const questions: { name: string; ask: (log: Ledger) => Promise<unknown> }[] = [
    { name: "its number", ask: (log) => log.find({ seq: 5 }) },
    { name: "a filter", ask: (log) => collect(log.select({ label: "Pass" })) },
    { name: "the newest ones", ask: (log) => collect(log.select({ limit: 50, reverse: true })) },
    { name: "its session", ask: (log) => collect(log.related({ session_id: "s5" })) },
  ];

  /** A log that is longer than its saved index, so that a new time of its segment is no sign of an edit. */
  async function edited(seq: number, options = {}): Promise<string> {
    const directory = storeDirectory();
    const store = openLog(directory, options);
    const append = (input: number): Promise<unknown> =>
      store.log.append({ body: decided({ input, session_id: `s${input}` }) });
    for (let input = 1; input <= 20; input++) await append(input);
    await openLog(directory).log.tally("gate", {});
    for (let input = 21; input <= 30; input++) await append(input);
    await store.close();
    const lines = [...linesOf(directory)];
    const { prev_hash } = JSON.parse(lines[seq - 1] ?? "") as { prev_hash: string };
    const [forged = ""] = chained([(lines[seq - 1] ?? "").replace('"to-Pass"', '"to-Fail"')], seq, prev_hash);
    expect(forged).not.toBe(lines[seq - 1]);
    const name = segmentFiles(directory).findLast((each) => Number.parseInt(each, 10) <= seq) ?? "";
    const text = readFileSync(logFile(directory, name), "utf8");
    writeLog(directory, name, text.replace(lines[seq - 1] ?? "", forged));
    touchHead(directory);
    return directory;
  }

  it.each(questions)("is read with a warning by $name", async ({ ask }) => {
    await expectWarning(await edited(5), ask);
  });

  it("is not intact, and the log is not appended to after it was read", async () => {
    const directory = await edited(5);
    expect(await openLog(directory).log.find({ seq: 5 })).toMatchObject({ intact: false });
    await expect(openLog(directory).log.append({ body: decided() })).rejects.toMatchObject(damagedLog);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 30])("is not intact at %i, in small segments", async (seq) => {
    const directory = await edited(seq, small);
    const { log } = openLog(directory, { onDamage: () => undefined });
    expect(await log.find({ seq })).toMatchObject({ intact: false });
  });

  it("does not make other records look edited", async () => {
    const directory = await edited(5);
    const lines = await collect(openLog(directory).log.select({}));
    expect(lines.filter(({ intact }) => !intact).map(({ record }) => record.seq)).toEqual([5]);
  });
});

describe("a record that was appended without a new head", () => {
  it("cannot be told from the rest of a crash, but verify says that it is there", async () => {
    const directory = await filled(3);
    expect(expectSound(directory).notes).toEqual([]);
    appendLine(directory, decided({ input: "more" }));
    expect(expectSound(directory)).toMatchObject({
      size: 4,
      notes: ["record 4 is not covered by the head: a crash left it, or another program appended it"],
    });
    appendLine(directory, decided({ input: "even more" }));
    expect(expectSound(directory).notes).toEqual([
      "records 4 to 5 are not covered by the head: a crash left them, or another program appended them",
    ]);
    await openLog(directory).log.append({ body: decided() });
    expect(expectSound(directory)).toMatchObject({ size: 6, notes: [] });
  });
});

describe("a removed log", () => {
  const remains: { name: string; remove: readonly string[] }[] = [
    { name: "counters", remove: ["definitions", "environments", "approvals"] },
    { name: "definitions", remove: ["counters", "environments", "approvals"] },
    { name: "approval locks", remove: ["counters", "definitions", "environments"] },
    { name: "all else", remove: [] },
  ];
  const lock = { key: "lock", value: { serial: 1, head: sha256("1") } };

  async function used(): Promise<string> {
    const directory = storeDirectory();
    const store = openLog(directory);
    await store.log.append(limited);
    await store.shelf("approvals").put([lock]);
    await store.close();
    return directory;
  }

  it.each(remains)("is not replaced by a new one while there are still $name", async ({ remove }) => {
    const directory = await used();
    for (const name of ["log", ...remove]) rmSync(join(directory, name), { recursive: true });
    await expect(openLog(directory).log.append(limited)).rejects.toMatchObject({
      ...damagedLog,
      message: expect.stringContaining("the log was removed") as string,
    });
    await expect(openLog(directory).log.ready()).rejects.toMatchObject(damagedLog);
    await expect(openLog(directory).shelf("approvals").put([lock])).rejects.toMatchObject(damagedLog);
    await expectWarning(directory, (log) => log.tally("gate", {}));
    expect(existsSync(join(directory, "log"))).toBe(false);
    expect(verifyStore(directory).problems).toMatchObject([{ kind: "missing" }]);
  });

  it("is not replaced by a new one if only its checkpoints are left", async () => {
    const directory = await filled(4, { checkpointEvery: 2 });
    for (const name of ["definitions", "environments", "log/head", `log/${segmentFile(1)}`])
      rmSync(join(directory, name), { recursive: true });
    await expect(openLog(directory).log.append(limited)).rejects.toMatchObject(damagedLog);
  });

  it("can start again in an empty store", async () => {
    const directory = await used();
    for (const name of ["log", "counters", "definitions", "environments", "approvals"])
      rmSync(join(directory, name), { recursive: true });
    expect(await openLog(directory).log.append(limited)).toMatchObject({ seq: 1 });
    expectSound(directory);
  });

  it.each(["definitions", "environments", "approvals"] as const)(
    "is no longer possible once something was put on the shelf of %s",
    async (name) => {
      const directory = storeDirectory();
      await openLog(directory).shelf(name).put([lock]);
      expect(existsSync(logFile(directory, "head"))).toBe(true);
      expect(await openLog(directory).log.append(limited)).toHaveProperty("seq");
    },
  );

  it("is not suspected if another process starts the log after this one has looked for it", async () => {
    expect(describeRemovedLog(await filled(1))).toBeUndefined();
  });

  it("is not suspected in a backup without counters and index", async () => {
    const directory = await used();
    for (const name of ["counters", "log/index"])
      rmSync(join(directory, name), { recursive: true, force: true });
    expect(await openLog(directory).log.append(limited)).toHaveProperty("seq");
    writeFileSync(join(directory, "notes.txt"), "");
    expectSound(directory);
  });
});
