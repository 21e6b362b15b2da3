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
  #memory: Buffer = Buffer.alloc(0);
  /** The part of it that was read. */
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;

  /** `onChanged` hears of lines that are not as they were written. */
  constructor(log: string, onChanged: () => void) {
    this.#log = log;
    this.#onChanged = onChanged;
  }

  /** Undefined where the line is no record (any more); `unreadable` then hears what is there. */
  read({ segment, offset, length }: Place, unreadable?: (text: string) => void): LogLine | undefined {
    if (!this.#ensure(segment, offset, length)) return undefined;
    const line = this.#buffer.subarray(offset - this.#start, offset - this.#start + length);
    const link = linkOf(line);
    const intact = link !== undefined && isIntact(line, link);
    if (!intact) this.#onChanged();
    const text = line.toString("utf8");
    const record = parsed(text);
    if (record !== undefined) return { text, record, intact };
    unreadable?.(text);
    return undefined;
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
    // Going backwards, what lies before is wanted next.
    const isBefore = this.#buffer.length > 0 && offset < this.#start;
    const first =
      this.#buffer.length === 0 ? offset : isBefore ? Math.max(0, offset + length - ahead) : offset;
    const size = Math.max(length, this.#buffer.length === 0 ? length : ahead);
    this.#start = Math.min(first, offset);
    const wanted = Math.max(size, offset + length - this.#start);
    // Nobody keeps what was in it, and new memory costs more than reading into it.
    if (this.#memory.length < wanted) this.#memory = Buffer.allocUnsafe(wanted);
    this.#buffer = this.#memory.subarray(0, readSync(this.#open.fd, this.#memory, 0, wanted, this.#start));
    return true;
  }
}

function parsed(text: string): LogRecord | undefined {
  try {
    const record = JSON.parse(text) as LogRecord | null;
    return typeof record === "object" && typeof record?.kind === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
