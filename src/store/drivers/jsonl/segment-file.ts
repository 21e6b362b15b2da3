import { unlinkSync } from "node:fs";
import { isIntact, linkOf } from "../../../record/chain.js";
import type { Files } from "./files.js";
import { existingForAppend, openExisting, readAt, syncDirectory, writeOrCutBack } from "./files.js";
import { segmentName } from "./segments.js";

const newline = 10;
/** Most lines are shorter. */
const usualLine = 4096;

/** Where the bytes begin that are waited for, and the sequence number of the first record in them. */
export interface Behind {
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
    const fd = openExisting(this.#files, this.#path(first), existingForAppend);
    if (fd === undefined) return 0;
    this.#open = { first, fd };
    return this.#files.fstatSync(fd).size;
  }

  /** The hash of the record that ends there; undefined where its line is not as it was written. */
  hashBefore(end: number): string | undefined {
    const line = this.#lineBefore(end) ?? Buffer.alloc(0);
    const link = linkOf(line);
    return link !== undefined && isIntact(line, link) ? link.hash : undefined;
  }

  #lineBefore(end: number): Buffer | undefined {
    if (this.#open === undefined) return undefined;
    for (let reach = usualLine; ; reach *= 16) {
      const from = Math.max(0, end - reach);
      const bytes = readAt(this.#files, this.#open.fd, from, end - from);
      const start = bytes.lastIndexOf("\n", -2) + 1;
      if (start > 0 || from === 0) return bytes.at(-1) === newline ? bytes.subarray(start, -1) : undefined;
    }
  }

  /** Adds all of the bytes, or leaves the segment as long as it was. */
  append(first: number, bytes: Uint8Array, start: number): void {
    writeOrCutBack(this.#files, this.make(first), bytes, start);
  }

  /** After a failure nobody knows what of the file is on the disk: it is cut back, left, and never synced again. */
  sync(first: number, behind: Behind): void {
    const fd = this.make(first);
    try {
      this.#files.fdatasyncSync(fd);
    } catch (error) {
      this.#leave(first, behind);
      throw error;
    }
  }

  /** The same, while others go on. Nothing may be done with the file meanwhile. */
  async syncAside(first: number, behind: Behind): Promise<void> {
    const fd = this.make(first);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#files.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      this.#leave(first, behind);
      throw error;
    }
  }

  #leave(first: number, { start, next }: Behind): void {
    this.#files.ftruncateSync(this.make(first), start);
    this.close();
    if (start === 0) unlinkSync(this.#path(first));
    else this.#files.closeSync(this.#files.openSync(this.#path(next), "a", 0o600));
  }

  cutBack(first: number, start: number): void {
    this.#files.ftruncateSync(this.make(first), start);
  }

  make(first: number): number {
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
