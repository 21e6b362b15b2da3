import { conjunctsOf, equalityOf } from "../expression/conjuncts.js";
import type { Literal, Node, Relation } from "../expression/syntax.js";

/** What one part of a condition demands; `text`, its tree as JSON, is equal for parts that differ in spelling only. */
export interface Demand {
  readonly text: string;
  /** It holds always, or never. */
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

export function demandsOf(tree: Node): readonly Demand[] {
  return conjunctsOf(tree).map((part) => {
    const text = JSON.stringify(part);
    if (part.kind === "literal" && typeof part.value === "boolean") return { text, constant: part.value };
    const equality = equalityOf(part);
    if (equality !== undefined) return { text, path: equality.segments.join("."), values: equality.values };
    return { text, ...rangeOf(part) };
  });
}

/** Conditions of more parts than this are not compared. */
const comparedDemands = 16;

/** Whatever satisfies all of `narrow` also satisfies all of `wide`. Never claims it wrongly; may miss it. */
export function implies(narrow: readonly Demand[], wide: readonly Demand[]): boolean {
  if (narrow.length > comparedDemands || wide.length > comparedDemands) return false;
  return wide.every(
    (demand) => demand.constant === true || narrow.some((each) => demandImplies(each, demand)),
  );
}

/** Two conditions that ask one path for equality and share a value, so both can match at once. */
export function sharedValue(
  a: readonly Demand[],
  b: readonly Demand[],
): { path: string; value: Literal } | undefined {
  const [first] = a;
  const [second] = b;
  if (a.length !== 1 || b.length !== 1 || !first?.values || !second?.values || first.path !== second.path)
    return undefined;
  const value = first.values.find((each) => second.values?.includes(each));
  return value === undefined || first.path === undefined ? undefined : { path: first.path, value };
}

/** Two demands on one path that no value can meet. */
export function contradictory(demands: readonly Demand[]): boolean {
  if (demands.length > comparedDemands) return false;
  return demands.some((a) =>
    demands.some((b) => a !== b && a.path !== undefined && a.path === b.path && excludes(a, b)),
  );
}

function demandImplies(narrow: Demand, wide: Demand): boolean {
  if (narrow.text === wide.text) return true;
  if (narrow.path === undefined || narrow.path !== wide.path) return false;
  if (narrow.values && wide.values) return narrow.values.every((value) => wide.values?.includes(value));
  if (narrow.values && wide.range) return narrow.values.every((value) => inside(value, wide.range));
  return narrow.range !== undefined && wide.range !== undefined && within(narrow.range, wide.range);
}

function excludes(a: Demand, b: Demand): boolean {
  if (a.values && b.values) return !a.values.some((value) => b.values?.includes(value));
  if (a.values && b.range) return !a.values.some((value) => inside(value, b.range));
  if (!a.range || !b.range) return false;
  return below(a.range, b.range) || below(b.range, a.range);
}

function inside(value: Literal, range: Range | undefined): boolean {
  if (typeof value !== "number" || range === undefined) return false;
  const aboveLow = range.lowOpen ? value > range.low : value >= range.low;
  return aboveLow && (range.highOpen ? value < range.high : value <= range.high);
}

function within(narrow: Range, wide: Range): boolean {
  const low = narrow.low > wide.low || (narrow.low === wide.low && (narrow.lowOpen || !wide.lowOpen));
  return (
    low && (narrow.high < wide.high || (narrow.high === wide.high && (narrow.highOpen || !wide.highOpen)))
  );
}

function below(a: Range, b: Range): boolean {
  return a.high < b.low || (a.high === b.low && (a.highOpen || b.lowOpen));
}

function rangeOf(part: Node): { path: string; range: Range } | undefined {
  if (part.kind !== "compare" || part.rest.length !== 1) return undefined;
  const [comparison] = part.rest;
  if (comparison === undefined) return undefined;
  const { operator, operand } = comparison;
  return bounded(part.first, operator, operand) ?? bounded(operand, mirrored[operator], part.first);
}

const mirrored: Readonly<Record<Relation, Relation>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "==": "==",
  "!=": "!=",
};

function bounded(path: Node, operator: Relation, bound: Node): { path: string; range: Range } | undefined {
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
