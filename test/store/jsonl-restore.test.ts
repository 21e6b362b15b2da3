import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/model/store.js";
import type { Manifest } from "../../src/store/export-manifest.js";
import { formatManifest } from "../../src/store/export-manifest.js";
import { restoreExport } from "../../src/store/restore-export.js";
import { verifyDerived } from "../../src/store/drivers/jsonl/verify-derived.js";
import { verifyStore } from "../../src/store/drivers/jsonl/verify-store.js";
import { openExport, verifyExport } from "../../src/store/verify-export.js";
import { writeExport } from "../../src/store/write-export.js";
import { decided, definitionHash, definitionOf, noted, sha256 } from "./entries.js";
import {
  checkpointsOf,
  expectSound,
  headOf,
  linesOf,
  logFile,
  openLog,
  readLog,
  segmentFiles,
  storeDirectory,
} from "./jsonl-log.js";

const small = { segmentSize: 2000, checkpointEvery: 5 };

/** A store of a few segments, with a counter. */
async function source(count = 40): Promise<string> {
  const directory = storeDirectory();
  const { log } = openLog(directory, small);
  for (let input = 0; input < count; input++)
    await log.append({ body: decided({ input }), counts: ["calls"] });
  return directory;
}

async function exportOf(directory: string): Promise<string> {
  const out = join(storeDirectory(), "export");
  const store = openLog(directory, small);
  const origin = { format: "jsonl", query: {}, store, sign: undefined, log: `${directory}/log` } as const;
  const { warnings } = await writeExport(out, origin, {
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  expect(warnings).toEqual([]);
  return out;
}

async function restore(from: string, store: Store): Promise<readonly string[]> {
  expect(verifyExport(from).problems).toEqual([]);
  const { directory, manifest } = openExport(from);
  return restoreExport(directory, manifest as Manifest, { store, progress: () => undefined });
}

/** Restores an export and calls a function before the last line is written. */
function restoreWith(from: string, target: string, beforeLast: () => void): Promise<unknown> {
  const store = openLog(target, small);
  function* interrupted(lines: readonly string[]): Generator<string> {
    yield* lines.slice(0, -1);
    beforeLast();
    yield* lines.slice(-1);
  }
  return restore(from, {
    ...store,
    restore: (snapshot) => store.restore({ ...snapshot, lines: interrupted([...snapshot.lines]) }),
  });
}

async function prune(directory: string, keep: number): Promise<void> {
  const { log } = openLog(directory, small);
  await log.prune(await log.prunable({ keep }), noted);
}

describe("a restored store", () => {
  it("has the lines, the checkpoints and the head of the original, and correct derived files", async () => {
    const original = await source();
    const target = storeDirectory();
    expect(await restore(await exportOf(original), openLog(target, small))).toEqual([]);
    expect(linesOf(target)).toEqual(linesOf(original));
    expect(readLog(target, "checkpoints.jsonl")).toEqual(readLog(original, "checkpoints.jsonl"));
    const { expect: state } = expectSound(original);
    expect(expectSound(target).expect).toBe(state);
    expect(verifyDerived(target)).toEqual([]);
    expect(headOf(target).counters).toBe(headOf(original).counters);
    expect(segmentFiles(target).length).toBeGreaterThan(2);
    expect(readdirSync(target).filter((name) => name.startsWith("restore-"))).toEqual([]);
  });

  it("ends every complete segment at a checkpoint, however small segments are", async () => {
    const from = await exportOf(await source());
    for (const segmentSize of [1, 3000, 1e9]) {
      const target = storeDirectory();
      await restore(from, openLog(target, { ...small, segmentSize }));
      const pinned = checkpointsOf(target).map(({ size }) => size + 1);
      const firsts = segmentFiles(target).map((name) => Number.parseInt(name, 10));
      expect(pinned).toEqual(expect.arrayContaining(firsts.slice(1)));
      expectSound(target);
    }
  });

  it("can be pruned, exported and restored again", async () => {
    const original = await source();
    await prune(original, 15);
    const second = storeDirectory();
    await restore(await exportOf(original), openLog(second, small));
    expect(expectSound(second)).toMatchObject({ pruned: headOf(original).pruned });
    await openLog(second, small).log.append({ body: decided(), counts: ["calls"] });
    await prune(second, 5);
    const third = storeDirectory();
    await restore(await exportOf(second), openLog(third, small));
    expect(expectSound(third).expect).toBe(expectSound(second).expect);
    expect(await openLog(third, small).log.counter("calls")).toMatchObject({ count: 41 });
  });

  it("can be that of a log whose prune was interrupted", async () => {
    const original = await source();
    const firsts = segmentFiles(original);
    const before = storeDirectory();
    cpSync(original, before, { recursive: true });
    await prune(original, 4);
    const removed = firsts.filter((name) => !segmentFiles(original).includes(name));
    for (const name of removed.slice(2)) cpSync(logFile(before, name), logFile(original, name));
    expect(expectSound(original).pruned).toBeGreaterThan(0);
    const target = storeDirectory();
    await restore(await exportOf(original), openLog(target, { ...small, segmentSize: 1e9 }));
    expect(expectSound(target).expect).toBe(expectSound(original).expect);
    await prune(target, 1);
    expectSound(target);
  });

  it("keeps approval locks that were seen, and never replaces a newer one", async () => {
    const original = await source(3);
    const lock = (serial: number) => ({ key: "lock", value: { serial, head: "a".repeat(64) } });
    await openLog(original, small)
      .shelf("approvals")
      .put([lock(4)]);
    const from = await exportOf(original);
    const target = storeDirectory();
    await restore(from, openLog(target, small));
    expectSound(target);
    expect(await openLog(target, small).shelf("approvals").get("lock")).toMatchObject(lock(4));
    const newer = storeDirectory();
    cpSync(target, newer, { recursive: true });
    await openLog(newer, small)
      .shelf("approvals")
      .put([lock(9)]);
    rmSync(join(newer, "log"), { recursive: true });
    await restore(from, openLog(newer, small));
    expect(await openLog(newer, small).shelf("approvals").get("lock")).toMatchObject(lock(9));
  });

  it.each([
    { name: "approvals.jsonl", notes: /approval locks that were seen/, warnings: [/directory `approvals`/] },
    { name: "checkpoints.jsonl", notes: /not signed/, warnings: [] },
  ])("can be that of an earlier version, whose export has no $name", async ({ name, notes, warnings }) => {
    const original = storeDirectory();
    const store = openLog(original);
    await store.log.append({ body: decided() });
    await store.shelf("approvals").put([{ key: "lock", value: { serial: 4, head: "a".repeat(64) } }]);
    const from = await exportOf(original);
    const { manifest } = openExport(from) as { manifest: Manifest };
    rmSync(join(from, name), { force: true });
    const files = manifest.files.filter((file) => file.name !== name);
    writeFileSync(join(from, "manifest.json"), formatManifest({ ...manifest, files }));
    expect(verifyExport(from).notes.join()).toMatch(notes);
    const target = storeDirectory();
    const warned = await restore(from, openLog(target));
    expect(warned).toEqual(warnings.map((warning) => expect.stringMatching(warning) as string));
    expect(linesOf(target)).toEqual(linesOf(original));
  });

  it("warns of limits that pruned records have used, if an earlier version did not note it", async () => {
    const original = await source();
    const { log } = openLog(original, small);
    await log.prune(await log.prunable({ keep: 5 }), ({ through, hash, records }) =>
      noted({ through: through ?? 0, hash: hash ?? "", records: records ?? 0 }),
    );
    const out = join(storeDirectory(), "export");
    const { warnings } = await writeExport(
      out,
      { format: "jsonl", query: {}, store: openLog(original), sign: undefined, log: `${original}/log` },
      { signal: new AbortController().signal, progress: () => undefined },
    );
    expect(warnings.join()).toContain("make a decision with a limit before you export");
    const warned = await restore(out, openLog(storeDirectory(), small));
    expect(warned.join()).toContain("limits count only the imported records");
  });

  it("keeps definitions that no remaining record refers to", async () => {
    const original = await source(3);
    const key = definitionHash("old");
    const old = definitionOf(`"definition_hash":"${key}"`);
    await openLog(original)
      .shelf("definitions")
      .put(old === undefined ? [] : [old]);
    const target = storeDirectory();
    await restore(await exportOf(original), openLog(target));
    expect(await openLog(target).shelf("definitions").get(key)).toEqual(old);
  });
});

describe("a restore that is interrupted", () => {
  it("while it writes leaves an empty store, where it can be repeated", async () => {
    const from = await exportOf(await source());
    const [target, killed] = [storeDirectory(), storeDirectory()];
    // The files at this moment are those that a killed process leaves.
    await restoreWith(from, target, () => cpSync(target, killed, { recursive: true }));
    const { ok, size, notes } = verifyStore(killed);
    expect({ ok, size }).toEqual({ ok: true, size: 0 });
    expect(notes.join()).toMatch(/^`restore-.*` is part of an import that is running or was interrupted/);
    await restore(from, openLog(killed, small));
    expect(expectSound(killed)).toMatchObject({ expect: expectSound(target).expect, notes: [] });
  });

  it("before its log is in place leaves a store that takes no records until it is repeated", async () => {
    const from = await exportOf(await source());
    const target = storeDirectory();
    await restore(from, openLog(target, small));
    rmSync(join(target, "log"), { recursive: true });
    const appended = openLog(target, small).log.append({ body: decided(), counts: ["calls"] });
    await expect(appended).rejects.toMatchObject({ code: "log_damaged" });
    await restore(from, openLog(target, small));
    expect(expectSound(target).size).toBe(40);
  });

  it("by an error leaves nothing", async () => {
    const target = storeDirectory();
    const full = (): never => {
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    };
    await expect(restoreWith(await exportOf(await source(9)), target, full)).rejects.toMatchObject({
      code: "store_failed",
    });
    expect(readdirSync(target)).toEqual(["lock"]);
    expect(await openLog(target).log.append({ body: decided() })).toMatchObject({ seq: 1 });
  });

  it("by a writer that was faster leaves the records of the writer", async () => {
    const target = storeDirectory();
    const write = (): void => cpSync(join(own, "log"), join(target, "log"), { recursive: true });
    const own = await source(2);
    await expect(restoreWith(await exportOf(await source(9)), target, write)).rejects.toMatchObject({
      code: "usage",
    });
    expect(readdirSync(target).sort()).toEqual(["lock", "log"]);
    expect(linesOf(target)).toEqual(linesOf(own));
  });
});

describe("an export with approval locks", () => {
  it.each([
    { name: "older ones than its records name", entry: { key: "lock", value: { serial: 3, head: "a" } } },
    { name: "others", entry: { key: "other", value: { serial: 9, head: "a" } } },
    { name: "malformed ones", entry: { key: "lock", value: "4" } },
  ])("does not verify with $name", async ({ entry }) => {
    const original = await source(2);
    const lock = { key: "lock", value: { serial: 4, head: "a" } };
    await openLog(original, small).shelf("approvals").put([lock]);
    const from = await exportOf(original);
    expect(verifyExport(from).problems).toEqual([]);
    const { manifest } = openExport(from) as { manifest: Manifest };
    const text = `${JSON.stringify(entry)}\n`;
    writeFileSync(join(from, "approvals.jsonl"), text);
    const forged = { name: "approvals.jsonl", bytes: text.length, sha256: sha256(text) };
    const files = manifest.files.map((file) => (file.name === forged.name ? forged : file));
    writeFileSync(join(from, "manifest.json"), formatManifest({ ...manifest, files }));
    expect(verifyExport(from).problems[0]).toMatchObject({ kind: "approvals", file: "approvals.jsonl" });
  });
});

describe("an export that is changed while it is imported", () => {
  it("is not imported", async () => {
    const from = await exportOf(await source(5));
    const { directory, manifest } = openExport(from);
    const target = storeDirectory();
    const lines = linesOf(await source(5)).join("\n");
    writeFileSync(join(from, "records.jsonl"), `${lines}\n`);
    const restoring = restoreExport(directory, manifest as Manifest, {
      store: openLog(target),
      progress: () => undefined,
    });
    await expect(restoring).rejects.toMatchObject({ code: "log_damaged" });
    expect(readdirSync(target)).toEqual(["lock"]);
  });
});
