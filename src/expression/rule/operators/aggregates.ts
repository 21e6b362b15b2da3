import type { Json } from "../../../model/json.js";
import { isList } from "../../equal.js";
import { bounds, someBounds } from "../bounds.js";
import type { RuleOperator } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";
import { needs } from "../wording.js";

/** A text says why there is no number. */
type Measure = (actual: Json) => number | string;

export const aggregateOperators: readonly RuleOperator[] = [
  measuring("length", "how many items the list has, or characters (code points) the text", 3, (actual) => {
    if (typeof actual === "string") return Array.from(actual).length;
    return isList(actual) ? actual.length : needs("length", "text or a list", actual);
  }),
  measuring("min", "the smallest of the numbers in the list", 1.5, (actual) =>
    ofSome("min", actual, (values) => values.reduce((a, b) => Math.min(a, b))),
  ),
  measuring("max", "the largest of the numbers in the list", 4, (actual) =>
    ofSome("max", actual, (values) => values.reduce((a, b) => Math.max(a, b))),
  ),
  measuring("sum", "the numbers in the list, added up; 0 where it is empty", 8, (actual) =>
    ofNumbers("sum", actual, total),
  ),
  measuring("average", "their sum divided by how many they are", { gte: 2.5, lt: 3 }, (actual) =>
    ofSome("average", actual, (values) => total(values) / values.length),
  ),
  measuring("count", "how many items the list has", { min: 1, max: 3 }, (actual) =>
    isList(actual) ? actual.length : needs("count", "a list", actual),
  ),
];

function measuring(name: string, summary: string, value: Json, measure: Measure): RuleOperator {
  return ruleOperator({
    name,
    summary,
    takes: someBounds,
    example: {
      condition: { field: "amounts", op: name, value },
      context: { amounts: [1.5, 4, 2.5] },
      answer: true,
    },
    parse: bounds,
    test: (holds) => (actual) => {
      const measured = measure(actual);
      return typeof measured === "string" ? measured : holds(measured);
    },
  });
}

type Aggregate = (values: readonly number[]) => number;

function ofSome(name: string, actual: Json, aggregate: Aggregate): number | string {
  if (isList(actual) && actual.length === 0) return `\`${name}\` of an empty list has no answer`;
  return ofNumbers(name, actual, aggregate);
}

function ofNumbers(name: string, actual: Json, aggregate: Aggregate): number | string {
  if (!isList(actual)) return needs(name, "a list of numbers", actual);
  const values = actual.filter((item) => typeof item === "number");
  if (values.length < actual.length) return `\`${name}\` needs numbers only`;
  const answer = aggregate(values);
  return Number.isFinite(answer) ? answer : `\`${name}\` gave no number (too large)`;
}

/** Sorted, and with what rounding loses kept aside (Neumaier): the order of the list never shows in the last digit. */
function total(values: readonly number[]): number {
  let sum = 0;
  let lost = 0;
  for (const value of Float64Array.from(values).sort()) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}
