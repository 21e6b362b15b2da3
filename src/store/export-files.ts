import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { DecisionError } from "../errors.js";

/** A file of the directory itself, or why it is none: whatever a link leads to is no part of the export. */
export function openPlain(directory: string, name: string): number | string {
  // Without waiting: a pipe in the place of a file would have us wait for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let fd: number;
  try {
    fd = openSync(join(directory, name), flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return `\`${name}\` is missing`;
    if (code === "ELOOP") return `\`${name}\` is a link, which could lead anywhere`;
    throw unreadable(error);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return `\`${name}\` is not a file`;
}

export function unreadable(error: unknown): DecisionError {
  const message = `the export cannot be read: ${(error as Error).message}`;
  return new DecisionError("file_unreadable", message, { cause: error });
}

const chunkSize = 64 * 1024;
const longestLine = 4096 * chunkSize;
export const newline = 10;

/** Each line with its newline. One without it is the rest of the file, or a part of a line beyond all measure. */
export function* linesOf(fd: number): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  for (;;) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, null);
    filled += count;
    const read = buffer.subarray(0, filled);
    let start = 0;
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, start)) {
      yield read.subarray(start, end + 1);
      start = end + 1;
    }
    if (count === 0 || filled - start === longestLine) {
      if (filled > start) yield read.subarray(start);
      if (count === 0) return;
      start = filled;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
    if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}
