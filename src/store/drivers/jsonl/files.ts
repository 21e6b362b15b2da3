import * as fs from "node:fs";

/** The calls that writing the log rests on; a test puts failing ones in their place. */
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
  /** Goes on while the disk is waited for. */
  fdatasync(fd: number, done: (error: Error | null) => void): void;
};

export const systemFiles: Files = fs;

/** All of the bytes, or an error: what a full disk takes only half of was not written. */
export function writeAll(files: Files, fd: number, bytes: Uint8Array, position: number | null = null): void {
  let written = 0;
  while (written < bytes.length) {
    const at = position === null ? null : position + written;
    const count = files.writeSync(fd, bytes, written, bytes.length - written, at);
    if (count === 0) throw Object.assign(new Error("nothing more could be written"), { code: "EIO" });
    written += count;
  }
}

/** Adds all of the bytes, or leaves the file as long as it was. */
export function writeOrTruncate(files: Files, fd: number, bytes: Uint8Array, size: number): void {
  try {
    writeAll(files, fd, bytes);
  } catch (error) {
    files.ftruncateSync(fd, size);
    throw error;
  }
}

/** What may not be on the disk is taken back. */
export function syncOrTruncate(files: Files, fd: number, size: number): void {
  try {
    files.fdatasyncSync(fd);
  } catch (error) {
    files.ftruncateSync(fd, size);
    throw error;
  }
}

/** The bytes from a position on, fewer where the file ends before. */
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

/** Makes sure that a new name in a directory outlives a power cut. */
export function syncDirectory(files: Files, path: string): void {
  const fd = files.openSync(path, "r");
  try {
    files.fsyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}

/** To read and to add, but never to make. */
export const appendToExisting = fs.constants.O_RDWR | fs.constants.O_APPEND;

export const isNotFound = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Undefined where the file is not there. */
export function readIfExists(path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Opens a file that may not be there. */
export function openIfExists(files: Files, path: string, flags: string | number): number | undefined {
  try {
    return files.openSync(path, flags);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
