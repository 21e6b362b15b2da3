/**
 * A set of cells of one dimension: ranges in ascending order that neither overlap nor touch, as
 * `[first, last, first, last, …]`. Never changed.
 */
export type CellSet = readonly number[];

export const noCells: CellSet = Object.freeze([]);

export const cellRange = (first: number, last: number): CellSet => (first > last ? noCells : [first, last]);

export const allCells = (size: number): CellSet => cellRange(0, size - 1);

export const isEmptySet = (set: CellSet): boolean => set.length === 0;

const at = (set: CellSet, index: number): number => set[index] ?? Infinity;

export function intersectSets(a: CellSet, b: CellSet): CellSet {
  if (a === b) return a;
  const result: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const first = Math.max(at(a, i), at(b, j));
    const last = Math.min(at(a, i + 1), at(b, j + 1));
    if (first <= last) result.push(first, last);
    if (at(a, i + 1) < at(b, j + 1)) i += 2;
    else j += 2;
  }
  return result;
}

export const uniteSets = (a: CellSet, b: CellSet): CellSet =>
  a.length === 0 ? b : b.length === 0 ? a : uniteAll([a, b]);

/** Unites many sets in one pass. */
export function uniteAll(sets: readonly CellSet[]): CellSet {
  const [only = noCells] = sets;
  if (sets.length <= 1) return only;
  const ranges: (readonly [number, number])[] = [];
  for (const set of sets) {
    for (let index = 0; index < set.length; index += 2) ranges.push([at(set, index), at(set, index + 1)]);
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const result: number[] = [];
  for (const [first, last] of ranges) {
    const end = result.length - 1;
    if (end > 0 && first <= at(result, end) + 1) result[end] = Math.max(at(result, end), last);
    else result.push(first, last);
  }
  return result;
}

export function subtractSets(a: CellSet, b: CellSet): CellSet {
  if (b.length === 0 || a.length === 0) return a;
  const result: number[] = [];
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    let first = at(a, i);
    const last = at(a, i + 1);
    while (j < b.length && at(b, j + 1) < first) j += 2;
    for (let k = j; k < b.length && at(b, k) <= last && first <= last; k += 2) {
      if (first < at(b, k)) result.push(first, at(b, k) - 1);
      first = at(b, k + 1) + 1;
    }
    if (first <= last) result.push(first, last);
  }
  return result;
}

export const complementSet = (set: CellSet, size: number): CellSet => subtractSets(allCells(size), set);

/** Whether the sets have a cell in common. */
export function setsMeet(a: CellSet, b: CellSet): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (at(a, i + 1) < at(b, j)) i += 2;
    else if (at(b, j + 1) < at(a, i)) j += 2;
    else return true;
  }
  return false;
}

/** Whether every cell of `a` is in `b`. */
export function isSubset(a: CellSet, b: CellSet): boolean {
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    while (j < b.length && at(b, j + 1) < at(a, i)) j += 2;
    if (j >= b.length || at(b, j) > at(a, i) || at(b, j + 1) < at(a, i + 1)) return false;
  }
  return true;
}

export const areEqualSets = (a: CellSet, b: CellSet): boolean =>
  a === b || (a.length === b.length && a.every((each, index) => each === b[index]));

export const hasCell = (set: CellSet, cell: number): boolean => setsMeet(set, [cell, cell]);

export function countCells(set: CellSet): number {
  let count = 0;
  for (let index = 0; index < set.length; index += 2) count += at(set, index + 1) - at(set, index) + 1;
  return count;
}

export function* cellsOf(set: CellSet): Generator<number> {
  for (let index = 0; index < set.length; index += 2) {
    for (let cell = at(set, index); cell <= at(set, index + 1); cell++) yield cell;
  }
}
