import type { RuleOperator } from "./operator-entry.js";
import { aggregateOperators } from "./operators/aggregates.js";
import { comparisonOperators } from "./operators/comparison.js";
import { dateOperators } from "./operators/dates.js";
import { fetchingOperators } from "./operators/fetching.js";
import { listOperators } from "./operators/lists.js";
import { numberOperators } from "./operators/numbers.js";
import { placeOperators } from "./operators/places.js";
import { presenceOperators } from "./operators/presence.js";
import { textOperators } from "./operators/texts.js";

export const ruleOperatorGroups: readonly {
  readonly title: string;
  readonly entries: readonly RuleOperator[];
}[] = [
  { title: "Comparison", entries: comparisonOperators },
  { title: "Presence", entries: presenceOperators },
  { title: "Text", entries: textOperators },
  { title: "Numbers", entries: numberOperators },
  { title: "Dates (ISO 8601 text; a date alone is UTC, a time needs a zone)", entries: dateOperators },
  { title: "Lists", entries: listOperators },
  { title: "Measures of a list", entries: aggregateOperators },
  { title: "Places", entries: placeOperators },
  { title: "Data from elsewhere", entries: fetchingOperators },
];

export const ruleOperators: ReadonlyMap<string, RuleOperator> = new Map(
  ruleOperatorGroups.flatMap((group) => group.entries.map((entry) => [entry.name, entry] as const)),
);
