import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { hashAtTail, origin, tailLength } from "../../../../record/chain.js";
import { makeDirectory } from "../../../make-directory.js";
import { readAt, systemFiles } from "../files.js";
import { openLock } from "../lock.js";
import { segmentName } from "../segments.js";
import type { FoundSegment } from "./fits.js";
import { Rows, rowLength } from "./rows.js";
import { addRow } from "./scan.js";
import { Shapes } from "./shapes.js";
import type { CoveredSegment, IndexState } from "./state.js";
import { readState, writeState } from "./state.js";

const newline = 10;
const chunkSize = 4 * 1024 * 1024;

/** How far we are with something that may take a while: so many bytes of so many. */
export type Progress = (done: number, total: number) => void;

/**
 * Where each record is and what it is like, so that questions need not read the log. Worked out from it,
 * kept beside it, brought up to date by whoever asks, thrown away whenever the two do not fit.
 */
export class LogIndex {
  readonly directory: string;
  readonly shapes: Shapes;
  /** The sequence number of the first row. */
  first: number;
  gaps: boolean;
  /** What was found wrong with the log when it was read after somebody had touched it. */
  damage: string | undefined;
  #segments: CoveredSegment[];
  #lastHash: string;
  /** Names the rows on disk: changes when the index is made anew. */
  rowsFile: string;
  #kept: number;
  #new = new Rows();
  #rowsDescriptor: number | undefined;

  constructor(directory: string, state: IndexState | undefined) {
    this.directory = directory;
    this.shapes = new Shapes(state?.shapes, state?.counts, state?.last);
    this.first = state?.first ?? 1;
    this.gaps = state?.gaps ?? false;
    this.damage = state?.damage;
    this.#segments = [...(state?.segments ?? [])];
    this.#lastHash = state?.last_hash ?? origin;
    this.rowsFile =
      state?.rows_file ??
      `rows-${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2)}`;
    this.#kept = state?.rows ?? 0;
    // At once: whoever makes the index anew removes the rows of this one.
    if (state !== undefined) this.#rowsDescriptor = openSync(`${directory}/${state.rows_file}`, "r");
  }

  /** How many records there are. */
  get count(): number {
    return this.#kept + this.#new.count;
  }

  /** Whether a line was seen that is no record, or not the one whose turn it was, or is not as it was written. */
  get isDamaged(): boolean {
    return (
      this.gaps || this.damage !== undefined || this.shapes.list.some(({ kind }) => kind === "unreadable")
    );
  }

  get lastHash(): string {
    return this.#lastHash;
  }

  /** The segment that a row is of. */
  segmentOf(row: number): number {
    return this.#segments.findLast(({ rows_from }) => rows_from <= row)?.first ?? 1;
  }

  /** The rows from one number up to, but without, another; as many as asked for are in memory at once. */
  read(from: number, to: number): Rows {
    const kept = Math.max(0, Math.min(to, this.#kept) - from);
    const bytes = new ArrayBuffer((to - from) * rowLength);
    const whole = new Uint8Array(bytes);
    if (kept > 0 && this.#rowsDescriptor !== undefined) {
      readSync(this.#rowsDescriptor, whole, 0, kept * rowLength, from * rowLength);
    }
    const start = Math.max(0, from - this.#kept);
    if (to > this.#kept) {
      const added = this.#new.bytes().subarray(start * rowLength, (to - this.#kept) * rowLength);
      whole.set(added, kept * rowLength);
    }
    return new Rows(bytes, to - from);
  }

  /** Reads what was added to the log since. */
  catchUp(log: string, found: readonly FoundSegment[], progress?: Progress): void {
    const covered = new Map(this.#segments.map((each) => [each.first, each.bytes]));
    const due = ({ first, bytes }: FoundSegment): number => bytes - (covered.get(first) ?? 0);
    const total = found.reduce((sum, segment) => sum + due(segment), 0);
    if (this.count === 0) this.first = found[0]?.first ?? 1;
    let done = 0;
    for (const segment of found.filter((each) => due(each) > 0)) {
      const { first } = segment;
      const report = (bytes: number): void => progress?.(done + bytes, total);
      done += this.#readSegment(log, first, covered.get(first) ?? 0, report);
    }
  }

  #readSegment(log: string, first: number, from: number, progress: (bytes: number) => void): number {
    const fd = openSync(`${log}/${segmentName(first)}`, "r");
    const rows_from = this.#segments.find((each) => each.first === first)?.rows_from ?? this.count;
    try {
      const covered = this.#readLines(fd, from, progress);
      const { mtimeMs } = fstatSync(fd);
      this.#segments = this.#segments.filter((each) => each.first !== first);
      this.#segments.push({ first, rows_from, bytes: covered, changed_at: mtimeMs });
      if (covered > from)
        this.#lastHash = hashAtTail(readAt(systemFiles, fd, covered - tailLength, tailLength)) ?? "";
      return covered - from;
    } finally {
      closeSync(fd);
    }
  }

  /** Whole lines only: the last one may still be on its way. */
  #readLines(fd: number, from: number, progress: (bytes: number) => void): number {
    let buffer = Buffer.allocUnsafe(Math.min(chunkSize, fstatSync(fd).size - from + 1));
    let filled = 0;
    let covered = from;
    const into = { rows: this.#new, shapes: this.shapes, base: this.#kept };
    for (;;) {
      const count = readSync(fd, buffer, filled, buffer.length - filled, covered + filled);
      if (count === 0) return covered;
      filled += count;
      let start = 0;
      const chunk = buffer.subarray(0, filled);
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        const expected = this.first + this.count;
        if (addRow(buffer, start, end, into, covered + start) !== expected) this.gaps = true;
        start = end + 1;
      }
      buffer.copyWithin(0, start, filled);
      filled -= start;
      covered += start;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
      progress(covered - from);
    }
  }

  /** Keeps what was read, unless somebody else is about to or nothing can be written here. */
  save(): void {
    if (this.#new.count === 0) return;
    try {
      makeDirectory(this.directory, 0o700);
      const release = openLock(`${this.directory}/lock`).tryAcquire();
      if (release === undefined) return;
      try {
        this.#write();
      } finally {
        release();
      }
    } catch {
      return;
    }
  }

  #write(): void {
    const current = readState(this.directory);
    const isOurs = current?.rows_file === this.rowsFile ? current.rows === this.#kept : this.#kept === 0;
    if (!isOurs) return;
    const fd = openSync(`${this.directory}/${this.rowsFile}`, this.#kept === 0 ? "w" : "r+", 0o600);
    try {
      const bytes = this.#new.bytes();
      writeSync(fd, bytes, 0, bytes.length, this.#kept * rowLength);
    } finally {
      closeSync(fd);
    }
    writeState(this.directory, {
      rows_file: this.rowsFile,
      rows: this.count,
      first: this.first,
      segments: this.#segments,
      last_hash: this.#lastHash,
      gaps: this.gaps,
      ...(this.damage !== undefined && { damage: this.damage }),
      shapes: this.shapes.list,
      counts: this.shapes.counts,
      last: [...this.shapes.last],
    });
    if (current !== undefined && current.rows_file !== this.rowsFile)
      rmSync(`${this.directory}/${current.rows_file}`, { force: true });
  }

  close(): void {
    if (this.#rowsDescriptor !== undefined) closeSync(this.#rowsDescriptor);
    this.#rowsDescriptor = undefined;
  }
}
