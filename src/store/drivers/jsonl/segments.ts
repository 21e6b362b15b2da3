import { unlinkSync } from "node:fs";
import type { Files } from "./files.js";
import {
  appendToExisting,
  namesIn,
  openIfExists,
  readAt,
  syncDirectory,
  systemFiles,
  writeOrTruncate,
} from "./files.js";
import { matchesOwnHash, parseChainLink } from "../../../record/chain.js";
import { openRegularFile } from "../../regular-file.js";

/** A segment is named after the sequence number of its first record. */
export const segmentName = (first: number): string => `${String(first).padStart(12, "0")}.jsonl`;

/** Returns the first sequence numbers of all segments, oldest first. */
export function listSegments(directory: string): readonly number[] {
  return namesIn(directory)
    .filter((name) => /^\d{12,}\.jsonl$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

const newline = 10;
/** Most lines are shorter. */
const initialReadLength = 4096;

/** Returns the first line of a segment; undefined if there is none. */
export function readFirstLine(path: string): Buffer | undefined {
  const fd = openIfExists(systemFiles, path, "r");
  if (fd === undefined) return undefined;
  try {
    return readLine(fd, 0);
  } finally {
    systemFiles.closeSync(fd);
  }
}

/** Reads the line that starts at an offset, without its newline; undefined if it is not complete. */
export function readLine(fd: number, offset: number): Buffer | undefined {
  for (let length = initialReadLength; ; length *= 16) {
    const bytes = readAt(systemFiles, fd, offset, length);
    const end = bytes.indexOf("\n");
    if (end !== -1) return bytes.subarray(0, end);
    if (bytes.length < length) return undefined;
  }
}

/** The bytes at the end of a segment that a sync must secure. */
export interface UnsyncedRange {
  readonly start: number;
  /** The sequence number of the first record in them. */
  readonly next: number;
}

/** The current segment of a log, kept open between appends. */
export class SegmentFile {
  readonly #log: string;
  readonly #files: Files;
  #open: { readonly first: number; readonly fd: number } | undefined;

  constructor(log: string, files: Files) {
    this.#log = log;
    this.#files = files;
  }

  /** Returns the length of a segment, 0 if it does not exist. Opens the file again if the open one was deleted. */
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

  /** Returns the hash of the record that ends at this offset; undefined if its line was changed. */
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

  /** Appends all bytes, or leaves the segment at its old length. */
  append(first: number, bytes: Uint8Array, start: number): void {
    writeOrTruncate(this.#files, this.openOrCreate(first), bytes, start);
  }

  /**
   * Syncs the segment. After a failed sync the kernel may have dropped the unwritten pages and report success next
   * time, so the file is truncated, abandoned and never synced again.
   */
  sync(first: number, range: UnsyncedRange): void {
    const fd = this.openOrCreate(first);
    try {
      this.#files.fdatasyncSync(fd);
    } catch (error) {
      this.#abandon(first, range);
      throw error;
    }
  }

  /** Like `sync`, without blocking the event loop. The segment must not be used until it resolves. */
  async syncInBackground(first: number, range: UnsyncedRange): Promise<void> {
    const fd = this.openOrCreate(first);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#files.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      this.#abandon(first, range);
      throw error;
    }
  }

  /** Removes the unsynced bytes and makes the next append use another file: a new segment if this one has records. */
  #abandon(first: number, { start, next }: UnsyncedRange): void {
    this.#files.ftruncateSync(this.openOrCreate(first), start);
    this.close();
    if (start === 0) unlinkSync(this.#path(first));
    else this.#files.closeSync(openRegularFile(this.#path(next), "a", { files: this.#files, mode: 0o600 }));
  }

  truncate(first: number, start: number): void {
    this.#files.ftruncateSync(this.openOrCreate(first), start);
  }

  openOrCreate(first: number): number {
    if (this.#open?.first === first) return this.#open.fd;
    this.close();
    const fd = openRegularFile(this.#path(first), "a+", { files: this.#files, mode: 0o600 });
    this.#open = { first, fd };
    // The name of a new file must survive a power cut, too.
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
