import { readdirSync, unlinkSync } from "node:fs";
import type { Files } from "./files.js";
import {
  isNotFound,
  appendToExisting,
  openIfExists,
  readAt,
  syncDirectory,
  writeOrTruncate,
} from "./files.js";
import { matchesOwnHash, parseChainLink } from "../../../record/chain.js";

/** Each segment is named after the sequence number of its first record. */
export const segmentName = (first: number): string => `${String(first).padStart(12, "0")}.jsonl`;

/** The first sequence numbers of all segments, in order. */
export function listSegments(directory: string): readonly number[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
  return names
    .filter((name) => /^\d{12,}\.jsonl$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

const newline = 10;
/** Most lines are shorter. */
const initialReadLength = 4096;

/** Where the bytes begin that are waited for, and the sequence number of the first record in them. */
export interface UnsyncedRange {
  readonly start: number;
  readonly next: number;
}

/** The segment that is written to, kept open from one append to the next. */
export class SegmentFile {
  readonly #log: string;
  readonly #files: Files;
  #open: { readonly first: number; readonly fd: number } | undefined;

  constructor(log: string, files: Files) {
    this.#log = log;
    this.#files = files;
  }

  /** How long it is; 0 where it is not there. Opened anew where the file was removed meanwhile. */
  sizeOf(first: number): number {
    const open = this.#open;
    if (open?.first === first) {
      const { size, nlink } = this.#files.fstatSync(open.fd);
      if (nlink > 0) return size;
    }
    this.close();
    const fd = openIfExists(this.#files, this.#path(first), appendToExisting);
    if (fd === undefined) return 0;
    this.#open = { first, fd };
    return this.#files.fstatSync(fd).size;
  }

  /** The hash of the record that ends there; undefined where its line is not as it was written. */
  hashOfRecordEndingAt(end: number): string | undefined {
    const line = this.#lineBefore(end) ?? Buffer.alloc(0);
    const link = parseChainLink(line);
    return link !== undefined && matchesOwnHash(line, link) ? link.hash : undefined;
  }

  #lineBefore(end: number): Buffer | undefined {
    if (this.#open === undefined) return undefined;
    for (let reach = initialReadLength; ; reach *= 16) {
      const from = Math.max(0, end - reach);
      const bytes = readAt(this.#files, this.#open.fd, from, end - from);
      const start = bytes.lastIndexOf("\n", -2) + 1;
      if (start > 0 || from === 0) return bytes.at(-1) === newline ? bytes.subarray(start, -1) : undefined;
    }
  }

  /** Adds all of the bytes, or leaves the segment as long as it was. */
  append(first: number, bytes: Uint8Array, start: number): void {
    writeOrTruncate(this.#files, this.openOrCreate(first), bytes, start);
  }

  /** After a failure nobody knows what of the file is on the disk: it is cut back, left, and never synced again. */
  sync(first: number, behind: UnsyncedRange): void {
    const fd = this.openOrCreate(first);
    try {
      this.#files.fdatasyncSync(fd);
    } catch (error) {
      this.#leave(first, behind);
      throw error;
    }
  }

  /** The same, while others go on. Nothing may be done with the file meanwhile. */
  async syncInBackground(first: number, behind: UnsyncedRange): Promise<void> {
    const fd = this.openOrCreate(first);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#files.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      this.#leave(first, behind);
      throw error;
    }
  }

  #leave(first: number, { start, next }: UnsyncedRange): void {
    this.#files.ftruncateSync(this.openOrCreate(first), start);
    this.close();
    if (start === 0) unlinkSync(this.#path(first));
    else this.#files.closeSync(this.#files.openSync(this.#path(next), "a", 0o600));
  }

  truncate(first: number, start: number): void {
    this.#files.ftruncateSync(this.openOrCreate(first), start);
  }

  openOrCreate(first: number): number {
    if (this.#open?.first === first) return this.#open.fd;
    this.close();
    const fd = this.#files.openSync(this.#path(first), "a+", 0o600);
    this.#open = { first, fd };
    syncDirectory(this.#files, this.#log);
    return fd;
  }

  close(): void {
    if (this.#open !== undefined) this.#files.closeSync(this.#open.fd);
    this.#open = undefined;
  }

  #path(first: number): string {
    return `${this.#log}/${segmentName(first)}`;
  }
}
