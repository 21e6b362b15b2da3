import type { KeyHash } from "./key-hash.js";
import { hashesForKey } from "./key-hash.js";
import type { LogIndex } from "./log-index.js";
import type { Postings } from "./postings.js";
import type { Rows } from "./rows.js";
import type { Shape } from "./shapes.js";
import type { Query, RecordKey } from "../../../../model/store.js";

/** The location of a line. */
export interface LineLocation {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  /** The sequence number that the record should have. */
  readonly seq: number;
  /** The segment of the line after it, and where that ends; absent for the last line. */
  readonly next?: LineEnd | undefined;
}

/** Where a line ends, without its newline. */
export interface LineEnd {
  readonly segment: number;
  readonly end: number;
}

/** A few pages: most queries end after the first ones. */
const rowsPerBlock = 1024;

/** Yields the locations of records that may match a query, according to the index. */
export function* matchingLocations(
  index: LogIndex,
  query: Query,
  direction: "forwards" | "backwards",
): Generator<LineLocation> {
  // In a damaged log the row number does not determine the sequence number.
  const from = index.hasGaps ? 0 : Math.max(0, (query.after ?? 0) + 1 - index.first);
  const matchingShapes = Uint8Array.from(index.shapes.list, (shape) => (canShapeMatch(shape, query) ? 1 : 0));
  if (!matchingShapes.includes(1)) return;
  const chain = candidateRows(index, query, { from, direction });
  if (chain !== undefined) {
    for (const number of chain) {
      const { rows, row } = index.rows.at(number);
      if (matchingShapes[rows.shape(row)] === 1 && isInTimeRange(rows.time(row), query))
        yield locateLine(index, rows, row, number);
    }
    return;
  }
  for (const { start, rows, order } of readBlocks(index, from, direction)) {
    for (const row of order) {
      if (matchingShapes[rows.shape(row)] === 1 && isInTimeRange(rows.time(row), query))
        yield locateLine(index, rows, row, start + row);
    }
  }
}

const isInTimeRange = (time: number, { since = -Infinity, until = Infinity }: Query): boolean =>
  time >= since && time <= until;

/** Returns the rows that the index links for a session or a decision; undefined if all rows must be scanned. */
function candidateRows(
  index: LogIndex,
  { session_id, decision_id }: Query,
  { from, direction }: { readonly from: number; readonly direction: "forwards" | "backwards" },
): Iterable<number> | undefined {
  if (session_id !== undefined) {
    const rows = takeDownTo(from, relatedRows(index, { session_id }));
    return direction === "backwards" ? rows : [...rows].reverse();
  }
  if (direction === "forwards" || decision_id === undefined) return undefined;
  return takeDownTo(from, rowsOfDecision(index, decision_id));
}

function* takeDownTo(from: number, numbers: Iterable<number>): Generator<number> {
  for (const number of numbers) {
    if (number < from) return;
    yield number;
  }
}

/** Follows the links from the last row of a decision to the first. */
function* rowsOfDecision(index: LogIndex, decisionId: string): Generator<number> {
  for (let next = index.shapes.lastRows.get(decisionId) ?? 0; next > 0;) {
    const number = next - 1;
    const { rows, row } = index.rows.at(number);
    next = rows.previous(row);
    yield number;
  }
}

/** Returns the location of a line. `row` is the position in `rows`, `number` the row number in the index. */
export function locateLine(index: LogIndex, rows: Rows, row: number, number: number): LineLocation {
  return {
    segment: index.segmentOf(number),
    offset: rows.offset(row),
    length: rows.length(row),
    seq: index.first + number,
    next: number + 1 < index.count ? locateEnd(index, number + 1) : undefined,
  };
}

function locateEnd(index: LogIndex, number: number): LineEnd {
  const { rows, row } = index.rows.at(number);
  return { segment: index.segmentOf(number), end: rows.offset(row) + rows.length(row) };
}

function canShapeMatch(shape: Shape, { kind, decision_id, label, type }: Query): boolean {
  // An unreadable line can be anything, so it is a candidate only for a query without these filters.
  if (shape.kind === "unreadable")
    return [kind, decision_id, label, type].every((each) => each === undefined);
  if (kind !== undefined && shape.kind !== kind) return false;
  if (decision_id !== undefined && shape.decision_id !== decision_id) return false;
  if (label !== undefined && !shape.labels?.includes(label)) return false;
  return type === undefined || shape.type === type;
}

function* readBlocks(
  index: LogIndex,
  from: number,
  direction: "forwards" | "backwards",
): Generator<{ start: number; rows: Rows; order: Iterable<number> }> {
  const starts: number[] = [];
  for (let start = from; start < index.count; start += rowsPerBlock) starts.push(start);
  if (direction === "backwards") starts.reverse();
  for (const start of starts) {
    const rows = index.read(start, Math.min(start + rowsPerBlock, index.count));
    const order = [...Array(rows.count).keys()];
    yield { start, rows, order: direction === "backwards" ? order.reverse() : order };
  }
}

/** Yields the rows that have a key, newest first. Hash collisions can add rows with other keys. */
export function* relatedRows(index: LogIndex, key: RecordKey): Generator<number> {
  const rows = new RowsWithKeys(index.postings, hashesForKey(key, index.shapes.lastRows.keys()));
  while (rows.next()) if (rows.row < index.count) yield rows.row;
}

/** Merges the postings of several keys: visits each row that has any of them once, newest first. */
export class RowsWithKeys {
  /** The current row, one of its entries, and how many of the keys it has. */
  row = -1;
  entry = -1;
  shared = 0;
  readonly #postings: Postings;
  /** The next entry of each key and its row; -1 if there are no more. */
  readonly #entries: number[] = [];
  readonly #rows: number[] = [];

  constructor(postings: Postings, keys: readonly KeyHash[]) {
    this.#postings = postings;
    for (const key of keys) {
      const entry = postings.last(key) - 1;
      if (entry === -1) continue;
      this.#entries.push(entry);
      this.#rows.push(postings.row(entry));
    }
  }

  /** Moves to the next row; returns false at the end. */
  next(): boolean {
    const postings = this.#postings;
    const entries = this.#entries;
    const rows = this.#rows;
    const row = Math.max(-1, ...rows);
    if (row === -1) return false;
    this.row = row;
    this.shared = 0;
    for (let at = 0; at < rows.length; at++) {
      if (rows[at] !== row) continue;
      this.shared++;
      let entry = entries[at] ?? -1;
      this.entry = entry;
      let newest = row;
      while (newest === row) {
        entry = postings.previous(entry) - 1;
        newest = entry === -1 ? -1 : postings.row(entry);
      }
      entries[at] = entry;
      rows[at] = newest;
    }
    return true;
  }
}
