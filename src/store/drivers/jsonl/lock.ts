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
} from "node:fs";
import { dirname } from "node:path";
import { stopwatch } from "../../../clock.js";
import { DecisionError } from "../../../errors.js";
import { makeDirectory } from "../../make-directory.js";
import { lifeOf, ownerName, parseOwner, thisProcess } from "./owner.js";

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
  isWanted(): boolean;
}

export type Release = () => void;

/** How long to wait for one who lives. */
const patience = 30_000;
/** How long one may hold the lock of whom cannot be said whether it lives; holding it takes milliseconds. */
const lease = 20_000;

export function openLock(directory: string): Lock {
  let known: string | undefined;
  /** What could not be given back, as the directory was not there at that moment. */
  let unreturned: string | undefined;

  const attempt = (): Release | string => {
    for (;;) {
      const name = known ?? currentName(directory);
      known = undefined;
      if (!isFree(name) && name !== unreturned && !isAbandoned(directory, name)) return name;
      const mine = `${generationOf(name) + 1}.${ownerName(thisProcess())}`;
      if (!renamed(directory, name, mine)) continue;
      return () => {
        const free = `${generationOf(mine)}.free`;
        if (renamed(directory, mine, free)) known = free;
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
          if (tries > 0) setWanted(directory, false);
          return got;
        }
        if (stopwatch() - startedAt > patience) throw busy(directory, got);
        setWanted(directory, true);
        await pause(1 + Math.random() * 2);
      }
    },
    isWanted() {
      const isWanted = existsSync(`${directory}/${wanted}`);
      if (isWanted) setWanted(directory, false);
      return isWanted;
    },
  };
}

/** A file beside the other; whoever waits makes it time and again. */
const wanted = "wanted";

/** Only a courtesy: where it cannot be written, the lock works as well. */
function setWanted(directory: string, isWanted: boolean): void {
  try {
    if (isWanted) closeSync(openSync(`${directory}/${wanted}`, "a", 0o600));
    else unlinkSync(`${directory}/${wanted}`);
  } catch {
    return;
  }
}

const isFree = (name: string): boolean => name.endsWith(".free");

const generationOf = (name: string): number => Number.parseInt(name, 10);

function isAbandoned(directory: string, name: string): boolean {
  const owner = parseOwner(name.slice(name.indexOf(".") + 1));
  const life = owner === undefined ? "unknown" : lifeOf(owner);
  if (life !== "unknown") return life === "dead";
  try {
    // Renaming sets the time of change, so it is when the lock was taken.
    return Date.now() - statSync(`${directory}/${name}`).ctimeMs > lease;
  } catch {
    return false;
  }
}

/** The file may have another name by the time it is looked for; then we look again. */
function renamed(directory: string, from: string, to: string): boolean {
  try {
    renameSync(`${directory}/${from}`, `${directory}/${to}`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** A list made while the file is renamed may show both names or none of them. */
function currentName(directory: string): string {
  for (let tries = 0; ; tries++) {
    const names = namesIn(directory).filter((name) => /^\d+\.[\w-]+$/.test(name));
    const [newest] = names.sort((a, b) => generationOf(b) - generationOf(a));
    if (newest !== undefined) return newest;
    if (tries > 100) create(directory);
    if (tries > 200) throw unusable(directory);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    create(directory);
    // Looked at again by who asks: it may be gone once more.
    return [];
  }
}

/** Whole from the beginning: of several who make it, the renames of all but the first fail. */
function create(directory: string): void {
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

function unusable(directory: string): DecisionError {
  return new DecisionError(
    "store_failed",
    `\`${directory}\` holds something else than the lock of the store`,
    {
      hint: "remove that directory while nothing is running; it is made anew",
    },
  );
}

function busy(directory: string, name: string): DecisionError {
  const owner = parseOwner(name.slice(name.indexOf(".") + 1));
  const who = owner === undefined ? "somebody" : `process ${owner.pid}`;
  return new DecisionError(
    "store_busy",
    `${who} has kept the store locked for more than ${patience / 1000} s`,
    {
      hint: `see what that process is doing; the lock is in \`${directory}\``,
    },
  );
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
