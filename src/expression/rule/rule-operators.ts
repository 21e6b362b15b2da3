import { comparisonOperators, presenceOperators } from "./operators/comparison.js";
import {
  datePartOperators,
  financialOperators,
  mathematicalOperators,
  rateOperators,
  statisticalOperators,
} from "./operators/computed.js";
import { dateArithmeticOperators, dateOperators, durationOperators } from "./operators/dates.js";
import { fetchingOperators } from "./operators/fetching.js";
import { aggregateOperators, listOperators } from "./operators/lists.js";
import { numberOperators } from "./operators/numbers.js";
import { placeOperators } from "./operators/places.js";
import { textOperators } from "./operators/texts.js";
import type { RuleOperator } from "./rule-operator.js";
import type { Json } from "../../model/json.js";
import type { ConditionTrace, FieldTrace } from "../../model/result.js";

export const ruleOperatorGroups = (): readonly {
  readonly title: string;
  readonly entries: readonly RuleOperator[];
}[] => [
  { title: "Comparison", entries: comparisonOperators() },
  { title: "Presence", entries: presenceOperators() },
  { title: "Text", entries: textOperators() },
  { title: "Numbers", entries: numberOperators() },
  { title: "Mathematics", entries: mathematicalOperators() },
  { title: "Finance (a rate is a share, such as 0.05)", entries: financialOperators() },
  { title: "Dates (ISO 8601 text; a date alone is UTC, a time needs a zone)", entries: dateOperators() },
  { title: "Parts of a date, in UTC", entries: datePartOperators() },
  { title: "Durations", entries: [...durationOperators(), ...dateArithmeticOperators(), ...rateOperators()] },
  { title: "Lists", entries: listOperators() },
  { title: "Aggregates of a list", entries: [...aggregateOperators(), ...statisticalOperators()] },
  { title: "Places", entries: placeOperators() },
  { title: "Enrichment", entries: fetchingOperators() },
];

let operators: ReadonlyMap<string, RuleOperator> | undefined;

/** All operators by name. Built on first use: only scored decisions need them. */
export const ruleOperators = (): ReadonlyMap<string, RuleOperator> =>
  (operators ??= new Map(
    ruleOperatorGroups().flatMap((group) => group.entries.map((entry) => [entry.name, entry] as const)),
  ));

const maxValueLength = 120;

/** Returns a condition as readable text, such as `credit.score >= 700`. */
export function describeConditionTrace(trace: ConditionTrace): string {
  if ("expression" in trace) return trace.expression;
  const { field, operator, expected, negated } = trace;
  const entry = ruleOperators().get(operator);
  const text = entry?.describe?.(field, expected) ?? joinParts(trace, entry);
  return negated ? `not (${text})` : text;
}

function joinParts({ field, operator, expected }: FieldTrace, entry: RuleOperator | undefined): string {
  const words = [field, entry?.symbol ?? operator.replaceAll("_", " ")];
  if (!entry?.takesNoValue) words.push(displayValue(expected));
  return words.join(" ");
}

function displayValue(value: Json): string {
  const text = JSON.stringify(value);
  if (text.length <= maxValueLength) return text;
  // Does not cut a surrogate pair in half.
  return `${text.slice(0, maxValueLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
