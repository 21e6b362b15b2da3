import { closeSync, readSync, statSync } from "node:fs";
import type { Head } from "./head.js";
import { parseRecordLine } from "./index/shapes.js";
import { damagedLogError } from "./store-errors.js";
import { listSegments, segmentName } from "./segments.js";
import type { LogRecord, NoteRecord } from "../../../model/record.js";
import type { Count, Counter } from "../../../model/store.js";
import { genesisHash, matchesOwnHash, parseChainLink } from "../../../record/chain.js";
import { countEntry } from "../../../record/counters.js";
import { countersInNote, parseNote } from "../../../record/notes.js";
import { openRegularFile } from "../../regular-file.js";

/** Reports progress in bytes. */
type Progress = (done: number, total: number) => void;

type CountedUpTo = Pick<Head, "segment" | "bytes">;

/** All counters of a log, and the end of the records that they cover. */
export interface CountedLog {
  readonly counters: Map<string, Counter>;
  readonly end: CountedUpTo;
  /** The last record that was read. */
  readonly last: Link | undefined;
  /** False if records were removed, and no note has their counters. */
  readonly isComplete: boolean;
  /** The first note with counters that contradict the records before it, by its sequence number. */
  readonly wrongNote: number | undefined;
}

interface Link {
  readonly seq: number;
  readonly hash: string;
}

interface CountOptions {
  /** Continues from here. */
  readonly before?: CountedLog | undefined;
  /** The record that must have this hash, as the head says. */
  readonly expected?: { readonly size: number; readonly head: string };
  /** The chain was verified just before, so it is not checked again. */
  readonly isVerified?: boolean;
  readonly progress?: Progress | undefined;
}

/**
 * Counts what the records count, and checks their hashes and their order while it reads. A prune notes the counters of
 * that moment, so only the records after the last such note are counted. Throws if a record was changed. Yields after
 * every chunk.
 */
export function* countLog(
  log: string,
  end: CountedUpTo,
  { before, expected, isVerified = false, progress }: CountOptions = {},
): Generator<void, CountedLog> {
  const parts = listParts(log, end, before?.end);
  const total = parts.reduce((sum, { from, to }) => sum + to - from, 0);
  const count = new RecordCount(log, before ?? { isComplete: (parts[0]?.first ?? 1) === 1 });
  let done = 0;
  for (const part of parts) {
    if (!isVerified && part.from === 0) count.beginSegment(part.first);
    for (const { bytes, read } of readChunks(log, part)) {
      if (!isVerified || markers.some((marker) => bytes.includes(marker)))
        for (const line of linesIn(bytes)) {
          if (!isVerified) count.checkLink(line, expected);
          count.add(line);
        }
      progress?.(done + read, total);
      yield;
    }
    done += part.to - part.from;
  }
  return count.result(end);
}

/** Counts lines in order. */
class RecordCount {
  readonly #log: string;
  #counters: Map<string, Counter>;
  #last: Link | undefined;
  #isComplete: boolean;
  #wrongNote: number | undefined;

  constructor(log: string, before: Pick<CountedLog, "isComplete"> & Partial<CountedLog>) {
    this.#log = log;
    this.#counters = before.counters ?? new Map<string, Counter>();
    this.#last = before.last;
    this.#isComplete = before.isComplete;
    this.#wrongNote = before.wrongNote;
  }

  /** Throws if a segment does not continue the one before. */
  beginSegment(first: number): void {
    this.#last ??= { seq: first - 1, hash: first === 1 ? genesisHash : "" };
    if (this.#last.seq !== first - 1)
      throw damagedLogError(this.#log, `records ${this.#last.seq + 1} to ${first - 1} are missing`);
  }

  /** Throws if a line was changed, or is not the next one. */
  checkLink(line: Buffer, expected: CountOptions["expected"]): void {
    const { seq, hash } = this.#last ?? { seq: 0, hash: genesisHash };
    const link = parseChainLink(line);
    const follows = link?.seq === seq + 1 && (hash === "" || link.previous === hash);
    if (!follows || !matchesOwnHash(line, link))
      throw damagedLogError(this.#log, `record ${seq + 1} was changed`);
    if (link.seq === expected?.size && link.hash !== expected.head)
      throw damagedLogError(this.#log, `record ${link.seq} does not match the hash in the head file`);
    this.#last = link;
  }

  add(line: Buffer): void {
    if (line.includes(countedMarker)) {
      const record = parseRecordLine(line.toString("utf8")) as CountedRecord | undefined;
      if (record === undefined) throw damagedLogError(this.#log, "a record is not readable");
      countEntry(this.#counters, record.counted ?? [], record.seq);
    }
    const note = parseNote(line);
    const noted = note && countersInNote(note);
    if (note === undefined || noted === undefined) return;
    const inNote = new Map(Object.entries(noted));
    if (!isPossible(inNote, this.#counters, { isComplete: this.#isComplete, note: note.note }))
      this.#wrongNote ??= note.seq;
    this.#counters = inNote;
    this.#isComplete = true;
  }

  result(end: CountedUpTo): CountedLog {
    return {
      counters: this.#counters,
      end,
      last: this.#last,
      isComplete: this.#isComplete,
      wrongNote: this.#wrongNote,
    };
  }
}

type CountedRecord = LogRecord & { readonly counted?: readonly Count[] };

/**
 * Whether a note can have these counters, given what the records before it count: exactly that or, if some of them
 * were removed without a note of their counters, at least that.
 */
function isPossible(
  noted: ReadonlyMap<string, Counter>,
  counted: ReadonlyMap<string, Counter>,
  { isComplete, note }: { readonly isComplete: boolean; readonly note: NoteRecord["note"] },
): boolean {
  if (isComplete && noted.size !== counted.size) return false;
  for (const [name, counter] of counted) {
    const other = noted.get(name);
    if (other === undefined || !isAtLeast(other, counter)) return false;
    if (isComplete && counterText(other) !== counterText(counter)) return false;
    // An earlier version may have kept other times.
    if (note === "pruned" && !hasSameEnd(other, counter)) return false;
  }
  return true;
}

const counterText = ({ count, seq, times, sum, amounts }: Counter): string =>
  JSON.stringify([count, seq, times, sum, amounts]);

const isAtLeast = (noted: Counter, { count, sum = 0 }: Counter): boolean =>
  noted.count >= count && (noted.sum ?? 0) >= sum;

/** The last record that increments a counter is still there, and so are the newest times. */
function hasSameEnd(noted: Counter, { seq, times = [] }: Counter): boolean {
  const newest = times.length === 0 ? [] : (noted.times ?? []).slice(-times.length);
  return noted.seq === seq && JSON.stringify(newest) === JSON.stringify(times);
}

/** A part of a segment: whole lines from `from` (inclusive) to `to` (exclusive). */
interface SegmentPart {
  readonly first: number;
  readonly from: number;
  readonly to: number;
}

function listParts(log: string, end: CountedUpTo, before: CountedUpTo | undefined): readonly SegmentPart[] {
  return listSegments(log)
    .filter((first) => first <= end.segment && first >= (before?.segment ?? 0))
    .map((first) => ({
      first,
      from: first === before?.segment ? before.bytes : 0,
      to: Math.min(
        first === end.segment ? end.bytes : Infinity,
        statSync(`${log}/${segmentName(first)}`).size,
      ),
    }));
}

const countedMarker = Buffer.from('"counted":[');
/** A chunk with none of these counts nothing and has no note. */
const markers = [countedMarker, Buffer.from('"kind":"note"')];
/** Takes some ten milliseconds, if every record counts something. */
const chunkSize = 1024 * 1024;

/** Whole lines, and how much of the part was read. */
interface Chunk {
  readonly bytes: Buffer;
  readonly read: number;
}

/** Reads whole lines in chunks. */
export function* readChunks(log: string, { first, from, to }: SegmentPart): Generator<Chunk> {
  const fd = openRegularFile(`${log}/${segmentName(first)}`, "r");
  try {
    let buffer = Buffer.allocUnsafe(Math.min(chunkSize, to - from));
    let filled = 0;
    for (let start = from; start + filled < to;) {
      const room = Math.min(buffer.length - filled, to - start - filled);
      const count = readSync(fd, buffer, filled, room, start + filled);
      if (count === 0) break;
      filled += count;
      const end = buffer.subarray(0, filled).lastIndexOf("\n") + 1;
      yield { bytes: buffer.subarray(0, end), read: start + end - from };
      buffer.copyWithin(0, end, filled);
      start += end;
      filled -= end;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    }
  } finally {
    closeSync(fd);
  }
}

export function* linesIn(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  for (let end = bytes.indexOf("\n"); end !== -1; end = bytes.indexOf("\n", start)) {
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}
