import { sha256Hex } from "../../../../digest/sha256.js";
import type { Tally, TimeRange } from "../../../../model/store.js";
import { TallyBuilder } from "../../../../record/tally.js";
import { DigestSet } from "./digest-set.js";
import type { LogIndex } from "./log-index.js";
import type { Rows } from "./rows.js";
import { digestAt, numbersPerRow, shapeAt } from "./rows.js";
import { readDoubled, writeDoubled } from "../../../doubled-file.js";

const block = 64 * 1024;

/** How many records, and how many distinct inputs, had each shape; up to a row. */
interface Counted {
  readonly rows_file: string;
  readonly through: number;
  readonly records: Readonly<Record<string, number>>;
  readonly distinct: Readonly<Record<string, number>>;
}

/** How often each branch was taken. Without a range, what was counted before is only added to. */
export function tallyOf(index: LogIndex, decisionId: string, range: TimeRange): Tally {
  const shapes = shapesOf(index, decisionId);
  if (range.since !== undefined || range.until !== undefined) {
    return asTally(index, countRows(index, shapes, { from: 0, range }));
  }
  const path = `${index.directory}/tally-${sha256Hex(JSON.stringify(decisionId))}.json`;
  const known = readCounted(path, index);
  const last = index.shapes.last.get(decisionId) ?? 0;
  if (known !== undefined && last <= known.through) return asTally(index, known);
  const counted =
    known === undefined ? countRows(index, shapes, { from: 0, range }) : addNew(index, shapes, known);
  keep(path, counted);
  return asTally(index, counted);
}

function shapesOf(index: LogIndex, decisionId: string): Uint8Array {
  return Uint8Array.from(index.shapes.list, (shape) => (shape.decision_id === decisionId ? 1 : 0));
}

function readCounted(path: string, { rowsFile, count }: LogIndex): Counted | undefined {
  const counted = readDoubled(path) as Counted | undefined;
  return counted?.rows_file === rowsFile && counted.through <= count ? counted : undefined;
}

/** What cannot be kept is counted again next time. */
function keep(path: string, counted: Counted): void {
  try {
    writeDoubled(path, counted);
  } catch {
    return;
  }
}

interface Span {
  readonly from: number;
  readonly range: TimeRange;
  /** Inputs that were counted before. */
  readonly seen?: DigestSet;
}

function countRows(
  index: LogIndex,
  shapes: Uint8Array,
  { from, range, seen = new DigestSet() }: Span,
): Counted {
  const { since = -Infinity, until = Infinity } = range;
  const records = new Float64Array(shapes.length);
  const distinct = new Float64Array(shapes.length);
  forRows(index, shapes, { from, to: index.count }, (rows, row, shape) => {
    const time = rows.time(row);
    if (time < since || time > until) return;
    records[shape] = (records[shape] ?? 0) + 1;
    if (seen.add(rows.digestLow(row), rows.digestHigh(row))) distinct[shape] = (distinct[shape] ?? 0) + 1;
  });
  return {
    rows_file: index.rowsFile,
    through: index.count,
    records: asObject(records),
    distinct: asObject(distinct),
  };
}

/** Of the new rows' inputs, those that an old row has are not new; only these need be remembered. */
function addNew(index: LogIndex, shapes: Uint8Array, known: Counted): Counted {
  const fresh = new DigestSet();
  forRows(index, shapes, { from: known.through, to: index.count }, (rows, row) => {
    fresh.add(rows.digestLow(row), rows.digestHigh(row));
  });
  const seen = new DigestSet();
  // A digest says which decision it is of, so all rows can be asked.
  for (let start = 0; start < known.through; start += block) {
    const { numbers, count } = index.read(start, Math.min(start + block, known.through));
    for (let row = 0, at = digestAt; row < count; row++, at += numbersPerRow) {
      const low = numbers[at] ?? 0;
      const high = numbers[at + 1] ?? 0;
      if (fresh.has(low, high)) seen.add(low, high);
    }
  }
  const added = countRows(index, shapes, { from: known.through, range: {}, seen });
  return {
    ...added,
    records: sum(known.records, added.records),
    distinct: sum(known.distinct, added.distinct),
  };
}

type OnRow = (rows: Rows, row: number, shape: number) => void;

function forRows(
  index: LogIndex,
  shapes: Uint8Array,
  { from, to }: { from: number; to: number },
  onRow: OnRow,
): void {
  for (let start = from; start < to; start += block) {
    const rows = index.read(start, Math.min(start + block, to));
    const { numbers, count } = rows;
    for (let row = 0, at = shapeAt; row < count; row++, at += numbersPerRow) {
      const shape = numbers[at] ?? 0;
      if (shapes[shape] === 1) onRow(rows, row, shape);
    }
  }
}

function asObject(counts: Float64Array): Record<string, number> {
  return Object.fromEntries([...counts.entries()].filter(([, count]) => count > 0));
}

function sum(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const sums: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) sums[key] = (sums[key] ?? 0) + count;
  return sums;
}

function asTally(index: LogIndex, { records, distinct }: Counted): Tally {
  const builder = new TallyBuilder();
  for (const [number, count] of Object.entries(records)) {
    const { definition_hash = "", labels = [] } = index.shapes.list[Number(number)] ?? {};
    builder.add(definition_hash, labels, { count, distinct: distinct[number] ?? 0 });
  }
  return builder.tally();
}
