import { didYouMean } from "../../nearest.js";
import { ruleOperators } from "./rule-operators.js";

/** What other languages call our operators. */
const elsewhere: Readonly<Record<string, string>> = {
  eq: "= == === equal equals equal_to is",
  neq: "!= !== <> ne not not_eq not_equal not_equals not_equal_to is_not",
  gt: "> greater greater_than more_than above",
  gte: ">= => ge greater_than_or_equal greater_than_or_equals greater_than_or_equal_to greater_than_inclusive at_least",
  lt: "< less less_than below",
  lte: "<= =< le less_than_or_equal less_than_or_equals less_than_or_equal_to less_than_inclusive at_most",
  in: "one_of is_in member_of",
  not_in: "nin !in none_of is_not_in",
  present: "exists exist defined has is_present is_set not_null not_empty not_blank is_not_null",
  blank: "empty missing is_blank is_empty is_null null not_exists not_present does_not_exist",
  contains: "include includes has_item like",
  starts_with: "begins_with start_with prefix",
  ends_with: "end_with suffix",
  matches: "~= =~ ~ regex regexp regex_match matches_regex pattern",
  between: "range in_range",
  modulo: "% mod remainder",
  before_date: "before is_before earlier_than",
  after_date: "after is_after later_than",
  day_of_week: "weekday dow",
  contains_all: "all_of has_all includes_all superset_of",
  contains_any: "any_of has_any includes_any",
  intersects: "overlaps intersect intersection",
  subset_of: "subset is_subset_of within",
  length: "len size",
  min: "minimum",
  max: "maximum",
  sum: "total",
  average: "avg mean",
  within_radius: "near radius distance",
};

const ours: ReadonlyMap<string, string> = new Map(
  Object.entries(elsewhere).flatMap(([name, others]) => others.split(" ").map((other) => [other, name])),
);

/** The operator that is probably meant, as a hint. */
export function hintOfOperator(word: string): string {
  const plain = inSnakeCase(word);
  const meant = ruleOperators.has(plain) ? plain : ours.get(plain);
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  return didYouMean(plain, ruleOperators.keys()) ?? `known are ${[...ruleOperators.keys()].join(", ")}`;
}

function inSnakeCase(word: string): string {
  return word
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/[\s-]/g, "_")
    .toLowerCase();
}
