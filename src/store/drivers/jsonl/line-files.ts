import { closeSync, readSync } from "node:fs";
import type { LogRecord } from "../../../model/record.js";
import { isIntact, linkOf } from "../../../record/chain.js";
import type { LogLine } from "../../../model/store.js";
import { openExisting, systemFiles } from "./files.js";
import type { Place } from "./index/row-order.js";
import { segmentName } from "./segments.js";

const ahead = 256 * 1024;

/** Reads lines by their places; those near the last one read come without asking the disk again. */
export class LineFiles {
  readonly #log: string;
  readonly #onChanged: () => void;
  #open: { readonly segment: number; readonly fd: number } | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;

  /** `onChanged` hears of lines that are not as they were written. */
  constructor(log: string, onChanged: () => void) {
    this.#log = log;
    this.#onChanged = onChanged;
  }

  /** The record at a place, without proof that it is as it was written; that would take longer than reading it. */
  readUnproven({ segment, offset, length }: Place): LogRecord | undefined {
    if (!this.#ensure(segment, offset, length)) return undefined;
    const from = offset - this.#start;
    return parse(this.#buffer.toString("utf8", from, from + length));
  }

  /** Undefined where the line is no record (any more). */
  read({ segment, offset, length }: Place): LogLine | undefined {
    if (!this.#ensure(segment, offset, length)) return undefined;
    const line = this.#buffer.subarray(offset - this.#start, offset - this.#start + length);
    const link = linkOf(line);
    const intact = link !== undefined && isIntact(line, link);
    if (!intact) this.#onChanged();
    const text = line.toString("utf8");
    const record = parse(text);
    return record && { text, record, intact };
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  /** Whether the bytes of the line are in the buffer; a segment may have been pruned meanwhile. */
  #ensure(segment: number, offset: number, length: number): boolean {
    if (this.#open?.segment !== segment) {
      this.close();
      const fd = openExisting(systemFiles, `${this.#log}/${segmentName(segment)}`, "r");
      if (fd === undefined) return false;
      this.#open = { segment, fd };
      this.#buffer = Buffer.alloc(0);
      this.#start = 0;
    }
    const end = this.#start + this.#buffer.length;
    if (offset >= this.#start && offset + length <= end) return true;
    // Going backwards, what lies before is wanted next; of what is far from the last one, nothing beside it.
    const isNear = this.#buffer.length > 0 && offset > this.#start - ahead && offset < end + ahead;
    const size = isNear ? Math.max(length, ahead) : length;
    this.#start = isNear && offset < this.#start ? Math.max(0, offset + length - size) : offset;
    const buffer = Buffer.allocUnsafe(size);
    this.#buffer = buffer.subarray(0, readSync(this.#open.fd, buffer, 0, buffer.length, this.#start));
    return true;
  }
}

function parse(text: string): LogRecord | undefined {
  try {
    return JSON.parse(text) as LogRecord;
  } catch {
    return undefined;
  }
}
