import type { Stats } from "node:fs";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { openRegularFile, readRegularFile, writeRegularFile } from "./regular-file.js";

/**
 * Creates a directory and its parents; returns whether it is new. Not with Node's `recursive` option, which never
 * returns if a parent is missing and cannot be created, as below /proc.
 */
export function makeDirectory(path: string, mode = 0o777): boolean {
  try {
    return makeSingleDirectory(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
  }
  makeDirectory(dirname(path), mode);
  return makeSingleDirectory(path, mode);
}

function makeSingleDirectory(path: string, mode: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Writes JSON twice into one file: halves that differ show damage, and comparing them is much faster than a checksum
 * in JavaScript. The rename makes the replacement atomic.
 */
export function writeCheckedJson(path: string, content: object): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const line = `${JSON.stringify(content)}\n`;
  writeRegularFile(temporary, line + line, 0o600);
  renameSync(temporary, path);
}

/** Reads JSON that `writeCheckedJson` wrote; undefined if the file is missing or damaged. */
export function readCheckedJson(path: string): unknown {
  try {
    return parseChecked(readRegularFile(path));
  } catch {
    return undefined;
  }
}

/** Like `readCheckedJson`, but ignores a file that another user owns or may write. */
export function readOwnCheckedJson(path: string): unknown {
  try {
    const fd = openRegularFile(path, "r");
    try {
      return isOwn(fstatSync(fd)) ? parseChecked(readFileSync(fd)) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function parseChecked(bytes: Buffer): unknown {
  const half = bytes.length / 2;
  if (!bytes.subarray(0, half).equals(bytes.subarray(half))) return undefined;
  return JSON.parse(bytes.toString("utf8", 0, half));
}

const writableByOthers = 0o022;

/** Whether only the user can write a file or directory. Always true on systems without user ids. */
export function isOwn({ uid, mode }: Pick<Stats, "uid" | "mode">): boolean {
  const user = process.getuid?.();
  return user === undefined || (uid === user && (mode & writableByOthers) === 0);
}

const unusedAfterMs = 30 * 86_400_000;

/** Removes the folders of a cache that were not written to for a month. */
export function removeUnusedFolders(cache: string, now: number): void {
  for (const name of readdirSync(cache)) {
    const folder = `${cache}/${name}`;
    const { mtimeMs } = statSync(folder);
    if (now - mtimeMs > unusedAfterMs) rmSync(folder, { recursive: true, force: true });
  }
}
