import { closeSync, readSync } from "node:fs";
import { openIfExists, systemFiles } from "./files.js";
import type { LineLocation } from "./index/matching-rows.js";
import { segmentName } from "./segments.js";
import type { LogRecord } from "../../../model/record.js";
import type { LogLine } from "../../../model/store.js";
import { matchesOwnHash, parseChainLink, isLineIntact } from "../../../record/chain.js";

const readAheadBytes = 256 * 1024;

/** Reads lines by their places; those near the last one read come without asking the disk again. */
export class LineReader {
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
  read({ segment, offset, length }: LineLocation, unreadable?: (text: string) => void): LogLine | undefined {
    if (!this.#ensure(segment, offset, length)) return undefined;
    const line = this.#buffer.subarray(offset - this.#start, offset - this.#start + length);
    const link = parseChainLink(line);
    const intact = link !== undefined && matchesOwnHash(line, link);
    if (!intact) this.#onChanged();
    const text = line.toString("utf8");
    const record = parseRecord(text);
    if (record !== undefined) return { text, record, intact };
    unreadable?.(text);
    return undefined;
  }

  /** The same without proof that the line is as it was written, until that is asked for: it takes longer than reading. */
  readUnverified({ segment, offset, length }: LineLocation): LogLine | undefined {
    if (!this.#ensure(segment, offset, length)) return undefined;
    const from = offset - this.#start;
    const text = this.#buffer.toString("utf8", from, from + length);
    const record = parseRecord(text);
    return record && new UnverifiedLine(text, record);
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  /** Whether the bytes of the line are in the buffer; a segment may have been pruned meanwhile. */
  #ensure(segment: number, offset: number, length: number): boolean {
    if (this.#open?.segment !== segment) {
      this.close();
      const fd = openIfExists(systemFiles, `${this.#log}/${segmentName(segment)}`, "r");
      if (fd === undefined) return false;
      this.#open = { segment, fd };
      this.#buffer = Buffer.alloc(0);
      this.#start = 0;
    }
    const end = this.#start + this.#buffer.length;
    if (offset >= this.#start && offset + length <= end) return true;
    // Going backwards, what lies before is wanted next; of what is far from the last one, nothing beside it.
    const isNear =
      this.#buffer.length > 0 && offset > this.#start - readAheadBytes && offset < end + readAheadBytes;
    const size = isNear ? Math.max(length, readAheadBytes) : length;
    this.#start = isNear && offset < this.#start ? Math.max(0, offset + length - size) : offset;
    // Nobody keeps what was in it, and new memory costs more than reading into it.
    if (this.#memory.length < size) this.#memory = Buffer.allocUnsafe(size);
    this.#buffer = this.#memory.subarray(0, readSync(this.#open.fd, this.#memory, 0, size, this.#start));
    return true;
  }
}

class UnverifiedLine implements LogLine {
  readonly text: string;
  readonly record: LogRecord;
  #intact: boolean | undefined;

  constructor(text: string, record: LogRecord) {
    this.text = text;
    this.record = record;
  }

  get intact(): boolean {
    return (this.#intact ??= isLineIntact(this.text));
  }
}

function parseRecord(text: string): LogRecord | undefined {
  try {
    const record = JSON.parse(text) as LogRecord | null;
    return typeof record === "object" && typeof record?.kind === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
