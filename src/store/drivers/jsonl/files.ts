import * as fs from "node:fs";
import type { OpenFlags } from "../../regular-file.js";
import { isNotRegular, openRegularFile, readRegularFile } from "../../regular-file.js";

/** The file system calls that the log depends on. Tests replace them with failing ones. */
export type Files = Pick<
  typeof fs,
  | "closeSync"
  | "fdatasyncSync"
  | "fstatSync"
  | "fsyncSync"
  | "ftruncateSync"
  | "openSync"
  | "readSync"
  | "writeSync"
> & {
  /** Does not block the event loop. */
  fdatasync(fd: number, done: (error: Error | null) => void): void;
};

export const systemFiles: Files = fs;

/** Writes all bytes or throws. `writeSync` can write fewer, for example on a full disk. */
export function writeAll(files: Files, fd: number, bytes: Uint8Array, position: number | null = null): void {
  let written = 0;
  while (written < bytes.length) {
    const at = position === null ? null : position + written;
    const count = files.writeSync(fd, bytes, written, bytes.length - written, at);
    if (count === 0) throw Object.assign(new Error("the system wrote no bytes"), { code: "EIO" });
    written += count;
  }
}

/** Appends all bytes, or restores the old size and throws. */
export function writeOrTruncate(files: Files, fd: number, bytes: Uint8Array, size: number): void {
  try {
    writeAll(files, fd, bytes);
  } catch (error) {
    files.ftruncateSync(fd, size);
    throw error;
  }
}

/** Syncs the file; if that fails, removes the bytes that may not be on the disk and throws. */
export function syncOrTruncate(files: Files, fd: number, size: number): void {
  try {
    files.fdatasyncSync(fd);
  } catch (error) {
    files.ftruncateSync(fd, size);
    throw error;
  }
}

/** Reads bytes from a position; fewer if the file ends before. */
export function readAt(files: Files, fd: number, position: number, length: number): Buffer {
  if (position < 0) return readAt(files, fd, 0, Math.max(0, length + position));
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = files.readSync(fd, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** Syncs a directory, so that a new name in it survives a power cut. */
export function syncDirectory(files: Files, path: string): void {
  const fd = files.openSync(path, "r");
  try {
    files.fsyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}

/** Opens for reading and appending without creating the file. */
export const appendToExisting = fs.constants.O_RDWR | fs.constants.O_APPEND;

export const isNotFound = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Returns the names in a directory; none if it does not exist. */
export function namesIn(directory: string): readonly string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** Returns undefined if the file does not exist. */
export function readIfExists(path: string): Buffer | undefined {
  try {
    return readRegularFile(path);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Reads a file that is rebuilt if it is damaged: anything but a regular file is read as empty. */
export function readDerivedIfExists(path: string): Buffer | undefined {
  try {
    return readIfExists(path);
  } catch (error) {
    if (isNotRegular(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** Returns undefined if the file does not exist. */
export function openIfExists(files: Files, path: string, flags: OpenFlags): number | undefined {
  try {
    return openRegularFile(path, flags, { files });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
