import type { CellSet } from "./cell-set.js";
import { cellsOf, hasCell, uniteSets } from "./cell-set.js";
import type { Cell, PathDimension } from "./dimension.js";
import { nextNumber } from "./dimension.js";
import { commonTexts, naturalOrder, valueIn } from "./witness.js";
import { isList, isObject } from "../expression/equal.js";
import type { Json } from "../model/json.js";

/** A value near the current one; undefined: the path has no value. */
export interface NearValue {
  readonly value: Json | undefined;
  /** Below 1 for numbers; 1 for other values of the same type; more where the type changes or a value is removed. */
  readonly distance: number;
}

/**
 * Returns the value of some cells that is nearest to the current value: of numbers the one at the border. Where that is
 * not a whole number, the nearest whole number of its cell follows.
 */
export function nearestValues(
  cells: CellSet,
  dimension: PathDimension,
  current: Json | undefined,
): readonly NearValue[] {
  let nearest: NearValue | undefined;
  let at: Cell | undefined;
  for (const index of cellsOf(cells)) {
    const cell = dimension.cells[index];
    if (cell === undefined) continue;
    const value = valueNear(cell, dimension, current);
    const distance =
      distanceOf(value, current) + rankOf(index, dimension, current) + unlikelihood(cell, value, current);
    if (nearest !== undefined && distance >= nearest.distance) continue;
    nearest = { value, distance };
    at = cell;
  }
  if (nearest === undefined) return [];
  const whole = at?.type === "numbers" ? wholeNumberIn(at, nearest.value) : undefined;
  return whole === undefined ? [nearest] : [nearest, { value: whole, distance: nearest.distance + 0.01 }];
}

/** Texts that are compared with come first, and numbers that need no more decimals than those around them. */
function unlikelihood(cell: Cell, value: Json | undefined, current: Json | undefined): number {
  if (cell.type === "texts") return typeof value === "string" && commonTexts.includes(value) ? 0.05 : 0.06;
  if (cell.type !== "numbers" || typeof value !== "number") return 0;
  // Without a current number, one that is compared with comes first.
  if (typeof current !== "number") return 0.01;
  return decimalsOf(value) > Math.max(...[cell.above, cell.below, current].map(decimalsOf)) ? 0.5 : 0;
}

/** Returns how far a value is from the current one. */
export function distanceOf(value: Json | undefined, current: Json | undefined): number {
  if (value === undefined) return 2 + lostValues(current);
  if (value === null) return 2.5 + lostValues(current);
  if (current === undefined || current === null) return 2;
  if (typeof value === "number" && typeof current === "number") {
    const change = Math.abs(value - current);
    return Number.isFinite(change) ? change / (change + Math.max(Math.abs(current), 1)) : 1;
  }
  if (typeOf(value) !== typeOf(current)) return 3 + lostValues(current);
  if (isList(value) && isList(current)) return 1 + differingItems(value, current) / 10;
  return isObject(current) ? 2 + lostValues(current) : 1;
}

/** The parts of an object or a list that another value replaces. */
const lostValues = (current: Json | undefined): number =>
  typeof current === "object" && current !== null ? Object.keys(current).length / 10 : 0;

function differingItems(some: readonly Json[], others: readonly Json[]): number {
  const keysOf = (items: readonly Json[]): ReadonlySet<string> =>
    new Set(items.map((item) => JSON.stringify(item)));
  const [a, b] = [keysOf(some), keysOf(others)];
  return [...a].filter((item) => !b.has(item)).length + [...b].filter((item) => !a.has(item)).length;
}

const typeOf = (value: Json): string => (isList(value) ? "list" : isObject(value) ? "object" : typeof value);

/** A type that the path is compared with comes first where the type is not that of the current value. */
function rankOf(cell: number, dimension: PathDimension, current: Json | undefined): number {
  const sets = naturalOrder(dimension);
  if (current !== undefined && current !== null && hasCell(typeSetOf(current, dimension), cell)) return 0;
  return sets.findIndex((set) => hasCell(set, cell)) * 0.05;
}

function typeSetOf(value: Json, { numbers, texts, booleans, empty, container }: PathDimension): CellSet {
  switch (typeof value) {
    case "number":
      return numbers;
    case "string":
      return texts;
    case "boolean":
      return booleans;
    default:
      return uniteSets(empty, container);
  }
}

function valueNear(cell: Cell, dimension: PathDimension, current: Json | undefined): Json | undefined {
  switch (cell.type) {
    case "missing":
      return undefined;
    case "numbers":
      return nearestNumber(cell, current);
    case "empty":
      return isList(current) ? [] : {};
    case "container":
      return isList(current) ? [1] : valueIn(cell, dimension);
    case "null":
    case "boolean":
    case "number":
    case "text":
    case "texts":
      return valueIn(cell, dimension);
  }
}

interface Interval {
  readonly above: number;
  readonly below: number;
}

/** Returns the number between two others that is nearest to the current value, with no more digits than they have. */
function nearestNumber({ above, below }: Interval, current: Json | undefined): number {
  const from = typeof current === "number" ? current : undefined;
  if (from !== undefined && from > above && from < below) return from;
  if (above === -Infinity && below === Infinity) return 0;
  const isUpwards = above !== -Infinity && (from === undefined || from <= above);
  const least = from === undefined ? 0 : decimalsOf(from);
  return isUpwards ? stepUp({ above, below }, least) : -stepUp({ above: -below, below: -above }, least);
}

/** Returns the smallest number above a border that has few decimals. */
function stepUp({ above, below }: Interval, leastDecimals: number): number {
  for (let decimals = Math.max(decimalsOf(above), leastDecimals); decimals <= maxDecimals; decimals++) {
    const next = Number((above + 10 ** -decimals).toFixed(decimals));
    if (next > above && next < below) return next;
  }
  return nextNumber(above);
}

const maxDecimals = 15;

/** Returns how many decimals a number is written with. */
export function decimalsOf(value: number): number {
  const [, decimals = "", exponent = "0"] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return Math.min(maxDecimals, Math.max(0, decimals.length - Number(exponent)));
}

/** Returns the whole number between two others that is nearest to a number which is not whole. */
function wholeNumberIn({ above, below }: Interval, value: Json | undefined): number | undefined {
  if (typeof value !== "number" || Number.isInteger(value)) return undefined;
  return [Math.ceil(value), Math.floor(value)].find((whole) => whole > above && whole < below);
}
