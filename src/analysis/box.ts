import type { CellSet } from "./cell-set.js";
import { areEqualSets, intersectSets, isEmptySet, isSubset, setsMeet, uniteSets } from "./cell-set.js";

/** A region: the values of each dimension that it names, and all values of the others. Its sets are not empty. */
export interface Box {
  /** In ascending order. */
  readonly dimensions: readonly number[];
  readonly sets: readonly CellSet[];
}

export const everything: Box = { dimensions: [], sets: [] };

export const boxOf = (dimension: number, set: CellSet): Box => ({ dimensions: [dimension], sets: [set] });

export function setIn({ dimensions, sets }: Box, dimension: number): CellSet | undefined {
  const index = dimensions.indexOf(dimension);
  return index === -1 ? undefined : sets[index];
}

const noSet: CellSet = [];

/** How much work an operation on a box is: its dimensions, and the ranges in its sets. */
export const boxSize = ({ dimensions, sets }: Box): number =>
  sets.reduce((sum, set) => sum + (set.length >> 2), dimensions.length);

/** Calls `visit` for each dimension of either box; stops when it returns false. */
function zip(
  a: Box,
  b: Box,
  visit: (dimension: number, a: CellSet | undefined, b: CellSet | undefined) => boolean,
): boolean {
  for (let i = 0, j = 0; i < a.dimensions.length || j < b.dimensions.length;) {
    const ofA = a.dimensions[i] ?? Infinity;
    const ofB = b.dimensions[j] ?? Infinity;
    const dimension = Math.min(ofA, ofB);
    const goesOn = visit(
      dimension,
      ofA === dimension ? (a.sets[i] ?? noSet) : undefined,
      ofB === dimension ? (b.sets[j] ?? noSet) : undefined,
    );
    if (!goesOn) return false;
    if (ofA === dimension) i++;
    if (ofB === dimension) j++;
  }
  return true;
}

/** Returns the common part of two boxes; undefined if there is none. */
export function intersectBoxes(a: Box, b: Box): Box | undefined {
  if (a.dimensions.length === 0) return b;
  if (b.dimensions.length === 0) return a;
  const dimensions: number[] = [];
  const sets: CellSet[] = [];
  const meets = zip(a, b, (dimension, ofA, ofB) => {
    const set = ofA && ofB ? intersectSets(ofA, ofB) : (ofA ?? ofB ?? noSet);
    dimensions.push(dimension);
    sets.push(set);
    return !isEmptySet(set);
  });
  return meets ? { dimensions, sets } : undefined;
}

export const boxesMeet = (a: Box, b: Box): boolean =>
  zip(a, b, (_, ofA, ofB) => ofA === undefined || ofB === undefined || setsMeet(ofA, ofB));

/** Whether `a` is a part of `b`. */
export const isWithin = (a: Box, b: Box): boolean =>
  zip(a, b, (_, ofA, ofB) => ofB === undefined || (ofA !== undefined && isSubset(ofA, ofB)));

/** Returns one box for two that differ in at most one dimension which both name; undefined if there is none. */
function mergeBoxes(a: Box, b: Box): Box | undefined {
  if (a.dimensions.length !== b.dimensions.length) return undefined;
  let differing = -1;
  for (let index = 0; index < a.dimensions.length; index++) {
    if (a.dimensions[index] !== b.dimensions[index]) return undefined;
    if (areEqualSets(a.sets[index] ?? noSet, b.sets[index] ?? noSet)) continue;
    if (differing !== -1) return undefined;
    differing = index;
  }
  if (differing === -1) return a;
  const united = uniteSets(a.sets[differing] ?? noSet, b.sets[differing] ?? noSet);
  return { dimensions: a.dimensions, sets: a.sets.map((set, index) => (index === differing ? united : set)) };
}

/** With more boxes than this, a new box is not compared with all others. */
const maxCompared = 48;

/** Adds a box to a union of boxes; leaves out what others contain, and merges it with another where that is possible. */
export function addBox(union: Box[], box: Box): void {
  if (union.length > maxCompared) {
    union.push(box);
    return;
  }
  for (let index = 0; index < union.length; index++) {
    const other = union[index];
    if (other === undefined) continue;
    if (isWithin(box, other)) return;
    const merged = isWithin(other, box) ? box : mergeBoxes(box, other);
    if (merged === undefined) continue;
    union.splice(index, 1);
    addBox(union, merged);
    return;
  }
  union.push(box);
}
