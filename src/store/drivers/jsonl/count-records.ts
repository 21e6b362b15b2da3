import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Head } from "./head.js";
import { parseRecordLine } from "./index/shapes.js";
import { damagedLogError } from "./store-errors.js";
import { listSegments, segmentName } from "./segments.js";
import type { LogRecord } from "../../../model/record.js";
import type { Count, Counter } from "../../../model/store.js";
import { counterName, incrementCounter, zeroCounter } from "../../../record/counters.js";

/** Reports progress in bytes. */
type Progress = (done: number, total: number) => void;

type CountedUpTo = Pick<Head, "segment" | "bytes">;

/** All counters of a log, and the end of the records that they cover. */
export interface CountedLog {
  readonly counters: Map<string, Counter>;
  readonly end: CountedUpTo;
}

/**
 * Counts what the records up to the head count. A prune notes the counters of that moment, so only the records after
 * the last such note are counted. Continues from `before`, if given. Yields after every chunk.
 */
export function* countLog(
  log: string,
  { segment, bytes }: CountedUpTo,
  { before, progress }: { readonly before?: CountedLog; readonly progress?: Progress | undefined } = {},
): Generator<void, CountedLog> {
  const parts = listParts(log, { segment, bytes }, before?.end);
  const total = parts.reduce((sum, { from, to }) => sum + to - from, 0);
  let { counters = new Map<string, Counter>() } = before ?? {};
  let done = 0;
  for (const part of parts) {
    for (const { lines, read } of readChunks(log, part)) {
      for (const line of lines) {
        const record = parseRecordLine(line) as CountedRecord | undefined;
        if (record === undefined) throw damagedLogError(log, "a record is not readable");
        const noted = countersInNote(record);
        if (noted !== undefined) counters = new Map(Object.entries(noted));
        countEntry(counters, record.counted ?? [], record.seq);
      }
      progress?.(done + read, total);
      yield;
    }
    done += part.to - part.from;
  }
  return { counters, end: { segment, bytes } };
}

type CountedRecord = LogRecord & { readonly counted?: readonly Count[] };

/** Returns the counters in the note of a prune. */
function countersInNote(record: LogRecord): Readonly<Record<string, Counter>> | undefined {
  if (record.kind !== "note" || record.note !== "pruned") return undefined;
  return record.details["counters"] as unknown as Readonly<Record<string, Counter>> | undefined;
}

/** Increments counters in place. */
export function countEntry(counters: Map<string, Counter>, counted: readonly Count[], seq: number): void {
  for (const count of counted) {
    const name = counterName(count);
    counters.set(name, incrementCounter(counters.get(name) ?? zeroCounter, count, seq));
  }
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

/** A record with one of these texts may count something, or be the note of a prune. */
const markers = [Buffer.from('"counted":['), Buffer.from('"note":"pruned"')];
/** Takes some ten milliseconds, if every record counts something. */
const chunkSize = 1024 * 1024;

/** The lines of a chunk that have a marker, and how much of the part was read. */
interface Chunk {
  readonly lines: Iterable<string>;
  readonly read: number;
}

function* readChunks(log: string, { first, from, to }: SegmentPart): Generator<Chunk> {
  const fd = openSync(`${log}/${segmentName(first)}`, "r");
  try {
    let buffer = Buffer.allocUnsafe(Math.min(chunkSize, to - from));
    let filled = 0;
    for (let start = from; start + filled < to;) {
      const room = Math.min(buffer.length - filled, to - start - filled);
      const count = readSync(fd, buffer, filled, room, start + filled);
      if (count === 0) break;
      filled += count;
      const end = buffer.subarray(0, filled).lastIndexOf("\n") + 1;
      yield { lines: markedLines(buffer.subarray(0, end)), read: start + end - from };
      buffer.copyWithin(0, end, filled);
      start += end;
      filled -= end;
      if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    }
  } finally {
    closeSync(fd);
  }
}

function* markedLines(bytes: Buffer): Generator<string> {
  const places = markers.map((marker) => bytes.indexOf(marker));
  for (;;) {
    const found = places.filter((place) => place !== -1);
    if (found.length === 0) return;
    const at = Math.min(...found);
    const end = bytes.indexOf("\n", at);
    yield bytes.toString("utf8", bytes.lastIndexOf("\n", at) + 1, end);
    for (const [number, marker] of markers.entries()) {
      const place = places[number] ?? -1;
      if (place !== -1 && place < end) places[number] = bytes.indexOf(marker, end);
    }
  }
}
