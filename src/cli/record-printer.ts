import type { LogLine } from "../model/store.js";
import type { LogWriting } from "../present/log-writing.js";
import { isWholeRecord } from "../record/whole-record.js";
import type { Io } from "./io.js";

/** Enough for one write to be worth it. */
const flushedAt = 64 * 1024;

/** Writes records a good many at a time, and counts them. */
export class RecordPrinter {
  printed = 0;
  /** Lines that are JSON but no whole records; they are left out. */
  damaged = 0;
  readonly #io: Io;
  readonly #writing: LogWriting;
  #text = "";

  constructor(io: Io, writing: LogWriting) {
    this.#io = io;
    this.#writing = writing;
  }

  print(line: LogLine): void {
    if (!isWholeRecord(line.record)) {
      this.damaged++;
      return;
    }
    this.printed++;
    this.#text += this.#writing.add(line);
    if (this.#text.length > flushedAt) this.flush();
  }

  /** From now on each record is written out when it is flushed. */
  settle(): void {
    this.#text += this.#writing.settle();
    this.flush();
  }

  end(): void {
    this.#text += this.#writing.end();
    this.flush();
  }

  flush(): void {
    if (this.#text !== "") this.#io.out.write(this.#text);
    this.#text = "";
  }
}
