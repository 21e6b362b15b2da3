import {
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  readFileSync,
  readlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { LockTicket, removeTicket, ticketsIn } from "./lock-ticket.js";
import { stopwatch } from "../../../clock.js";
import { DecisionError } from "../../../errors.js";
import { makeDirectory } from "../../files.js";

/**
 * A mutex between processes. A directory contains one lock file. Its name is a generation number and the owner:
 * `7.free` or `8.4711-…`. Acquiring, releasing and taking over from a dead owner each rename that file.
 * `rename` is atomic and generations only increase, so no name is used twice: of several processes that try
 * the same step, exactly one succeeds and the others get ENOENT.
 *
 * Processes that wait leave a ticket next to it. The owner that releases the lock hands it to the oldest ticket
 * (`8.to-…`) and wakes that process alone. If a process does not take what it was handed, because it is stopped or
 * died, the others take it after a moment. The mutex does not depend on tickets: they only decide who is next.
 */
export interface Lock {
  /** Returns undefined if another live process holds the lock. */
  tryAcquire(): Release | undefined;
  /** Waits for the lock, behind those who wait already; throws `store_busy` after 30 seconds. */
  acquire(): Promise<Release>;
  /** True if another process waits. */
  hasWaiters(): boolean;
}

export type Release = () => void;

/** How long to wait for a live owner. */
const acquireTimeoutMs = 30_000;
/** How long a process may leave a lock that was handed to it before others take it. */
const handOverMs = 50;
/** A ticket can be missed by an owner that releases the lock at the same moment, so the first wait is short. */
const firstWaitMs = 2;
/** How often a process that will be woken looks whether the owner died. */
const waitMs = 100;
/** How long an owner on another machine or in another container may hold the lock; a normal hold takes milliseconds. */
const unknownOwnerLeaseMs = 20_000;

export function openLock(directory: string): Lock {
  /** The name after our last release. It saves listing the directory; a failed rename shows that it is outdated. */
  let expectedName: string | undefined;
  /** A name of ours whose release failed because the directory was missing. If it reappears, it is ours to take. */
  let unreleasedName: string | undefined;

  /** Acquires the lock, or returns the name of the file that shows its current owner. */
  const attempt = ({ ticket, seen }: AttemptOptions): Release | string => {
    for (;;) {
      const name = expectedName ?? findLockFile(directory);
      expectedName = undefined;
      const isOurs = name === unreleasedName || (ticket !== undefined && ticketOf(name) === ticket);
      const isOld = seen === undefined || seen === name;
      if (!isFree(name) && !isOurs && !(isOld && isOwnerGone(directory, name))) return name;
      const mine = `${generationOf(name) + 1}.${formatOwner(thisOwner())}`;
      // Another process renamed the file first: look again.
      if (!tryRename(directory, name, mine)) continue;
      return () => {
        const next = firstWaiting(directory);
        const released = `${generationOf(mine)}.${next === undefined ? "free" : handedTo + next}`;
        if (!tryRename(directory, mine, released)) unreleasedName = mine;
        else if (next === undefined) expectedName = released;
        else removeTicket(directory, next);
      };
    }
  };
  return {
    tryAcquire() {
      const result = attempt({});
      return typeof result === "string" ? undefined : result;
    },
    async acquire() {
      let result = attempt({ seen: "" });
      if (typeof result !== "string") return result;
      const startedAt = stopwatch();
      const ticket = new LockTicket(directory, formatOwner(thisOwner()));
      try {
        for (let waits = 0; typeof result === "string";) {
          if (stopwatch() - startedAt > acquireTimeoutMs) throw lockTimeoutError(directory, result);
          // The lock may have been released before the ticket was there, so a new ticket looks again at once.
          const isNew = !ticket.isQueued && ticket.queue();
          if (!isNew) await ticket.wait(ticket.isQueued && waits++ > 0 ? waitMs : firstWaitMs);
          result = attempt({ ticket: ticket.name, seen: isNew ? "" : result });
        }
        return result;
      } finally {
        ticket.close();
      }
    },
    hasWaiters: () => firstWaiting(directory) !== undefined,
  };
}

interface AttemptOptions {
  /** A lock that was handed to this ticket can be acquired. */
  readonly ticket?: string;
  /** The lock file at the last attempt. Only if it is the same is it worth checking whether its owner died. */
  readonly seen?: string;
}

/** Returns the oldest ticket. Removes those of processes that died. */
function firstWaiting(directory: string): string | undefined {
  return ticketsIn(directory).find((ticket) => {
    const owner = parseOwner(ownerOfTicket(ticket));
    if (owner !== undefined && (owner.pidScope !== thisOwner().pidScope || isRunning(owner.pid))) return true;
    removeTicket(directory, ticket);
    return false;
  });
}

/** Precedes the ticket in the name of a lock file that was handed over. */
const handedTo = "to-";

/** Returns the ticket that a lock was handed to. */
function ticketOf(name: string): string | undefined {
  const state = name.slice(name.indexOf(".") + 1);
  return state.startsWith(handedTo) ? state.slice(handedTo.length) : undefined;
}

const ownerOfTicket = (ticket: string): string => ticket.slice(ticket.indexOf("-") + 1);

const isFree = (name: string): boolean => name.endsWith(".free");

const generationOf = (name: string): number => Number.parseInt(name, 10);

function isOwnerGone(directory: string, name: string): boolean {
  const ticket = ticketOf(name);
  const owner = ownerIn(name);
  const status = owner === undefined ? "unknown" : ownerStatus(owner);
  if (status === "dead") return true;
  if (status === "alive" && ticket === undefined) return false;
  try {
    // A rename updates ctime, so ctime is the moment of the acquisition or of the hand-over.
    const heldFor = Date.now() - statSync(`${directory}/${name}`).ctimeMs;
    return heldFor > (ticket === undefined ? unknownOwnerLeaseMs : handOverMs);
  } catch {
    return false;
  }
}

/** Returns the owner that the name of a lock file shows, or to whom it was handed. */
function ownerIn(name: string): LockOwner | undefined {
  const ticket = ticketOf(name);
  return parseOwner(ticket === undefined ? name.slice(name.indexOf(".") + 1) : ownerOfTicket(ticket));
}

/** Returns false if the file no longer has the name `from`, because another process renamed it. */
function tryRename(directory: string, from: string, to: string): boolean {
  try {
    renameSync(`${directory}/${from}`, `${directory}/${to}`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Returns the name of the lock file. A listing made during a rename can show both names or neither, so it retries. */
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
    // The caller lists it again: it can be removed again at any time.
    return [];
  }
}

/**
 * Creates the directory with its file under a temporary name and renames it into place, so it is never seen
 * without the file. If several processes do this, the first rename succeeds and the others fail.
 */
function createLockDirectory(directory: string): void {
  makeDirectory(dirname(directory), 0o700);
  const temporary = mkdtempSync(`${directory}.new-`);
  try {
    writeFileSync(`${temporary}/0.free`, "", { mode: 0o600 });
    renameSync(temporary, directory);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "EPERM") throw error;
  }
}

function unusableLockError(directory: string): DecisionError {
  return new DecisionError("store_failed", `\`${directory}\` does not contain the lock of the store`, {
    hint: `stop all agent-33 processes and remove \`${directory}\`; it is created again`,
  });
}

function lockTimeoutError(directory: string, name: string): DecisionError {
  const owner = ownerIn(name);
  const holder = owner === undefined ? "another process" : `process ${owner.pid}`;
  return new DecisionError(
    "store_busy",
    `${holder} has held the lock of the store for more than ${acquireTimeoutMs / 1000} s`,
    { hint: `check what that process is doing; the lock is in \`${directory}\`` },
  );
}

/** Identifies the process that holds a lock, so that others on the same machine can check whether it is alive. */
interface LockOwner {
  readonly pid: number;
  /** In clock ticks since boot; distinguishes the process from a later one with the same pid. */
  readonly startedAt: string;
  /** Where the pid is valid: the boot of the machine and the pid namespace of the container. */
  readonly pidScope: string;
}

/** Cached for the module: a process has one identity for its whole life, and reading it takes three files of /proc. */
let currentOwner: LockOwner | undefined;

export function thisOwner(): LockOwner {
  currentOwner ??= {
    pid: process.pid,
    startedAt: processStartTime(process.pid) ?? "0",
    pidScope: currentPidScope(),
  };
  return currentOwner;
}

export const formatOwner = ({ pid, startedAt, pidScope }: LockOwner): string =>
  `${pid}-${startedAt}-${pidScope}`;

function parseOwner(name: string): LockOwner | undefined {
  const [, pid, startedAt = "", pidScope = ""] = /^(\d+)-(\d+)-([\w-]*)$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), startedAt, pidScope };
}

/** Returns `unknown` for a process of another machine or container, which cannot be checked from here. */
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

/** Reads field 22 of /proc/PID/stat, counted after field 2: the program name in parentheses can contain anything. */
function processStartTime(pid: number): string | undefined {
  const stat = readIfPossible(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie has ended and holds nothing.
  return fields?.[0] === "Z" ? "ended" : fields?.[19];
}

function currentPidScope(): string {
  const boot = readIfPossible(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")) ?? "";
  const namespace = readIfPossible(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return `${boot.slice(0, 8)}-${/\d+/.exec(namespace)?.[0] ?? ""}`;
}

function readIfPossible(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
