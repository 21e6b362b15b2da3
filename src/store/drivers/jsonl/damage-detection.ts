import { existsSync, rmSync, statSync, writeFileSync, closeSync, fstatSync, utimesSync } from "node:fs";
import { damagedLogError } from "./store-errors.js";
import { readIfExists, openIfExists, systemFiles } from "./files.js";
import { readHead } from "./head.js";
import { segmentName, listSegments } from "./segments.js";
import { makeDirectory } from "../../files.js";

const damageMarkPath = (directory: string): string => `${directory}/log/index/damaged`;

/**
 * Writes (or removes) a file that tells writers what a full verification has found. Errors are ignored: without the
 * mark, a writer finds the damage itself or `verify` does.
 */
export function setDamageMark(directory: string, problem: string | undefined): void {
  try {
    if (problem === undefined) rmSync(damageMarkPath(directory), { force: true });
    else if (existsSync(`${directory}/log`)) {
      makeDirectory(`${directory}/log/index`, 0o700);
      writeFileSync(damageMarkPath(directory), `${problem}\n`, { mode: 0o600 });
    }
  } catch {
    return;
  }
}

/** Throws if the log is damaged. Reads the whole log only if it is marked as damaged or was modified after the head. */
export function assertUndamaged(directory: string, firstProblem: () => string | undefined): void {
  const isMarked = existsSync(damageMarkPath(directory));
  if (!isMarked && !isModifiedAfterHead(`${directory}/log`)) return;
  const problem = firstProblem();
  if (problem !== undefined) {
    setDamageMark(directory, problem);
    throw damagedLogError(`${directory}/log`, problem);
  }
  if (isMarked) setDamageMark(directory, undefined);
}

/** Throws if an earlier verification found damage and the log has not changed since. Does not read the log. */
export function assertNotMarkedDamaged(directory: string): void {
  const mark = readIfExists(damageMarkPath(directory));
  if (mark === undefined || isLogChangedSince(directory, statSync(damageMarkPath(directory)).mtimeMs)) return;
  throw damagedLogError(`${directory}/log`, mark.toString().trim());
}

/** Compares ctime, because mtime can be set back by a program. */
function isLogChangedSince(directory: string, moment: number): boolean {
  const names = ["head", ...listSegments(`${directory}/log`).map(segmentName)];
  return names.some((name) => {
    const stats = statSync(`${directory}/log/${name}`, { throwIfNoEntry: false });
    return stats === undefined || stats.ctimeMs > moment;
  });
}

/**
 * Returns true if a segment was modified after the head. The head is written after every append, so another program
 * did it. A segment that is longer than the head says, or not synced, is left to recovery.
 */
export function isModifiedAfterHead(log: string): boolean {
  const fd = openIfExists(systemFiles, `${log}/head`, "r");
  if (fd === undefined) return false;
  try {
    const head = readHead(systemFiles, fd);
    if (head === undefined || head.synced !== undefined) return false;
    const { mtimeMs } = fstatSync(fd);
    return listSegments(log).some((first) => {
      if (first > head.segment) return false;
      const stats = statSync(`${log}/${segmentName(first)}`, { throwIfNoEntry: false });
      if (stats === undefined || stats.mtimeMs <= mtimeMs) return false;
      return first < head.segment || stats.size === head.bytes;
    });
  } finally {
    closeSync(fd);
  }
}

/** Makes the head newer than the segments again, after a failed append modified a segment but not the head. */
export function refreshHeadTime(log: string): void {
  const soon = (Date.now() + 10) / 1000;
  try {
    utimesSync(`${log}/head`, soon, soon);
  } catch {
    // The next append then verifies the whole log once, which does no harm.
  }
}
