import { existsSync, rmSync, statSync, writeFileSync, closeSync, fstatSync, utimesSync } from "node:fs";
import { damagedLogError } from "./store-errors.js";
import { readIfExists, openIfExists, systemFiles } from "./files.js";
import { readHead } from "./head.js";
import { segmentName, listSegments } from "./segments.js";
import { makeDirectory } from "../../files.js";

const damageMarkPath = (directory: string): string => `${directory}/log/index/damaged`;

/** Remembers for those who write what somebody who read the whole log has found. Does nothing where it cannot. */
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

/** Nothing is added to a log that was found damaged, or that somebody has touched, before all of it was read. */
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

/** Takes the word of whoever has read the whole log, unless something was changed since. */
export function assertNotMarkedDamaged(directory: string): void {
  const mark = readIfExists(damageMarkPath(directory));
  if (mark === undefined || isLogChangedSince(directory, statSync(damageMarkPath(directory)).mtimeMs)) return;
  throw damagedLogError(`${directory}/log`, mark.toString().trim());
}

/** Also what has its old times again: nobody can set when that was done. */
function isLogChangedSince(directory: string, moment: number): boolean {
  const names = ["head", ...listSegments(`${directory}/log`).map(segmentName)];
  return names.some((name) => {
    const found = statSync(`${directory}/log/${name}`, { throwIfNoEntry: false });
    return found === undefined || found.ctimeMs > moment;
  });
}

/**
 * Whether a segment was changed after the head was: the head follows every append, so it was not by us. One
 * that has become longer, or was not waited for, is for recovery to judge.
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
      const found = statSync(`${log}/${segmentName(first)}`, { throwIfNoEntry: false });
      if (found === undefined || found.mtimeMs <= mtimeMs) return false;
      return first < head.segment || found.size === head.bytes;
    });
  } finally {
    closeSync(fd);
  }
}

/** After an append that failed and was taken back, which has touched the segment and not the head. */
export function refreshHeadTime(log: string): void {
  const soon = (Date.now() + 10) / 1000;
  try {
    utimesSync(`${log}/head`, soon, soon);
  } catch {
    // The next one to write reads the log once more than it need.
  }
}
