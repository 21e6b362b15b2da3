import type { CellSet } from "./cell-set.js";
import {
  allCells,
  cellRange,
  complementSet,
  hasCell,
  intersectSets,
  noCells,
  subtractSets,
  uniteAll,
  uniteSets,
} from "./cell-set.js";
import { isList, isObject } from "../expression/equal.js";
import type { Literal, Relation } from "../expression/syntax.js";
import type { Json, JsonObject } from "../model/json.js";

/** The result of a condition; an errored one selects no branch. */
export type Truth = "true" | "false" | "errored";

/** A test of the value at one path, whose result depends on nothing else. */
export interface Test {
  readonly kind: TestKind;
  /** Operators of scored rules: whatever cannot be tested is false, not errored. */
  readonly lenient?: true;
  /** The value in place of a missing one or null, as in `get(a, 'b', fallback)`. */
  readonly fallback?: Literal;
}

type TestKind =
  | { readonly type: "compare"; readonly relation: Relation; readonly value: Literal }
  | { readonly type: "in"; readonly values: readonly Literal[] }
  | { readonly type: "between"; readonly low: Literal; readonly high: Literal }
  | { readonly type: "starts_with"; readonly text: string }
  /** The value itself is true or false. */
  | { readonly type: "boolean" }
  | { readonly type: "exists" }
  | { readonly type: "empty" }
  /** True unless the value is missing, where it is errored. */
  | { readonly type: "present" };

/** The values of a path that no test tells apart. */
export type Cell =
  | { readonly type: "missing" | "null" }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "number"; readonly value: number }
  /** The numbers between two others, exclusive. */
  | { readonly type: "numbers"; readonly above: number; readonly below: number }
  | { readonly type: "text"; readonly value: string }
  /** The texts between two others, exclusive. */
  | { readonly type: "texts"; readonly above: string | undefined; readonly below: string | undefined }
  /** `[]` or `{}`; and any other list or object. */
  | { readonly type: "empty" | "container" };

/** A variable of the conditions. */
export type Dimension = PathDimension | OpaqueDimension;

/** A part of a condition that is not analysed: it may be true, false or errored, whatever the values are. */
export interface OpaqueDimension {
  readonly type: "opaque";
  readonly text: string;
  readonly size: 3;
  /** The paths of the context that it reads, with values that may matter to it. */
  readonly variables: readonly SampledPath[];
  /** Its result for a context; absent where it depends on more than the context. */
  readonly truthOf?: ((context: JsonObject) => Truth) | undefined;
}

/** A path with values to try. */
export interface SampledPath {
  readonly segments: readonly string[];
  readonly values: readonly Json[];
}

const opaqueCells: Readonly<Record<Truth, CellSet>> = {
  true: cellRange(0, 0),
  false: cellRange(1, 1),
  errored: cellRange(2, 2),
};

export const opaqueSet = (truth: Truth): CellSet => opaqueCells[truth];

export const opaqueCellOf = (truth: Truth): number => ["true", "false", "errored"].indexOf(truth);

/** The constants that a path is compared with. */
export class Constants {
  readonly numbers = new Set<number>();
  readonly texts = new Set<string>();
  /** Whether the path itself is used as a condition. */
  isBoolean = false;

  add({ kind, fallback }: Test): void {
    if (fallback !== undefined) this.#addLiteral(fallback);
    switch (kind.type) {
      case "compare":
        this.#addLiteral(kind.value);
        break;
      case "in":
        kind.values.forEach((value) => this.#addLiteral(value));
        break;
      case "between":
        this.#addLiteral(kind.low);
        this.#addLiteral(kind.high);
        break;
      case "starts_with":
        this.texts.add(kind.text);
        this.texts.add(afterPrefix(kind.text));
        break;
      case "empty":
        this.texts.add("");
        break;
      case "boolean":
        this.isBoolean = true;
        break;
      case "exists":
      case "present":
        break;
    }
  }

  #addLiteral(value: Literal): void {
    if (typeof value === "number") this.numbers.add(value === 0 ? 0 : value);
    else if (typeof value === "string") this.texts.add(value);
    else if (typeof value === "boolean") this.isBoolean = true;
  }
}

const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** Whether the texts with this prefix are an interval whose end is well-formed text. */
export const isIntervalPrefix = (prefix: string): boolean =>
  prefix !== "" && prefix.charCodeAt(prefix.length - 1) < 0xd7ff;

const missingCell = 0;
const nullCell = 1;
const falseCell = 2;
const trueCell = 3;

/** The values of one path of the context, in cells: missing, null, false, true, numbers, texts, lists and objects. */
export class PathDimension {
  readonly type = "path";
  /** Empty for the context itself. */
  readonly segments: readonly string[];
  readonly constants: Constants;
  readonly cells: readonly Cell[];
  readonly size: number;
  readonly all: CellSet;
  readonly numbers: CellSet;
  readonly texts: CellSet;
  readonly booleans = cellRange(falseCell, trueCell);
  readonly missing = cellRange(missingCell, missingCell);
  readonly null = cellRange(nullCell, nullCell);
  readonly empty: CellSet;
  readonly container: CellSet;
  readonly #points = new Map<Literal, number>();

  constructor(segments: readonly string[], constants: Constants) {
    this.segments = segments;
    this.constants = constants;
    const cells: Cell[] = [
      { type: "missing" },
      { type: "null" },
      { type: "boolean", value: false },
      { type: "boolean", value: true },
    ];
    const add = (added: readonly Cell[]): CellSet => {
      const first = cells.length;
      cells.push(...added);
      return cellRange(first, cells.length - 1);
    };
    this.numbers = add(numberCells([...constants.numbers].sort((a, b) => a - b)));
    this.texts = add(textCells([...constants.texts].sort()));
    this.empty = add([{ type: "empty" }]);
    this.container = add([{ type: "container" }]);
    this.cells = cells;
    this.size = cells.length;
    this.all = allCells(cells.length);
    this.#points.set(null, nullCell).set(false, falseCell).set(true, trueCell);
    for (const [index, cell] of cells.entries()) {
      if (cell.type === "number" || cell.type === "text") this.#points.set(cell.value, index);
    }
  }

  /** Returns the cell of a literal that one of the tests mentions. */
  point(value: Literal): CellSet {
    const cell = this.#points.get(value);
    return cell === undefined ? noCells : cellRange(cell, cell);
  }

  /** Returns the cell of a value; undefined is a missing one. */
  cellOf(value: Json | undefined): number {
    if (value === undefined) return missingCell;
    if (value === null || typeof value === "boolean") return this.point(value)[0] ?? nullCell;
    if (isList(value)) return (value.length === 0 ? this.empty : this.container)[0] ?? 0;
    if (isObject(value)) return (Object.keys(value).length === 0 ? this.empty : this.container)[0] ?? 0;
    const [first = 0, last = 0] = typeof value === "number" ? this.numbers : this.texts;
    return searchCell(this.cells, value, { first, last });
  }

  /** Returns the cells whose values have this result. */
  setOf(test: Test, truth: Truth): CellSet {
    const direct = this.#withoutFallback(test, truth);
    const { fallback } = test;
    if (fallback === undefined) return direct;
    const absent = cellRange(missingCell, nullCell);
    const [instead = nullCell] = this.point(fallback);
    const others = subtractSets(direct, absent);
    return hasCell(direct, instead) ? uniteSets(others, absent) : others;
  }

  #withoutFallback({ kind, lenient }: Test, truth: Truth): CellSet {
    const holds = this.#trueSet(kind);
    if (truth === "true") return holds;
    const errored = lenient ? noCells : this.#erroredSet(kind);
    return truth === "errored" ? errored : complementSet(uniteSets(holds, errored), this.size);
  }

  #trueSet(kind: TestKind): CellSet {
    switch (kind.type) {
      case "compare":
        return this.#relationSet(kind.relation, kind.value);
      case "in":
        return uniteAll(kind.values.map((value) => this.point(value)));
      case "between":
        return typeof kind.low === typeof kind.high
          ? intersectSets(this.#relationSet(">=", kind.low), this.#relationSet("<=", kind.high))
          : noCells;
      case "starts_with":
        return intersectSets(
          this.#relationSet(">=", kind.text),
          this.#relationSet("<", afterPrefix(kind.text)),
        );
      case "boolean":
        return cellRange(trueCell, trueCell);
      case "exists":
        return cellRange(falseCell, this.size - 1);
      case "empty":
        return uniteAll([cellRange(missingCell, nullCell), this.point(""), this.empty]);
      case "present":
        return cellRange(nullCell, this.size - 1);
    }
  }

  #relationSet(relation: Relation, value: Literal): CellSet {
    const [point = 0] = this.point(value);
    const [first = 0, last = -1] = this.#ordered(value);
    switch (relation) {
      case "==":
        return cellRange(point, point);
      case "!=":
        return subtractSets(cellRange(nullCell, this.size - 1), cellRange(point, point));
      case "<":
        return cellRange(first, Math.min(last, point - 1));
      case "<=":
        return cellRange(first, Math.min(last, point));
      case ">":
        return cellRange(Math.max(first, point + 1), last);
      case ">=":
        return cellRange(Math.max(first, point), last);
    }
  }

  /** The values that can be ordered with a literal. */
  #ordered(value: Literal): CellSet {
    return typeof value === "number" ? this.numbers : typeof value === "string" ? this.texts : noCells;
  }

  #erroredSet(kind: TestKind): CellSet {
    switch (kind.type) {
      case "compare":
        return kind.relation === "==" || kind.relation === "!="
          ? this.missing
          : complementSet(this.#ordered(kind.value), this.size);
      case "in":
      case "present":
        return this.missing;
      case "between":
        return typeof kind.low === typeof kind.high
          ? complementSet(this.#ordered(kind.low), this.size)
          : this.all;
      case "starts_with":
        return complementSet(this.texts, this.size);
      case "boolean":
        return complementSet(this.booleans, this.size);
      case "exists":
      case "empty":
        return noCells;
    }
  }
}

/** Finds the cell of a number or a text by bisection. */
function searchCell(
  cells: readonly Cell[],
  value: number | string,
  range: { readonly first: number; readonly last: number },
): number {
  let { first, last } = range;
  while (first < last) {
    const middle = (first + last) >> 1;
    if (isAbove(value, cells[middle])) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** Whether a value comes after all values of a cell of its type. */
function isAbove(value: number | string, cell: Cell | undefined): boolean {
  switch (cell?.type) {
    case "number":
    case "text":
      return value > cell.value;
    case "numbers":
    case "texts":
      return cell.below !== undefined && value >= cell.below;
    default:
      return false;
  }
}

/** Each number that is mentioned, and the numbers between two of them, unless there are none. */
function numberCells(numbers: readonly number[]): readonly Cell[] {
  const cells: Cell[] = [];
  const addBetween = (above: number, below: number): void => {
    if (nextNumber(above) < below) cells.push({ type: "numbers", above, below });
  };
  let above = -Infinity;
  for (const value of numbers) {
    addBetween(above, value);
    cells.push({ type: "number", value });
    above = value;
  }
  addBetween(above, Infinity);
  return cells;
}

/** Returns the smallest number above a number. */
export function nextNumber(value: number): number {
  if (value === -Infinity) return -Number.MAX_VALUE;
  if (value === 0) return Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** The same for texts. The first text is '', and the next one after a text has U+0000 added. */
function textCells(texts: readonly string[]): readonly Cell[] {
  const cells: Cell[] = [];
  let above: string | undefined;
  for (const value of texts) {
    const next = above === undefined ? "" : `${above}\0`;
    if (next !== value) cells.push({ type: "texts", above, below: value });
    cells.push({ type: "text", value });
    above = value;
  }
  cells.push({ type: "texts", above, below: undefined });
  return cells;
}
