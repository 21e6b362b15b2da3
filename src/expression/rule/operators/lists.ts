import { canonicalJson } from "../../../digest/canonical-json.js";
import type { Json, JsonObject } from "../../../model/json.js";
import { isList } from "../../equal.js";
import type { Failure } from "../../failure.js";
import { sumOf } from "../../functions/statistics.js";
import type { BoundsTest } from "../bounds.js";
import { boundsDescription, computedBoundsDescription, parseBounds, parseComputedBounds } from "../bounds.js";
import type { RuleOperator } from "../rule-operator.js";
import { ruleOperator, parseList, typeMismatch } from "../rule-operator.js";

type ListComparison = (actual: readonly Json[], members: ItemSet) => boolean;

const sharesItem: ListComparison = (actual, members) => actual.some(members.has);

export const listOperators = (): readonly RuleOperator[] => [
  listOperator("contains_all", "the list contains all of the items", false, (actual, members) =>
    members.allIn(actual),
  ),
  listOperator("contains_any", "the list contains at least one of the items", true, sharesItem),
  listOperator("intersects", "the two lists have at least one item in common", true, sharesItem),
  listOperator("subset_of", "every item of the list is one of these", false, (actual, members) =>
    actual.every(members.has),
  ),
];

function listOperator(name: string, summary: string, answer: boolean, holds: ListComparison): RuleOperator {
  return ruleOperator({
    name,
    summary,
    takes: "a list",
    example: {
      condition: { field: "tags", op: name, value: ["vip", "staff"] },
      context: { tags: ["vip", "eu"] },
      answer,
    },
    parse: parseList,
    test: (items) => {
      const members = toItemSet(items);
      return (actual) => (isList(actual) ? holds(actual, members) : typeMismatch(name, "a list", actual));
    },
  });
}

/** The distinct items of a list, compared by content. */
interface ItemSet {
  readonly size: number;
  readonly has: (item: Json) => boolean;
  readonly allIn: (list: readonly Json[]) => boolean;
}

/** Prepares the items once, so a list is compared with them in linear time. */
export function toItemSet(items: readonly Json[]): ItemSet {
  const scalars = new Set<Json>();
  const compounds = new Set<string>();
  for (const item of items) {
    if (isCompound(item)) compounds.add(canonicalJson(item));
    else scalars.add(item);
  }
  const size = scalars.size + compounds.size;
  const has = (item: Json): boolean => {
    if (!isCompound(item)) return scalars.has(item);
    return compounds.size > 0 && compounds.has(canonicalJson(item));
  };
  return { size, has, allIn: (list) => toItemSet(list.filter(has)).size === size };
}

function isCompound(item: Json): item is readonly Json[] | JsonObject {
  return typeof item === "object" && item !== null;
}

/** Returns the aggregate of a list, or the reason why there is none. */
type Measure = (actual: Json) => number | string;

/** What an aggregate is compared with. */
interface Bounds {
  readonly takes: string;
  readonly parse: (value: Json) => BoundsTest | Failure;
}

const exactBounds: Bounds = { takes: boundsDescription, parse: parseBounds };
const computedBounds: Bounds = { takes: computedBoundsDescription, parse: parseComputedBounds };

export const aggregateOperators = (): readonly RuleOperator[] => [
  aggregateOperator(
    "length",
    "the number of items of a list, or of characters (code points) of a text",
    3,
    (actual) => {
      if (typeof actual === "string") return Array.from(actual).length;
      return isList(actual) ? actual.length : typeMismatch("length", "text or a list", actual);
    },
  ),
  aggregateOperator("min", "the smallest of the numbers in the list", 1.5, (actual) =>
    aggregateNonEmpty("min", actual, (values) => values.reduce((a, b) => Math.min(a, b))),
  ),
  aggregateOperator("max", "the largest of the numbers in the list", 4, (actual) =>
    aggregateNonEmpty("max", actual, (values) => values.reduce((a, b) => Math.max(a, b))),
  ),
  aggregateOperator(
    "sum",
    "the sum of the numbers in the list; 0 if it is empty",
    8,
    (actual) => aggregateNumbers("sum", actual, sumOf),
    computedBounds,
  ),
  aggregateOperator(
    "average",
    "the mean of the numbers in the list",
    { gte: 2.5, lt: 3 },
    (actual) => aggregateNonEmpty("average", actual, (values) => sumOf(values) / values.length),
    computedBounds,
  ),
  aggregateOperator("count", "the number of items of the list", { min: 1, max: 3 }, (actual) =>
    isList(actual) ? actual.length : typeMismatch("count", "a list", actual),
  ),
];

function aggregateOperator(
  name: string,
  summary: string,
  value: Json,
  measure: Measure,
  { takes, parse }: Bounds = exactBounds,
): RuleOperator {
  return ruleOperator({
    name,
    summary,
    takes,
    example: {
      condition: { field: "amounts", op: name, value },
      context: { amounts: [1.5, 4, 2.5] },
      answer: true,
    },
    parse,
    test: (holds) => (actual) => {
      const measured = measure(actual);
      return typeof measured === "string" ? measured : holds(measured);
    },
  });
}

type Aggregate = (values: readonly number[]) => number;

function aggregateNonEmpty(name: string, actual: Json, aggregate: Aggregate): number | string {
  if (isList(actual) && actual.length === 0) return `\`${name}\` needs at least one number`;
  return aggregateNumbers(name, actual, aggregate);
}

function aggregateNumbers(name: string, actual: Json, aggregate: Aggregate): number | string {
  if (!isList(actual)) return typeMismatch(name, "a list of numbers", actual);
  const values = actual.filter((item) => typeof item === "number");
  if (values.length < actual.length) return `\`${name}\` needs numbers only`;
  const answer = aggregate(values);
  return Number.isFinite(answer) ? answer : `the result of \`${name}\` is not a finite number (too large)`;
}
