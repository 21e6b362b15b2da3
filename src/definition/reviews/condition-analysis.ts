import type { Literal, Node, Relation } from "../../expression/syntax.js";
import { conjunctsOf, equalityOf } from "../../expression/syntax.js";

/** A constraint of one part of a condition. `text` is equal for parts that differ only in spelling. */
export interface Constraint {
  readonly text: string;
  /** Set if the part is always, or never, true. */
  readonly constant?: boolean;
  readonly path?: string;
  readonly values?: readonly Literal[];
  readonly range?: Range;
}

interface Range {
  readonly low: number;
  readonly lowOpen: boolean;
  readonly high: number;
  readonly highOpen: boolean;
}

export function constraintsOf(tree: Node): readonly Constraint[] {
  return conjunctsOf(tree).map((part) => {
    const text = JSON.stringify(part);
    if (part.kind === "literal" && typeof part.value === "boolean") return { text, constant: part.value };
    const equality = equalityOf(part);
    if (equality !== undefined) return { text, path: equality.segments.join("."), values: equality.values };
    return { text, ...rangeOf(part) };
  });
}

/** Conditions with more parts are not compared. */
const maxComparedConstraints = 16;

/** Whether everything that satisfies `narrow` satisfies `wide`. True is certain; false may be wrong. */
export function implies(narrow: readonly Constraint[], wide: readonly Constraint[]): boolean {
  if (narrow.length > maxComparedConstraints || wide.length > maxComparedConstraints) return false;
  return wide.every(
    (demand) => demand.constant === true || narrow.some((each) => constraintImplies(each, demand)),
  );
}

/** Returns a value for which both conditions match, if both compare one path for equality. */
export function sharedValue(
  a: readonly Constraint[],
  b: readonly Constraint[],
): { path: string; value: Literal } | undefined {
  const [first] = a;
  const [second] = b;
  if (a.length !== 1 || b.length !== 1 || !first?.values || !second?.values || first.path !== second.path)
    return undefined;
  const value = first.values.find((each) => second.values?.includes(each));
  return value === undefined || first.path === undefined ? undefined : { path: first.path, value };
}

/** Whether no value can satisfy two constraints on one path. */
export function isContradictory(demands: readonly Constraint[]): boolean {
  if (demands.length > maxComparedConstraints) return false;
  return demands.some((a) =>
    demands.some((b) => a !== b && a.path !== undefined && a.path === b.path && excludes(a, b)),
  );
}

function constraintImplies(narrow: Constraint, wide: Constraint): boolean {
  if (narrow.text === wide.text) return true;
  if (narrow.path === undefined || narrow.path !== wide.path) return false;
  if (narrow.values && wide.values) return narrow.values.every((value) => wide.values?.includes(value));
  if (narrow.values && wide.range) return narrow.values.every((value) => isInRange(value, wide.range));
  return narrow.range !== undefined && wide.range !== undefined && isSubrange(narrow.range, wide.range);
}

function excludes(a: Constraint, b: Constraint): boolean {
  if (a.values && b.values) return !a.values.some((value) => b.values?.includes(value));
  if (a.values && b.range) return !a.values.some((value) => isInRange(value, b.range));
  if (!a.range || !b.range) return false;
  return isBelow(a.range, b.range) || isBelow(b.range, a.range);
}

function isInRange(value: Literal, range: Range | undefined): boolean {
  if (typeof value !== "number" || range === undefined) return false;
  const aboveLow = range.lowOpen ? value > range.low : value >= range.low;
  return aboveLow && (range.highOpen ? value < range.high : value <= range.high);
}

function isSubrange(narrow: Range, wide: Range): boolean {
  const low = narrow.low > wide.low || (narrow.low === wide.low && (narrow.lowOpen || !wide.lowOpen));
  return (
    low && (narrow.high < wide.high || (narrow.high === wide.high && (narrow.highOpen || !wide.highOpen)))
  );
}

function isBelow(a: Range, b: Range): boolean {
  return a.high < b.low || (a.high === b.low && (a.highOpen || b.lowOpen));
}

function rangeOf(part: Node): { path: string; range: Range } | undefined {
  if (part.kind !== "compare" || part.rest.length !== 1) return undefined;
  const [comparison] = part.rest;
  if (comparison === undefined) return undefined;
  const { operator, operand } = comparison;
  return boundedRange(part.first, operator, operand) ?? boundedRange(operand, mirrored[operator], part.first);
}

const mirrored: Readonly<Record<Relation, Relation>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "==": "==",
  "!=": "!=",
};

function boundedRange(
  path: Node,
  operator: Relation,
  bound: Node,
): { path: string; range: Range } | undefined {
  if (path.kind !== "path" || bound.kind !== "literal" || typeof bound.value !== "number") return undefined;
  const { value } = bound;
  const name = path.segments.join(".");
  switch (operator) {
    case "<":
    case "<=":
      return {
        path: name,
        range: { low: -Infinity, lowOpen: true, high: value, highOpen: operator === "<" },
      };
    case ">":
    case ">=":
      return { path: name, range: { low: value, lowOpen: operator === ">", high: Infinity, highOpen: true } };
    case "==":
    case "!=":
      return undefined;
  }
}
