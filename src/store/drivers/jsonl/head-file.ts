import { renameSync, statSync } from "node:fs";
import { makeDirectory } from "../../make-directory.js";
import { damaged, gone } from "./damage.js";
import type { Files } from "./files.js";
import { openExisting, syncDirectory } from "./files.js";
import type { Head, Position } from "./head.js";
import { emptyHead, readHead, writeHead } from "./head.js";
import { segmentName, segmentsIn } from "./segments.js";

/** The head of a log on disk, kept open from one append to the next. */
export class HeadFile {
  readonly #log: string;
  readonly #files: Files;
  readonly #path: string;
  #open: number | undefined;
  #place = "";
  #reached: Position = emptyHead;

  constructor(log: string, files: Files) {
    this.#log = log;
    this.#path = `${log}/head`;
    this.#files = files;
  }

  read(): Head {
    const head = readHead(this.#files, this.#descriptor());
    if (head !== undefined) return this.#noOlder(head);
    if (this.#hasRecords()) throw damaged(this.#log, "its head file cannot be read");
    this.write(emptyHead);
    return emptyHead;
  }

  /** To be called by who has just read it, or has seen that it is in its place. */
  write(head: Head): void {
    writeHead(this.#files, this.#open ?? this.#descriptor(), head);
    this.#reached = head;
  }

  /** Whether the file that is open is the one of the log: it may have been removed, or moved away with all of it. */
  isInPlace(): boolean {
    if (this.#open === undefined) return false;
    return placeOf(statSync(this.#path, { throwIfNoEntry: false })) === this.#place;
  }

  /** Waits for the disk: once segments are gone, an older head would lead nowhere. */
  sync(): void {
    this.#files.fdatasyncSync(this.#descriptor());
  }

  close(): void {
    if (this.#open !== undefined) this.#files.closeSync(this.#open);
    this.#open = undefined;
  }

  #descriptor(): number {
    if (this.#open !== undefined && this.isInPlace()) return this.#open;
    this.close();
    this.#open = openExisting(this.#files, this.#path, "r+") ?? this.#begin();
    this.#place = placeOf(this.#files.fstatSync(this.#open));
    return this.#open;
  }

  /** The head comes first, and whole, so a log without one has lost it. */
  #begin(): number {
    if (this.#hasRecords()) throw damaged(this.#log, "its head file is missing");
    if (this.#reached.size > 0) throw gone(this.#log);
    makeDirectory(this.#log, 0o700);
    const temporary = `${this.#path}.${process.pid}.tmp`;
    const fd = this.#files.openSync(temporary, "w+", 0o600);
    try {
      writeHead(this.#files, fd, emptyHead);
      this.#files.fsyncSync(fd);
      renameSync(temporary, this.#path);
      syncDirectory(this.#files, this.#log);
      return fd;
    } catch (error) {
      this.#files.closeSync(fd);
      throw error;
    }
  }

  /** What this process has seen in the log is acknowledged, and must not be written a second time. */
  #noOlder(head: Head): Head {
    const { size, head: hash } = this.#reached;
    if (head.size < size || (head.size === size && head.head !== hash)) {
      throw damaged(this.#log, `it had ${size} records before, and is another one now, or an older copy`);
    }
    this.#reached = head;
    return head;
  }

  #hasRecords(): boolean {
    return segmentsIn(this.#log).some((first) => statSync(`${this.#log}/${segmentName(first)}`).size > 0);
  }
}

/** Numbers of files are given anew on each disk, and another one may have been mounted. */
const placeOf = (found: { readonly dev: number; readonly ino: number } | undefined): string =>
  found === undefined ? "" : `${found.dev}:${found.ino}`;
