import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  readFileSync,
  readlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { stopwatch } from "../../../clock.js";
import { DecisionError } from "../../../errors.js";
import { makeDirectory } from "../../files.js";

/**
 * A lock among processes. A directory holds one file, whose name is a generation and who has the lock:
 * `7.free`, or `8.4711-…`. Taking it, giving it back and taking it over from the dead all rename that file,
 * and no name ever comes back, so of many who want the same step one succeeds.
 */
export interface Lock {
  /** Undefined where somebody else has it and does not give it back. */
  tryAcquire(): Release | undefined;
  acquire(): Promise<Release>;
  /** Whether somebody waits for it. One who has died waiting counts once. */
  hasWaiters(): boolean;
}

export type Release = () => void;

/** How long to wait for one who lives. */
const acquireTimeoutMs = 30_000;
/** How long one may hold the lock of whom cannot be said whether it lives; holding it takes milliseconds. */
const unknownOwnerLeaseMs = 20_000;

export function openLock(directory: string): Lock {
  let known: string | undefined;
  /** What could not be given back, as the directory was not there at that moment. */
  let unreturned: string | undefined;

  const attempt = (): Release | string => {
    for (;;) {
      const name = known ?? findLockFile(directory);
      known = undefined;
      if (!isFree(name) && name !== unreturned && !isOwnerGone(directory, name)) return name;
      const mine = `${generationOf(name) + 1}.${formatOwner(thisOwner())}`;
      if (!tryRename(directory, name, mine)) continue;
      return () => {
        const free = `${generationOf(mine)}.free`;
        if (tryRename(directory, mine, free)) known = free;
        else unreturned = mine;
      };
    }
  };
  return {
    tryAcquire() {
      const got = attempt();
      return typeof got === "string" ? undefined : got;
    },
    async acquire() {
      const startedAt = stopwatch();
      for (let tries = 0; ; tries++) {
        const got = attempt();
        if (typeof got !== "string") {
          if (tries > 0) setWaitersFile(directory, false);
          return got;
        }
        if (stopwatch() - startedAt > acquireTimeoutMs) throw lockTimeoutError(directory, got);
        setWaitersFile(directory, true);
        await sleep(1 + Math.random() * 2);
      }
    },
    hasWaiters() {
      const isWanted = existsSync(`${directory}/${waitersFile}`);
      if (isWanted) setWaitersFile(directory, false);
      return isWanted;
    },
  };
}

/** A file beside the other; whoever waits makes it time and again. */
const waitersFile = "wanted";

/** Only a courtesy: where it cannot be written, the lock works as well. */
function setWaitersFile(directory: string, isWanted: boolean): void {
  try {
    if (isWanted) closeSync(openSync(`${directory}/${waitersFile}`, "a", 0o600));
    else unlinkSync(`${directory}/${waitersFile}`);
  } catch {
    return;
  }
}

const isFree = (name: string): boolean => name.endsWith(".free");

const generationOf = (name: string): number => Number.parseInt(name, 10);

function isOwnerGone(directory: string, name: string): boolean {
  const owner = parseOwner(name.slice(name.indexOf(".") + 1));
  const life = owner === undefined ? "unknown" : ownerStatus(owner);
  if (life !== "unknown") return life === "dead";
  try {
    // Renaming sets the time of change, so it is when the lock was taken.
    return Date.now() - statSync(`${directory}/${name}`).ctimeMs > unknownOwnerLeaseMs;
  } catch {
    return false;
  }
}

/** The file may have another name by the time it is looked for; then we look again. */
function tryRename(directory: string, from: string, to: string): boolean {
  try {
    renameSync(`${directory}/${from}`, `${directory}/${to}`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** A list made while the file is renamed may show both names or none of them. */
function findLockFile(directory: string): string {
  for (let tries = 0; ; tries++) {
    const names = listLockDirectory(directory).filter((name) => /^\d+\.[\w-]+$/.test(name));
    const [newest] = names.sort((a, b) => generationOf(b) - generationOf(a));
    if (newest !== undefined) return newest;
    if (tries > 100) createLockDirectory(directory);
    if (tries > 200) throw unusableLockError(directory);
  }
}

function listLockDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    createLockDirectory(directory);
    // Looked at again by who asks: it may be gone once more.
    return [];
  }
}

/** Whole from the beginning: of several who make it, the renames of all but the first fail. */
function createLockDirectory(directory: string): void {
  makeDirectory(dirname(directory), 0o700);
  const made = mkdtempSync(`${directory}.new-`);
  try {
    writeFileSync(`${made}/0.free`, "", { mode: 0o600 });
    renameSync(made, directory);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "EPERM") throw error;
  }
}

function unusableLockError(directory: string): DecisionError {
  return new DecisionError(
    "store_failed",
    `\`${directory}\` holds something else than the lock of the store`,
    {
      hint: "remove that directory while nothing is running; it is made anew",
    },
  );
}

function lockTimeoutError(directory: string, name: string): DecisionError {
  const owner = parseOwner(name.slice(name.indexOf(".") + 1));
  const who = owner === undefined ? "somebody" : `process ${owner.pid}`;
  return new DecisionError(
    "store_busy",
    `${who} has kept the store locked for more than ${acquireTimeoutMs / 1000} s`,
    {
      hint: `see what that process is doing; the lock is in \`${directory}\``,
    },
  );
}

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Who holds a lock: enough to tell later, on the same machine, whether it still lives. */
interface LockOwner {
  readonly pid: number;
  /** When it began, in ticks since the machine did; tells a process from a later one with its number. */
  readonly startedAt: string;
  /** Where its number means what it means: this run of the machine, and the container. */
  readonly pidScope: string;
}

let currentOwner: LockOwner | undefined;

export function thisOwner(): LockOwner {
  currentOwner ??= {
    pid: process.pid,
    startedAt: processStartTime(process.pid) ?? "0",
    pidScope: currentPidScope(),
  };
  return currentOwner;
}

export const formatOwner = ({ pid, startedAt, pidScope: realm }: LockOwner): string =>
  `${pid}-${startedAt}-${realm}`;

function parseOwner(name: string): LockOwner | undefined {
  const [, pid, startedAt = "", realm = ""] = /^(\d+)-(\d+)-([\w-]*)$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), startedAt, pidScope: realm };
}

/** `unknown` where the process ran on another machine or in another container, which cannot be seen from here. */
function ownerStatus(owner: LockOwner): "alive" | "dead" | "unknown" {
  if (owner.pidScope !== thisOwner().pidScope) return "unknown";
  if (!isRunning(owner.pid)) return "dead";
  const startedAt = processStartTime(owner.pid);
  return startedAt === undefined || startedAt === owner.startedAt ? "alive" : "dead";
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** The 22nd field; the second is the name of the program in brackets, which may hold anything. */
function processStartTime(pid: number): string | undefined {
  const stat = readIfPossible(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A process that has ended but was not yet waited for holds nothing any more.
  return fields?.[0] === "Z" ? "ended" : fields?.[19];
}

function currentPidScope(): string {
  const boot = readIfPossible(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")) ?? "";
  const space = readIfPossible(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return `${boot.slice(0, 8)}-${/\d+/.exec(space)?.[0] ?? ""}`;
}

function readIfPossible(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
