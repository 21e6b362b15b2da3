import { renameSync, statSync } from "node:fs";
import { makeDirectory } from "../../make-directory.js";
import { damaged, gone } from "./damage.js";
import type { Files } from "./files.js";
import { openExisting, syncDirectory } from "./files.js";
import type { Head } from "./head.js";
import { emptyHead, readHead, writeHead } from "./head.js";
import { segmentName, segmentsIn } from "./segments.js";

/** The head of a log on disk, kept open from one append to the next. */
export class HeadFile {
  readonly #log: string;
  readonly #files: Files;
  #open: number | undefined;
  #wasThere = false;

  constructor(log: string, files: Files) {
    this.#log = log;
    this.#files = files;
  }

  read(): Head {
    const head = readHead(this.#files, this.#descriptor());
    if (head !== undefined) return head;
    if (this.#hasRecords()) throw damaged(this.#log, "its head file cannot be read");
    this.write(emptyHead);
    return emptyHead;
  }

  write(head: Head): void {
    writeHead(this.#files, this.#descriptor(), head);
  }

  /** Waits for the disk: once segments are gone, an older head would lead nowhere. */
  sync(): void {
    this.#files.fdatasyncSync(this.#descriptor());
  }

  close(): void {
    if (this.#open !== undefined) this.#files.closeSync(this.#open);
    this.#open = undefined;
  }

  /** Opened anew where the file was removed meanwhile. */
  #descriptor(): number {
    if (this.#open !== undefined && this.#files.fstatSync(this.#open).nlink > 0) return this.#open;
    this.close();
    const path = `${this.#log}/head`;
    this.#open = openExisting(this.#files, path, "r+") ?? this.#begin(path);
    this.#wasThere = true;
    return this.#open;
  }

  /** The head comes first, and whole, so a log without one has lost it. */
  #begin(path: string): number {
    if (this.#hasRecords()) throw damaged(this.#log, "its head file is missing");
    // What was kept beside the old log is not beside a new one.
    if (this.#wasThere) throw gone(this.#log);
    makeDirectory(this.#log, 0o700);
    const temporary = `${path}.${process.pid}.tmp`;
    const fd = this.#files.openSync(temporary, "w+", 0o600);
    try {
      writeHead(this.#files, fd, emptyHead);
      this.#files.fsyncSync(fd);
      renameSync(temporary, path);
      syncDirectory(this.#files, this.#log);
      return fd;
    } catch (error) {
      this.#files.closeSync(fd);
      throw error;
    }
  }

  /** Somebody was told that it is gone: the next begins a new one. */
  forget(): void {
    this.#wasThere = false;
  }

  #hasRecords(): boolean {
    return segmentsIn(this.#log).some((first) => statSync(`${this.#log}/${segmentName(first)}`).size > 0);
  }
}
