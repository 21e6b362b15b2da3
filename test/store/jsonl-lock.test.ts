import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { bundled } from "./bundle.js";
import { storeDirectory } from "./jsonl-log.js";
import { openLock, formatOwner, thisOwner } from "../../src/store/drivers/jsonl/lock.js";
import { ticketsIn } from "../../src/store/drivers/jsonl/lock-ticket.js";

let script = "";
let home = "";
let directory = "";
let notes = "";

beforeAll(async () => {
  script = await bundled("lock-user");
});

beforeEach(() => {
  home = storeDirectory();
  directory = join(home, "lock");
  notes = join(home, "notes");
  writeFileSync(notes, "");
});

function start(order: string, file = notes, times = 1): ChildProcess {
  return spawn(process.execPath, [script, directory, order, file, String(times)], { stdio: "inherit" });
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.on("exit", resolve);
  });

const read = (): readonly string[] => readFileSync(notes, "utf8").split("\n").slice(0, -1);

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const noted = (word: string): number => read().filter((line) => line.startsWith(word)).length;

/** Puts the lock file of another owner in place. */
function leave(name: string): void {
  mkdirSync(directory);
  writeFileSync(join(directory, name), "");
}

describe("the lock between processes", () => {
  it("loses no increment of eight processes that count in one file", async () => {
    const file = join(home, "count");
    writeFileSync(file, "0");
    const codes = await Promise.all(Array.from({ length: 8 }, () => ended(start("count", file, 100))));
    expect(codes).toEqual(Array(8).fill(0));
    expect(readFileSync(file, "utf8")).toBe("800");
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\d+\.free$/)]);
  });

  // Waiting for a dead holder would exceed the timeout of this test.
  it("goes to exactly one waiting process when its holder is killed", async () => {
    const holder = start("hold");
    await until(() => noted("holds") === 1);
    const waiters = Array.from({ length: 4 }, () => start("enter"));
    await until(() => noted("waits") === 4);
    expect(noted("enters")).toBe(0);
    holder.kill("SIGKILL");
    expect(await Promise.all(waiters.map(ended))).toEqual([0, 0, 0, 0]);
    const passages = read().filter((line) => !/^(?:holds|waits)/.test(line));
    expect(passages).toHaveLength(8);
    for (let at = 0; at < 8; at += 2)
      expect(passages[at + 1]).toBe(passages[at]?.replace("enters", "leaves"));
  }, 18_000);

  it("survives repeated kills of its holder", async () => {
    for (let round = 1; round <= 6; round++) {
      const holder = start("hold");
      await until(() => noted("holds") === round);
      holder.kill("SIGKILL");
      await ended(holder);
    }
    const release = openLock(directory).tryAcquire();
    expect(release).toBeTypeOf("function");
    release?.();
  });

  it("is not given twice to the same process", () => {
    const release = openLock(directory).tryAcquire();
    expect(openLock(directory).tryAcquire()).toBeUndefined();
    release?.();
    expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
  });

  it("stays with its holder while that process is alive", () => {
    leave(`7.${formatOwner(thisOwner())}`);
    const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000);
    try {
      expect(openLock(directory).tryAcquire()).toBeUndefined();
    } finally {
      later.mockRestore();
    }
  });

  it("is taken over if another process has the pid of the dead holder", () => {
    leave(`7.${formatOwner({ ...thisOwner(), startedAt: "1" })}`);
    expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
    expect(readdirSync(directory)).toEqual([`8.${formatOwner(thisOwner())}`]);
  });

  it("is taken over from a dead process", async () => {
    const child = start("hold");
    await until(() => noted("holds") === 1);
    child.kill("SIGKILL");
    await ended(child);
    expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
  });

  it.each([
    { name: "another machine or container", owner: "4711-99-otherboot-4026531836" },
    { name: "an unknown name", owner: "somebody" },
  ])("is taken over from $name only after the lease", ({ owner }) => {
    leave(`7.${owner}`);
    const taken = Date.now();
    const clock = vi.spyOn(Date, "now");
    try {
      clock.mockReturnValue(taken + 19_000);
      expect(openLock(directory).tryAcquire()).toBeUndefined();
      clock.mockReturnValue(taken + 21_000);
      expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
    } finally {
      clock.mockRestore();
    }
  });

  it("goes to those who wait in the order in which they came", async () => {
    const release = await openLock(directory).acquire();
    const order: number[] = [];
    const waiting: Promise<void>[] = [];
    for (const turn of [1, 2, 3, 4]) {
      const acquired = openLock(directory).acquire();
      waiting.push(
        acquired.then((releaseNext) => {
          order.push(turn);
          releaseNext();
        }),
      );
      await until(() => ticketsIn(directory).length === turn);
    }
    release();
    // One that comes later has to wait, too.
    expect(openLock(directory).tryAcquire()).toBeUndefined();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3, 4]);
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\d+\.free$/)]);
  });

  const ticketOf = (owner: string): string => `00000000000000000007-${owner}`;

  it("that was handed to a process is taken by others if it leaves it for 50 ms", () => {
    leave(`7.to-${ticketOf(formatOwner(thisOwner()))}`);
    const handedOver = Date.now();
    const clock = vi.spyOn(Date, "now");
    try {
      clock.mockReturnValue(handedOver + 30);
      expect(openLock(directory).tryAcquire()).toBeUndefined();
      clock.mockReturnValue(handedOver + 80);
      expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
    } finally {
      clock.mockRestore();
    }
  });

  it("that was handed to a process which died is taken by others at once", () => {
    leave(`7.to-${ticketOf(formatOwner({ ...thisOwner(), startedAt: "1" }))}`);
    expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
  });

  it("is not handed to processes that died", () => {
    const lock = openLock(directory);
    const release = lock.tryAcquire();
    // Beyond the largest pid of Linux.
    const dead = ticketOf(formatOwner({ ...thisOwner(), pid: 2 ** 22 + 1 }));
    for (const ticket of [dead, ticketOf("somebody")]) writeFileSync(join(directory, `wait-${ticket}`), "");
    expect(lock.hasWaiters()).toBe(false);
    release?.();
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\d+\.free$/)]);
  });

  it.skipIf(process.platform === "win32")(
    "passes over a process that is stopped while it waits",
    async () => {
      const release = await openLock(directory).acquire();
      const stopped = start("enter");
      await until(() => ticketsIn(directory).length === 1);
      stopped.kill("SIGSTOP");
      const waiting = openLock(directory).acquire();
      await until(() => ticketsIn(directory).length === 2);
      release();
      (await waiting)();
      expect(noted("enters")).toBe(0);
      stopped.kill("SIGCONT");
      expect(await ended(stopped)).toBe(0);
      expect(noted("leaves")).toBe(1);
      expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\d+\.free$/)]);
    },
  );

  it("is acquired again after its directory was emptied or removed", () => {
    const lock = openLock(directory);
    lock.tryAcquire()?.();
    for (const file of readdirSync(directory)) rmSync(join(directory, file));
    lock.tryAcquire()?.();
    rmSync(directory, { recursive: true });
    const release = lock.tryAcquire();
    expect(release).toBeTypeOf("function");
    expect(openLock(directory).tryAcquire()).toBeUndefined();
    release?.();
    expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
  });

  it("can be released after its directory was removed", () => {
    const release = openLock(directory).tryAcquire();
    rmSync(directory, { recursive: true });
    expect(release).not.toThrow();
    expect(openLock(directory).tryAcquire()).toBeTypeOf("function");
  });

  /** Retries, because a waiting process can create a file in the directory just before it is removed. */
  function removeOrLose(): void {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    }
  }

  it("works between many processes while its directory is removed repeatedly", async () => {
    const waiters = Array.from({ length: 4 }, () => ended(start("enter")));
    const tyrant = setInterval(removeOrLose, 7);
    await until(() => noted("leaves") >= 2);
    clearInterval(tyrant);
    expect(await Promise.all(waiters)).toEqual([0, 0, 0, 0]);
  });

  // In a child process: waiting forever here would block the tests.
  it("fails instead of waiting forever if its directory contains something else", async () => {
    leave("stray");
    const child = spawn(process.execPath, [script, directory, "enter", notes], { stdio: "ignore" });
    const impatience = setTimeout(() => child.kill("SIGKILL"), 8000);
    const code = await ended(child);
    clearTimeout(impatience);
    expect(code).not.toBeNull();
  }, 20_000);
});
