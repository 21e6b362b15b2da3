import { closeSync, fstatSync } from "node:fs";
import { readChunks, linesIn } from "./count-records.js";
import { readAt, systemFiles } from "./files.js";
import { listSegments, segmentName } from "./segments.js";
import { runInSlices } from "./slices.js";
import { damagedLogError } from "./store-errors.js";
import type { Prunable } from "../../../model/store.js";
import { microsecondsOf } from "../../../record/timestamp.js";
import { LogVerifier } from "../../../record/verify-log.js";
import { openRegularFile } from "../../regular-file.js";

/** Old segments that may be removed: all of their records are expired and unchanged. */
export interface ExpiredSegments extends Prunable {
  /** The first record of the oldest segment. */
  readonly first: number;
}

/**
 * Finds the oldest complete segments of which every record is older than `before`, in microseconds since 1970; undefined
 * if there are none. Normally reads only the end of the oldest segment. Of those that can be removed it reads every
 * record, and throws if one was changed: removing it would destroy evidence.
 */
export async function findExpired(log: string, before: number): Promise<ExpiredSegments | undefined> {
  // The last one is open.
  const segments = listSegments(log);
  const complete = segments.slice(0, -1);
  const kept = complete.findIndex((first) => !(lastTime(`${log}/${segmentName(first)}`) < before));
  const candidates = complete.slice(0, Math.min(kept === -1 ? Infinity : kept, maxSegments));
  if (candidates.length === 0) return undefined;
  const { count, bytes } = await runInSlices(scanSegments(log, candidates, before));
  const [first = 1] = segments;
  if (count === 0) return undefined;
  const through = (segments[count] ?? first) - 1;
  return { first, through, records: through - first + 1, bytes };
}

/** More are left to the next search, so that none takes longer than a few seconds. */
const maxSegments = 16;

/** Most lines are shorter. */
const initialReadLength = 16 * 1024;

/** Returns the time of the last record of a segment; NaN if it is not readable. */
function lastTime(path: string): number {
  const fd = openRegularFile(path, "r");
  try {
    const { size } = fstatSync(fd);
    for (let length = initialReadLength; ; length *= 16) {
      const bytes = readAt(systemFiles, fd, size - length, length);
      const start = bytes.lastIndexOf("\n", -2) + 1;
      if (start > 0 || length >= size) return timeOf(bytes.subarray(start));
    }
  } finally {
    closeSync(fd);
  }
}

const leadingTime = /^\{"seq":\d+,"kind":"[a-z_]+","record_id":"[^"]*","timestamp":"([^"]*)"/;

const timeOf = (line: Buffer): number =>
  microsecondsOf(leadingTime.exec(line.toString("latin1", 0, 160))?.[1] ?? "");

/** Counts the segments, from the oldest, that have only unchanged records before a time. Yields after every chunk. */
function* scanSegments(
  log: string,
  segments: readonly number[],
  before: number,
): Generator<void, { readonly count: number; readonly bytes: number }> {
  const verifier = new LogVerifier([]);
  let total = 0;
  for (const [count, first] of segments.entries()) {
    const file = segmentName(first);
    verifier.beginFile(file, first);
    let bytes = 0;
    let number = 0;
    for (const chunk of readChunks(log, { first, from: 0, to: Infinity })) {
      for (const line of linesIn(chunk.bytes)) {
        verifier.verifyLine(line, file, ++number);
        const [problem] = verifier.problems;
        if (problem !== undefined) throw damagedLogError(log, problem.message);
        if (!(timeOf(line) < before)) return { count, bytes: total };
      }
      bytes = chunk.read;
      yield;
    }
    total += bytes;
  }
  return { count: segments.length, bytes: total };
}
