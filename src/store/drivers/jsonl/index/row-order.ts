import type { Query } from "../../../../model/store.js";
import type { LogIndex } from "./log-index.js";
import { relatedRows } from "./related-rows.js";
import type { Rows } from "./rows.js";
import type { Shape } from "./shapes.js";

/** Where a line is. */
export interface Place {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  /** The number that the record there should have. */
  readonly seq: number;
}

const block = 8 * 1024;

/** The places of all records that may fit, as far as the index can tell. */
export function* rowsOf(
  index: LogIndex,
  query: Query,
  direction: "forwards" | "backwards",
): Generator<Place> {
  // In a damaged log a record need not stand where its number says.
  const from = index.gaps ? 0 : Math.max(0, (query.after ?? 0) + 1 - index.first);
  const wanted = Uint8Array.from(index.shapes.list, (shape) => (mayFit(shape, query) ? 1 : 0));
  if (!wanted.includes(1)) return;
  const chain = chainOf(index, query, { from, direction });
  if (chain !== undefined) {
    for (const number of chain) {
      const { rows, row } = index.rows.at(number);
      if (wanted[rows.shape(row)] === 1 && isWithin(rows.time(row), query))
        yield placeOf(index, rows, row, number);
    }
    return;
  }
  for (const { start, rows, order } of blocksOf(index, from, direction)) {
    for (const row of order) {
      if (wanted[rows.shape(row)] === 1 && isWithin(rows.time(row), query))
        yield placeOf(index, rows, row, start + row);
    }
  }
}

const isWithin = (time: number, { since = -Infinity, until = Infinity }: Query): boolean =>
  time >= since && time <= until;

/** The numbers of the rows that come into question, where something leads from one to the next. */
function chainOf(
  index: LogIndex,
  { session_id, decision_id }: Query,
  { from, direction }: { readonly from: number; readonly direction: "forwards" | "backwards" },
): Iterable<number> | undefined {
  if (session_id !== undefined) {
    const rows = downTo(from, relatedRows(index, { session_id }));
    return direction === "backwards" ? rows : [...rows].reverse();
  }
  if (direction === "forwards" || decision_id === undefined) return undefined;
  return downTo(from, chained(index, decision_id));
}

function* downTo(from: number, numbers: Iterable<number>): Generator<number> {
  for (const number of numbers) {
    if (number < from) return;
    yield number;
  }
}

/** From the last record of the decision to the one before, and so on. */
function* chained(index: LogIndex, decisionId: string): Generator<number> {
  for (let next = index.shapes.last.get(decisionId) ?? 0; next > 0;) {
    const number = next - 1;
    const { rows, row } = index.rows.at(number);
    next = rows.before(row);
    yield number;
  }
}

/** Where the line of a row is; `row` is its place among the rows that are given. */
export function placeOf(index: LogIndex, rows: Rows, row: number, number: number): Place {
  return {
    segment: index.segmentOf(number),
    offset: rows.offset(row),
    length: rows.length(row),
    seq: index.first + number,
  };
}

function mayFit(shape: Shape, { kind, decision_id, label, type }: Query): boolean {
  // What cannot be read may be anything, so it is not missing only where anything is asked for.
  if (shape.kind === "unreadable")
    return [kind, decision_id, label, type].every((each) => each === undefined);
  if (kind !== undefined && shape.kind !== kind) return false;
  if (decision_id !== undefined && shape.decision_id !== decision_id) return false;
  if (label !== undefined && !shape.labels?.includes(label)) return false;
  return type === undefined || shape.type === type;
}

function* blocksOf(
  index: LogIndex,
  from: number,
  direction: "forwards" | "backwards",
): Generator<{ start: number; rows: Rows; order: Iterable<number> }> {
  const starts: number[] = [];
  for (let start = from; start < index.count; start += block) starts.push(start);
  if (direction === "backwards") starts.reverse();
  for (const start of starts) {
    const rows = index.read(start, Math.min(start + block, index.count));
    const order = [...Array(rows.count).keys()];
    yield { start, rows, order: direction === "backwards" ? order.reverse() : order };
  }
}
