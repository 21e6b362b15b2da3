import { mkdirSync, readFileSync, renameSync, writeFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a directory and those above it; tells whether it is new. Level by level: Node's own recursive form
 * never ends where the system says that a directory is missing and cannot be made, as below /proc.
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
 * Writes a text twice into one file: halves that differ tell of damage, and comparing them costs a fraction of
 * what a checksum in JavaScript does. Others see the old file or the new one, never half of it.
 */
export function writeCheckedJson(path: string, content: object): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const line = `${JSON.stringify(content)}\n`;
  writeFileSync(temporary, line + line, { mode: 0o600 });
  renameSync(temporary, path);
}

/** What was written doubled; undefined where it is not there, or no longer what it was. */
export function readCheckedJson(path: string): unknown {
  try {
    const bytes = readFileSync(path);
    const half = bytes.length / 2;
    if (!bytes.subarray(0, half).equals(bytes.subarray(half))) return undefined;
    return JSON.parse(bytes.toString("utf8", 0, half));
  } catch {
    return undefined;
  }
}

const unusedAfterMs = 30 * 86_400_000;

/** Removes the folders in a cache that nothing was written to for a month. */
export function removeUnusedFolders(cache: string, now: number): void {
  for (const name of readdirSync(cache)) {
    const folder = `${cache}/${name}`;
    const { mtimeMs } = statSync(folder);
    if (now - mtimeMs > unusedAfterMs) rmSync(folder, { recursive: true, force: true });
  }
}
