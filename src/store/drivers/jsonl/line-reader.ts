import { closeSync, readSync } from "node:fs";
import { openIfExists, readAt, systemFiles } from "./files.js";
import { readHeadFile } from "./head.js";
import type { LineEnd, LineLocation } from "./index/matching-rows.js";
import { parseRecordLine } from "./index/shapes.js";
import { segmentName } from "./segments.js";
import type { LogLine } from "../../../model/store.js";
import type { ChainLink } from "../../../record/chain.js";
import { linkLength, matchesOwnHash, parseChainLink, parsePreviousHash } from "../../../record/chain.js";

const readAheadBytes = 256 * 1024;

/** Reads lines by location. Reads ahead, so that lines near the last one come from memory. */
export class LineReader {
  readonly #log: string;
  readonly #onChanged: () => void;
  #open: { readonly segment: number; readonly fd: number } | undefined;
  /** Reused for every read. */
  #memory: Buffer = Buffer.alloc(0);
  /** The part of the memory that holds bytes of the segment, and their offset. */
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;

  /** `onChanged` is called for a line that does not match its hash, or is not the one that the next line follows. */
  constructor(log: string, onChanged: () => void) {
    this.#log = log;
    this.#onChanged = onChanged;
  }

  /** Returns undefined if the line is not a record; `onUnreadable` then receives its text. */
  read(
    { segment, offset, length, next }: LineLocation,
    onUnreadable?: (text: string) => void,
  ): LogLine | undefined {
    if (!this.#ensure(segment, offset, length)) return undefined;
    const line = this.#buffer.subarray(offset - this.#start, offset - this.#start + length);
    const link = parseChainLink(line);
    const intact = link !== undefined && matchesOwnHash(line, link) && this.#isFollowed(link, segment, next);
    if (!intact) this.#onChanged();
    const text = line.toString("utf8");
    const record = parseRecordLine(text);
    if (record !== undefined) return { text, record, intact };
    onUnreadable?.(text);
    return undefined;
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  /**
   * Returns whether the next line names this hash or, for the last line, the head does: an editor can compute a new hash,
   * but must then edit those, too.
   */
  #isFollowed({ seq, hash }: ChainLink, segment: number, next: LineEnd | undefined): boolean {
    if (next === undefined) {
      const head = readHeadFile(this.#log);
      return head?.size !== seq || head.head === hash;
    }
    const end = next.segment === segment ? this.#endOfLine(next.end) : readEndOfLine(this.#log, next);
    // A segment that was pruned meanwhile.
    return end === undefined || parsePreviousHash(end) === hash;
  }

  /** Returns the end of a line of the open segment. The buffer stays as it is. */
  #endOfLine(end: number): Buffer | undefined {
    const start = end - linkLength;
    if (start >= this.#start && end <= this.#start + this.#buffer.length)
      return this.#buffer.subarray(start - this.#start, end - this.#start);
    return this.#open && readAt(systemFiles, this.#open.fd, start, linkLength);
  }

  /** Loads the bytes of a line into the buffer. Returns false if the segment was pruned meanwhile. */
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
    // Near the last read, read ahead in its direction. Elsewhere, read this line only.
    const isNear =
      this.#buffer.length > 0 && offset > this.#start - readAheadBytes && offset < end + readAheadBytes;
    const size = isNear ? Math.max(length, readAheadBytes) : length;
    this.#start = isNear && offset < this.#start ? Math.max(0, offset + length - size) : offset;
    // Callers copy what they keep, and allocating costs more than reading.
    if (this.#memory.length < size) this.#memory = Buffer.allocUnsafe(size);
    this.#buffer = this.#memory.subarray(0, readSync(this.#open.fd, this.#memory, 0, size, this.#start));
    return true;
  }
}

function readEndOfLine(log: string, { segment, end }: LineEnd): Buffer | undefined {
  const fd = openIfExists(systemFiles, `${log}/${segmentName(segment)}`, "r");
  if (fd === undefined) return undefined;
  try {
    return readAt(systemFiles, fd, end - linkLength, linkLength);
  } finally {
    closeSync(fd);
  }
}
