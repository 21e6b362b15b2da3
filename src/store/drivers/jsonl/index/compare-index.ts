import { existsSync } from "node:fs";
import type { IndexState } from "./index-state.js";
import { matchesLog, readIndexState, statSegments } from "./index-state.js";
import { LogIndex } from "./log-index.js";
import { DamagedIndexError } from "./page-sum.js";
import { postingsFileName } from "./postings.js";
import { readSealedJson } from "./sealed-json.js";
import { findWrongTallies } from "./tally.js";

/** A file that differs from the log, relative to the store's directory. */
interface Difference {
  readonly file: string;
  readonly message: string;
}

const differs = "it differs from the records";
const damaged = "it does not match its checksum";

/** Compares the saved index and the saved tallies with the log, by building the index again. */
export function findIndexDifferences(log: string): readonly Difference[] {
  const found = compareIndex(log);
  return found.map(({ file, message }) => ({ file: `log/index/${file}`, message }));
}

function compareIndex(log: string): readonly Difference[] {
  const directory = `${log}/index`;
  const state = readIndexState(directory);
  if (state === undefined) {
    const path = `${directory}/state.json`;
    const isDamaged = existsSync(path) && readSealedJson(path) === undefined;
    return isDamaged ? [{ file: "state.json", message: damaged }] : [];
  }
  // An index that does not match the log is outdated and never used.
  if (!matchesLog(log, state, statSegments(log))) return [];
  const fresh = new LogIndex(directory, undefined);
  fresh.catchUp(
    log,
    state.segments.map(({ first, bytes, changed_at }) => ({ first, bytes, changedAt: changed_at })),
    { isVerified: true },
  );
  const tallies = findWrongTallies(fresh, state.rows_file).map((file) => ({ file, message: differs }));
  return [...compareWithSaved(directory, state, fresh), ...tallies];
}

function compareWithSaved(directory: string, state: IndexState, fresh: LogIndex): readonly Difference[] {
  let saved: LogIndex | undefined;
  try {
    saved = new LogIndex(directory, state);
    const wrong = isStateRight(state, fresh) ? [] : ["state.json"];
    if (!areRowsEqual(saved, fresh)) wrong.push(state.rows_file);
    if (!areEntriesEqual(saved, fresh)) wrong.push(postingsFileName(state.rows_file));
    else wrong.push(...saved.postings.findWrongTables());
    return wrong.map((file) => ({ file, message: differs }));
  } catch (error) {
    const file = error instanceof DamagedIndexError ? error.file : missingFile(error);
    return [{ file, message: error instanceof DamagedIndexError ? damaged : "it is missing or unreadable" }];
  } finally {
    saved?.close();
  }
}

const missingFile = (error: unknown): string =>
  (error as NodeJS.ErrnoException).path?.replace(/^.*\//, "") ?? "state.json";

function isStateRight(
  state: IndexState,
  { first, hasGaps, hasChanges, lastHash, segments, shapes, count }: LogIndex,
): boolean {
  const found = { first, gaps: hasGaps, changed: hasChanges, last_hash: lastHash };
  const expected = { ...found, rows: count, ...shapes.state };
  const starts = segments.map(({ first: start, rows_from }) => [start, rows_from]);
  const actual: typeof expected = {
    first: state.first,
    gaps: state.gaps,
    changed: state.changed,
    last_hash: state.last_hash,
    rows: state.rows.count,
    shapes: state.shapes,
    counts: state.counts,
    last: state.last,
  };
  const savedStarts = state.segments.map(({ first: start, rows_from }) => [start, rows_from]);
  return JSON.stringify([expected, starts]) === JSON.stringify([actual, savedStarts]);
}

const rowsPerBlock = 64 * 1024;

function areRowsEqual(saved: LogIndex, fresh: LogIndex): boolean {
  if (saved.count !== fresh.count) return false;
  for (let from = 0; from < saved.count; from += rowsPerBlock) {
    const to = Math.min(from + rowsPerBlock, saved.count);
    if (!areNumbersEqual(saved.read(from, to).numbers, fresh.read(from, to).numbers)) return false;
  }
  return true;
}

function areEntriesEqual({ postings: saved }: LogIndex, { postings: fresh }: LogIndex): boolean {
  if (saved.count !== fresh.count) return false;
  for (let from = 0; from < saved.count; from += rowsPerBlock) {
    const to = Math.min(from + rowsPerBlock, saved.count);
    if (!areNumbersEqual(saved.read(from, to), fresh.read(from, to))) return false;
  }
  return true;
}

const areNumbersEqual = (a: Uint32Array, b: Uint32Array): boolean =>
  a.every((number, at) => number === b[at]);
