import { closeSync, fstatSync, readSync } from "node:fs";
import type { SegmentStats, CoveredSegment, IndexState } from "./index-state.js";
import { Postings } from "./postings.js";
import type { Rows } from "./rows.js";
import { RowFile } from "./rows.js";
import { PrefixCache } from "./scan-keys.js";
import { addRow } from "./scan-line.js";
import { Shapes } from "./shapes.js";
import {
  genesisHash,
  matchesOwnHash,
  parseChainLink,
  parseTailHash,
  tailLength,
} from "../../../../record/chain.js";
import { readAt, systemFiles } from "../files.js";
import { segmentName } from "../segments.js";
import { runToEnd } from "../slices.js";
import { openRegularFile } from "../../../regular-file.js";

const newline = 10;
/** Takes some ten milliseconds. */
export const chunkSize = 1024 * 1024;

/** Reports progress in bytes. */
export type Progress = (done: number, total: number) => void;

interface CatchUpOptions {
  readonly progress?: Progress | undefined;
  /** The log was verified just before, so the hashes of its lines are not checked again. */
  readonly isVerified?: boolean;
}

/**
 * The location and the searchable properties of each record, so that queries do not read the whole log. It is derived
 * from the log, stored in `log/index`, updated by every process that queries, and rebuilt if it does not match the log.
 */
export class LogIndex {
  readonly directory: string;
  readonly shapes: Shapes;
  readonly rows: RowFile;
  readonly postings: Postings;
  /** The name of the file of rows. A rebuilt index uses a new name. */
  readonly rowsFile: string;
  /** The sequence number of the first row. */
  first: number;
  /** True if the sequence numbers of the lines are not consecutive. */
  hasGaps: boolean;
  /** True if a line does not match its hash, or does not follow the line before. */
  hasChanges: boolean;
  #segments: CoveredSegment[];
  #lastHash: string;
  readonly #prefixes = new PrefixCache();

  /** Throws if the saved files are missing or known to be damaged. The rest is verified when it is read. */
  constructor(directory: string, state: IndexState | undefined) {
    this.directory = directory;
    this.shapes = new Shapes(state);
    this.first = state?.first ?? 1;
    this.hasGaps = state?.gaps ?? false;
    this.hasChanges = state?.changed ?? false;
    this.#segments = [...(state?.segments ?? [])];
    this.#lastHash = state?.last_hash ?? genesisHash;
    this.rowsFile =
      state?.rows_file ??
      `rows-${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2)}`;
    this.rows = new RowFile(`${directory}/${this.rowsFile}`, state?.rows);
    try {
      this.postings = new Postings(directory, this.rowsFile, state?.postings);
    } catch (error) {
      this.rows.close();
      throw error;
    }
  }

  /** The number of records. */
  get count(): number {
    return this.rows.count;
  }

  /** True if a line was changed, is unreadable or out of sequence. */
  get isDamaged(): boolean {
    return this.hasChanges || this.hasGaps || this.shapes.list.some(({ kind }) => kind === "unreadable");
  }

  get lastHash(): string {
    return this.#lastHash;
  }

  /** The segments that the index covers, oldest first. */
  get segments(): readonly CoveredSegment[] {
    return this.#segments;
  }

  /** Returns the segment of a row, by binary search. */
  segmentOf(row: number): number {
    const segments = this.#segments;
    let [low, high] = [0, segments.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((segments[middle]?.rows_from ?? 0) <= row) low = middle;
      else high = middle;
    }
    return segments[low]?.first ?? 1;
  }

  /** Returns the rows `from` (inclusive) to `to` (exclusive), all in memory. */
  read(from: number, to: number): Rows {
    return this.rows.read(from, to);
  }

  /** Indexes the lines that were appended since the last time, and checks that they are as they were written. */
  catchUp(log: string, found: readonly SegmentStats[], options: CatchUpOptions = {}): void {
    runToEnd(this.catchUpInSlices(log, found, options));
  }

  /** Does the same, but yields after every chunk. The index must not be used before the end. */
  *catchUpInSlices(
    log: string,
    found: readonly SegmentStats[],
    { progress, isVerified = false }: CatchUpOptions = {},
  ): Generator<void, void> {
    const covered = this.#coveredBytes();
    const due = ({ first, bytes }: SegmentStats): number => bytes - (covered.get(first) ?? 0);
    const total = found.reduce((sum, segment) => sum + due(segment), 0);
    if (this.count === 0) this.first = found[0]?.first ?? 1;
    let done = 0;
    let yieldedAt = 0;
    for (const { first, bytes } of found.filter((each) => due(each) > 0)) {
      if (done - yieldedAt > chunkSize) {
        yieldedAt = done;
        yield;
      }
      const report = (read: number): void => progress?.(done + read, total);
      const range = { from: covered.get(first) ?? 0, to: bytes, isVerified };
      done += yield* this.#readSegment(log, first, range, report);
    }
  }

  /** Returns the number of bytes that `catchUp` would read. */
  bytesBehind(found: readonly SegmentStats[]): number {
    const covered = this.#coveredBytes();
    return found.reduce((sum, { first, bytes }) => sum + Math.max(0, bytes - (covered.get(first) ?? 0)), 0);
  }

  #coveredBytes(): ReadonlyMap<number, number> {
    return new Map(this.#segments.map((each) => [each.first, each.bytes]));
  }

  *#readSegment(
    log: string,
    first: number,
    range: LineRange,
    progress: (bytes: number) => void,
  ): Generator<void, number> {
    const { from } = range;
    const fd = openRegularFile(`${log}/${segmentName(first)}`, "r");
    const rows_from = this.#segments.find((each) => each.first === first)?.rows_from ?? this.count;
    try {
      const covered = yield* this.#readLines(fd, range, progress);
      const { mtimeMs } = fstatSync(fd);
      this.#segments = this.#segments.filter((each) => each.first !== first);
      this.#segments.push({ first, rows_from, bytes: covered, changed_at: mtimeMs });
      if (covered > from)
        this.#lastHash = parseTailHash(readAt(systemFiles, fd, covered - tailLength, tailLength)) ?? "";
      return covered - from;
    } finally {
      closeSync(fd);
    }
  }

  /** Indexes complete lines only: the last one may still be in progress. */
  *#readLines(
    fd: number,
    { from, to, isVerified }: LineRange,
    progress: (bytes: number) => void,
  ): Generator<void, number> {
    let buffer = Buffer.allocUnsafe(Math.min(chunkSize, to - from));
    let filled = 0;
    let covered = from;
    const { shapes, postings } = this;
    const { unsaved: rows, savedCount: base } = this.rows;
    const into = { rows, shapes, postings, prefixes: this.#prefixes, base };
    for (;;) {
      const room = Math.min(buffer.length - filled, to - covered - filled);
      const count = room <= 0 ? 0 : readSync(fd, buffer, filled, room, covered + filled);
      if (count === 0) return covered;
      filled += count;
      let start = 0;
      const chunk = buffer.subarray(0, filled);
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        if (!isVerified) this.#checkLine(chunk.subarray(start, end));
        const expected = this.first + this.count;
        if (addRow(buffer, start, end, into, covered + start) !== expected) this.hasGaps = true;
        start = end + 1;
      }
      buffer.copyWithin(0, start, filled);
      filled -= start;
      covered += start;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
      progress(covered - from);
      if (covered + filled < to) yield;
    }
  }

  /** Checks the next line: its hash, and that it follows the line before. */
  #checkLine(line: Buffer): void {
    const link = parseChainLink(line);
    // What precedes the first line of a pruned log is not known.
    const previous = this.count === 0 && this.first > 1 ? link?.previous : this.#lastHash;
    this.#lastHash = link?.hash ?? "";
    if (this.hasChanges) return;
    this.hasChanges = link === undefined || link.previous !== previous || !matchesOwnHash(line, link);
  }

  close(): void {
    this.rows.close();
    this.postings.close();
  }
}

/** A part of a segment that is read. */
interface LineRange {
  readonly from: number;
  readonly to: number;
  readonly isVerified: boolean;
}
