import type { Box } from "./box.js";
import type { CellSet } from "./cell-set.js";
import {
  areEqualSets,
  cellRange,
  cellsOf,
  complementSet,
  intersectSets,
  isSubset,
  subtractSets,
  uniteAll,
  uniteSets,
} from "./cell-set.js";
import type { Cell } from "./dimension.js";
import { PathDimension } from "./dimension.js";
import type { Space } from "./space.js";
import { literalText, nodeText } from "../expression/node-text.js";
import type { Literal, Node } from "../expression/syntax.js";

/** Describes a region, as an expression of the language where there is one. */
export function regionText({ dimensions, sets }: Box, space: Space): string {
  const parts = dimensions.map((index, at) => {
    const dimension = space.dimensions[index];
    const set = sets[at] ?? [];
    return dimension instanceof PathDimension
      ? setText(set, dimension)
      : { text: opaqueText(set, dimension?.text ?? ""), isChoice: false };
  });
  if (parts.length === 0) return "true";
  if (parts.length === 1) return parts[0]?.text ?? "";
  return parts.map(({ text, isChoice }) => (isChoice ? `(${text})` : text)).join(" and ");
}

interface SetText {
  readonly text: string;
  /** Whether it needs brackets next to `and`. */
  readonly isChoice: boolean;
}

function opaqueText(set: CellSet, text: string): string {
  const results = ["is true", "is false", "cannot be evaluated"];
  const held = [...cellsOf(set)].flatMap((cell) => results[cell] ?? []);
  return `\`${text}\` ${held.join(" or ")}`;
}

/** With more parts than this, the others are counted. */
const maxShown = 8;

/** Describes the values of one path. */
export function setText(set: CellSet, dimension: PathDimension): SetText {
  const name = pathExpression(dimension.segments);
  const { numbers, texts, booleans, missing, size } = dimension;
  const plain = (text: string): SetText => ({ text, isChoice: false });
  const equals = (other: CellSet): boolean => areEqualSets(set, other);
  const absent = uniteSets(missing, dimension.null);
  const present = complementSet(missing, size);
  const rest = complementSet(set, size);
  if (equals(absent)) return plain(`not exists(${name})`);
  if (equals(complementSet(absent, size))) return plain(`exists(${name})`);
  if (equals(present)) return plain(`${name} is present`);
  const listed = pointsOf(set, dimension);
  if (listed !== undefined) return plain(oneOf(name, listed));
  const excluded = isSubset(missing, rest) ? pointsOf(subtractSets(rest, missing), dimension) : undefined;
  if (excluded !== undefined) return plain(noneOf(name, excluded));
  const blank = uniteAll([absent, dimension.point(""), dimension.empty]);
  if (dimension.constants.texts.has("")) {
    if (equals(blank)) return plain(`empty(${name})`);
    if (equals(complementSet(blank, size))) return plain(`not empty(${name})`);
  }
  if (isSubset(set, numbers)) return intervalsText(name, set, dimension, "a number");
  if (isSubset(set, texts)) return intervalsText(name, set, dimension, "text");
  if (equals(complementSet(numbers, size))) return plain(`${name} is not a number`);
  if (equals(complementSet(texts, size))) return plain(`${name} is not text`);
  if (equals(complementSet(booleans, size))) return plain(`${name} is not true or false`);
  return mixedText(set, dimension, name);
}

/** Describes values of several types, one type after the other. */
function mixedText(set: CellSet, dimension: PathDimension, name: string): SetText {
  const { missing, null: nothing, booleans, numbers, texts, empty, container } = dimension;
  const within = (type: CellSet): CellSet => intersectSets(set, type);
  const typed = (type: CellSet, what: string): readonly string[] => {
    const part = within(type);
    if (part.length === 0) return [];
    return [
      areEqualSets(part, type) ? `${name} is ${what}` : intervalsText(name, part, dimension, what).text,
    ];
  };
  const absent = uniteSets(missing, nothing);
  const containers = uniteSets(empty, container);
  const parts = [
    ...typed(numbers, "a number"),
    ...typed(texts, "text"),
    ...(areEqualSets(within(booleans), booleans)
      ? [`${name} is true or false`]
      : (pointsOf(within(booleans), dimension) ?? []).map((value) => `${name} == ${literalText(value)}`)),
    ...(areEqualSets(within(containers), containers)
      ? [`${name} is a list or an object`]
      : [
          ...(within(empty).length > 0 ? [`${name} is an empty list or object`] : []),
          ...(within(container).length > 0 ? [`${name} is a list or an object with content`] : []),
        ]),
    ...(areEqualSets(within(absent), absent)
      ? [`not exists(${name})`]
      : [
          ...(within(missing).length > 0 ? [`${name} is missing`] : []),
          ...(within(nothing).length > 0 ? [`${name} == null`] : []),
        ]),
  ];
  return { text: parts.join(" or "), isChoice: parts.length > 1 };
}

/** Returns the literals of a set that contains nothing else; undefined if it does, or if it is empty. */
function pointsOf(set: CellSet, { cells }: PathDimension): readonly Literal[] | undefined {
  const values: Literal[] = [];
  for (const cell of cellsOf(set)) {
    const each = cells[cell];
    if (each?.type === "null") values.push(null);
    else if (each?.type === "boolean" || each?.type === "number" || each?.type === "text")
      values.push(each.value);
    else return undefined;
  }
  return values.length === 0 ? undefined : values;
}

const oneOf = (name: string, values: readonly Literal[]): string =>
  values.length === 1 ? `${name} == ${literalText(values[0] ?? null)}` : `${name} in (${listText(values)})`;

const noneOf = (name: string, values: readonly Literal[]): string =>
  values.length === 1
    ? `${name} != ${literalText(values[0] ?? null)}`
    : `${name} not in (${listText(values)})`;

function listText(values: readonly Literal[]): string {
  const shown = values.slice(0, maxShown).map(literalText).join(", ");
  return values.length > maxShown ? `${shown}, … ${values.length - maxShown} more` : shown;
}

/** Numbers, or texts, from one cell to another, without some of them. */
interface Interval {
  readonly first: number;
  readonly last: number;
  readonly without: readonly Literal[];
}

/** Splits numbers or texts into intervals. Single values that are left out do not end an interval. */
export function intervalsOf(set: CellSet, { cells }: PathDimension): readonly Interval[] {
  const intervals: Interval[] = [];
  for (let index = 0; index < set.length; index += 2) {
    const [first = 0, last = 0] = set.slice(index, index + 2);
    const previous = intervals.at(-1);
    const skipped = previous === undefined ? undefined : cells[previous.last + 1];
    const isHole = previous !== undefined && previous.last + 2 === first && skipped !== undefined;
    if (isHole && "value" in skipped && isBetween(cells[previous.last]) && isBetween(cells[first]))
      intervals.splice(-1, 1, { ...previous, last, without: [...previous.without, skipped.value] });
    else intervals.push({ first, last, without: [] });
  }
  return intervals;
}

const isBetween = (cell: Cell | undefined): boolean => cell?.type === "numbers" || cell?.type === "texts";

function intervalsText(name: string, set: CellSet, dimension: PathDimension, what: string): SetText {
  const type = what === "text" ? dimension.texts : dimension.numbers;
  const intervals = intervalsOf(set, dimension);
  const shown = intervals
    .slice(0, maxShown)
    .map((each) => intervalText(name, each, { dimension, type, what }));
  const more = intervals.length > maxShown ? [`… ${intervals.length - maxShown} more`] : [];
  return { text: [...shown, ...more].join(" or "), isChoice: shown.length > 1 };
}

interface Typed {
  readonly dimension: PathDimension;
  readonly type: CellSet;
  readonly what: string;
}

function intervalText(
  name: string,
  { first, last, without }: Interval,
  { dimension, type, what }: Typed,
): string {
  const low = first === type[0] ? undefined : boundOf(dimension.cells[first], "above");
  const high = last === type[1] ? undefined : boundOf(dimension.cells[last], "below");
  const left = without.length === 0 ? [] : [noneOf(name, without)];
  if (low === undefined && high === undefined)
    return without.length === 0 ? `${name} is ${what}` : `${name} is ${what} other than ${listText(without)}`;
  if (low !== undefined && low.value === high?.value) return oneOf(name, [low.value]);
  const range =
    low === undefined
      ? `${name} ${high?.isIncluded ? "<=" : "<"} ${literalText(high?.value ?? null)}`
      : high === undefined
        ? `${name} ${low.isIncluded ? ">=" : ">"} ${literalText(low.value)}`
        : [
            literalText(low.value),
            low.isIncluded ? "<=" : "<",
            name,
            high.isIncluded ? "<=" : "<",
            literalText(high.value),
          ].join(" ");
  return [range, ...left].join(" and ");
}

interface Bound {
  readonly value: Literal;
  readonly isIncluded: boolean;
}

function boundOf(cell: Cell | undefined, side: "above" | "below"): Bound | undefined {
  if (cell?.type === "number" || cell?.type === "text") return { value: cell.value, isIncluded: true };
  if (cell?.type !== "numbers" && cell?.type !== "texts") return undefined;
  const value = cell[side];
  return value === undefined || value === Infinity || value === -Infinity
    ? undefined
    : { value, isIncluded: false };
}

/** Writes a path of the context as an expression. */
export function pathExpression(segments: readonly string[]): string {
  const [root = "", ...rest] = segments;
  if (segments.length === 0) return "context";
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(root) && !reservedWords.has(root);
  const start: Node = isPlain
    ? { kind: "path", segments: [root] }
    : getNode({ kind: "path", segments: ["context"] }, root);
  const node = rest.reduce<Node>(
    (from, step) =>
      from.kind === "path" && /^[A-Za-z0-9_]+$/.test(step)
        ? { kind: "path", segments: [...from.segments, step] }
        : getNode(from, step),
    start,
  );
  return nodeText(node);
}

const getNode = (from: Node, key: string): Node => ({
  kind: "call",
  name: "get",
  args: [from, { kind: "literal", value: key }],
});

/** Roots that refer to something else than the key of the context, or that are not paths. */
const reservedWords = new Set(
  "input context facts system and or not in if then else true false null mod".split(" "),
);

/** With more intervals than this, a region is not split. */
const maxSplit = 64;

/** Splits a region into one for each interval of numbers or texts, where they are few, so that each can be shown. */
export function splitIntervals({ dimensions, sets }: Box, space: Space): readonly Box[] {
  let boxes: readonly Box[] = [{ dimensions, sets }];
  for (const [at, index] of dimensions.entries()) {
    const dimension = space.dimensions[index];
    const set = sets[at] ?? [];
    if (!(dimension instanceof PathDimension)) continue;
    const isOneType = isSubset(set, dimension.numbers) || isSubset(set, dimension.texts);
    const intervals = isOneType && pointsOf(set, dimension) === undefined ? intervalsOf(set, dimension) : [];
    if (intervals.length < 2 || intervals.length * boxes.length > maxSplit) continue;
    const parts = intervals.map(({ first, last }) => intersectSets(set, cellRange(first, last)));
    boxes = boxes.flatMap((box) =>
      parts.map((part) => ({ ...box, sets: box.sets.map((each, place) => (place === at ? part : each)) })),
    );
  }
  return boxes;
}
