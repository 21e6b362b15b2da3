import { ruleOperators } from "./rule-operators.js";
import { describeValue } from "./rule-operator.js";
import type { Json } from "../../model/json.js";
import { didYouMean } from "../../text.js";
import { isForbiddenKey } from "../path.js";

export type DiagnosticPath = readonly (string | number)[];

/** Something wrong with an `if` as it is written: where in it, and what. */
export interface RuleFault {
  readonly path: DiagnosticPath;
  /** Set where a key is at fault and not the value under it. */
  readonly key?: string;
  readonly message: string;
  readonly hint?: string;
}

export type RawCondition = Readonly<Record<string, unknown>>;

/** What is wrong with a condition on a field, its unknown keys aside. */
export function fieldDiagnostics(condition: RawCondition, path: DiagnosticPath): readonly RuleFault[] {
  return [
    ...textKeyDiagnostics(condition, "field", path, checkFieldPath),
    ...textKeyDiagnostics(condition, "op", path, checkOperator),
    ...valueDiagnostics(condition, path),
  ];
}

type DiagnosticText = Pick<RuleFault, "message" | "hint">;

function textKeyDiagnostics(
  condition: RawCondition,
  key: string,
  path: DiagnosticPath,
  faultOf: (text: string) => DiagnosticText | undefined,
): readonly RuleFault[] {
  if (!Object.hasOwn(condition, key)) return [{ path, message: `\`${key}\` is missing` }];
  const text = condition[key];
  const fault =
    typeof text === "string"
      ? faultOf(text)
      : { message: `\`${key}\` must be text (got ${describeValue(text)})` };
  return fault === undefined ? [] : [{ path: [...path, key], ...fault }];
}

function checkFieldPath(field: string): DiagnosticText | undefined {
  if (field === "") return { message: "`field` must not be empty" };
  const segments = field.split(".");
  if (segments.includes("")) return { message: `\`${field}\` has an empty part between its dots` };
  const bad = segments.find(isForbiddenKey);
  return bad === undefined ? undefined : { message: `\`${bad}\` is not a key that can be read` };
}

function checkOperator(op: string): DiagnosticText | undefined {
  if (ruleOperators.has(op)) return undefined;
  return { message: `there is no operator \`${op}\``, hint: suggestOperator(op) };
}

function valueDiagnostics({ op, value }: RawCondition, path: DiagnosticPath): readonly RuleFault[] {
  const operator = typeof op === "string" ? ruleOperators.get(op) : undefined;
  if (operator === undefined) return [];
  if (value === undefined) {
    if (operator.valueless) return [];
    return [{ path, message: "`value` is missing", hint: `\`${operator.name}\` takes ${operator.takes}` }];
  }
  const message = operator.faultOf(value as Json);
  return message === undefined ? [] : [{ path: [...path, "value"], message }];
}

/** What other languages call our operators. */
const operatorAliases: Readonly<Record<string, string>> = {
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

const operatorByAlias: ReadonlyMap<string, string> = new Map(
  Object.entries(operatorAliases).flatMap(([name, others]) =>
    others.split(" ").map((other) => [other, name]),
  ),
);

/** The operator that is probably meant, as a hint. */
function suggestOperator(word: string): string {
  const plain = toSnakeCase(word);
  const meant = ruleOperators.has(plain) ? plain : operatorByAlias.get(plain);
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  return didYouMean(plain, ruleOperators.keys()) ?? `known are ${[...ruleOperators.keys()].join(", ")}`;
}

function toSnakeCase(word: string): string {
  return word
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/[\s-]/g, "_")
    .toLowerCase();
}
