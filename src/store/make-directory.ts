import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a directory and those above it; tells whether it is new. Level by level: Node's own recursive form
 * never ends where the system says that a directory is missing and cannot be made, as below /proc.
 */
export function makeDirectory(path: string, mode = 0o777): boolean {
  try {
    return makeOne(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
  }
  makeDirectory(dirname(path), mode);
  return makeOne(path, mode);
}

function makeOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
