import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/model/store.js";
import { openLock } from "../../src/store/drivers/jsonl/lock.js";
import { LockQueue } from "../../src/store/drivers/jsonl/lock-queue.js";
import { decided } from "./entries.js";
import { expectSound, linesOf, openLog, storeDirectory } from "./jsonl-log.js";

/** Keeps four appends pending until `isOver` returns true. */
async function writeWithoutPause(store: Store, name: string, isOver: () => boolean): Promise<void> {
  const ask = async (): Promise<void> => {
    while (!isOver()) await store.log.append({ body: decided({ decision_id: name }) });
  };
  await Promise.all(Array.from({ length: 4 }, ask));
  await store.close();
}

/** Counts how often the writer changed between consecutive records. */
const changesIn = (names: readonly string[]): number =>
  names.filter((name, index) => index > 0 && name !== names[index - 1]).length;

describe("the lock queue", () => {
  // Two stores in one process compete for the lock like two processes.
  it("alternates between two stores that write continuously", async () => {
    const directory = storeDirectory();
    const written = (): readonly string[] =>
      linesOf(directory).map((line) => /"decision_id":"(\w+)"/.exec(line)?.[1] ?? "");
    let looks = 0;
    const isOver = (): boolean => ++looks % 50 === 0 && changesIn(written()) >= 6;
    let over = false;
    const enough = (): boolean => (over ||= isOver());
    await Promise.all([
      writeWithoutPause(openLog(directory), "one", enough),
      writeWithoutPause(openLog(directory), "two", enough),
    ]);
    expect(changesIn(written())).toBeGreaterThanOrEqual(6);
    expectSound(directory);
    expect(readdirSync(join(directory, "lock"))).toEqual([expect.stringMatching(/^\d+\.free$/)]);
  }, 20_000);

  it("lets a waiting queue in while another always has tasks", async () => {
    const directory = join(storeDirectory(), "lock");
    const busy = new LockQueue(() => openLock(directory));
    let isOver = false;
    const goOn = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      if (!isOver) void busy.run(goOn);
    };
    await busy.run(goOn);
    for (let times = 0; times < 3; times++)
      await new LockQueue(() => openLock(directory)).run(() => undefined);
    isOver = true;
    await busy.idle();
  }, 10_000);

  it("runs all queued tasks under one acquisition, and later ones under another", async () => {
    const turns = new LockQueue(() => openLock(join(storeDirectory(), "lock")));
    const seen = await Promise.all([1, 2, 3].map(() => turns.run((turn) => turn)));
    expect(new Set(seen).size).toBe(1);
    expect(await turns.run((turn) => turn)).toBe((seen[0] ?? 0) + 1);
  });

  it("keeps the lock for a moment in a busy process, unless another waits or the process ends", async () => {
    const directory = join(storeDirectory(), "lock");
    const turns = new LockQueue(() => openLock(directory));
    for (let times = 0; times < 40; times++) await turns.run(() => undefined);
    const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    let seen: number[] = [];
    // On a busy machine the lock may be released before the next task arrives.
    for (let tries = 0; tries < 50 && new Set(seen).size !== 1; tries++) {
      seen = [];
      for (let times = 0; times < 3; times++) {
        seen.push(await turns.run((turn) => turn));
        await soon();
      }
    }
    expect(new Set(seen).size).toBe(1);
    await turns.idle();
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\d+\.free$/)]);
    await turns.run(() => undefined);
    await new LockQueue(() => openLock(directory)).run(() => undefined);
    expect(await turns.run((turn) => turn)).toBeGreaterThan(seen[0] ?? 0);
    await turns.idle();
  });

  it("runs tasks one at a time, and continues after one fails", async () => {
    const turns = new LockQueue(() => openLock(join(storeDirectory(), "lock")));
    const done: string[] = [];
    const slow = turns.run(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      done.push("slow");
    });
    const failing = turns.run(() => {
      done.push("failing");
      throw new Error("no");
    });
    const quick = turns.run(() => done.push("quick"));
    await expect(failing).rejects.toThrow("no");
    await Promise.all([slow, quick, turns.idle()]);
    expect(done).toEqual(["slow", "failing", "quick"]);
  });

  it("rejects all queued tasks if the lock cannot be opened, and works again later", async () => {
    let path = join(storeDirectory(), "file");
    writeFileSync(path, "");
    const turns = new LockQueue(() => openLock(path));
    const asked = await Promise.allSettled([1, 2].map(() => turns.run(() => "done")));
    expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    path = join(storeDirectory(), "lock");
    expect(await turns.run(() => "done")).toBe("done");
    await turns.idle();
  });
});

describe("a lock with a waiting process", () => {
  it("shows its holder that a process waits", async () => {
    const directory = join(storeDirectory(), "lock");
    const lock = openLock(directory);
    const release = await lock.acquire();
    expect(lock.hasWaiters()).toBe(false);
    const waiting = openLock(directory).acquire();
    while (!lock.hasWaiters()) await new Promise(setImmediate);
    release();
    const released = await waiting;
    expect(lock.hasWaiters()).toBe(false);
    released();
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\d+\.free$/)]);
  });
});
