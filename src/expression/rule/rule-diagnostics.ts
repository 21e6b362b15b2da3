import type { Json } from "../../model/json.js";
import { didYouMean } from "../../text.js";
import { isForbiddenKey } from "../path.js";
import { describeValue } from "./rule-operator.js";
import { ruleOperators } from "./rule-operators.js";
import { isObject } from "../equal.js";

/** A problem in the `if` of a rule. */
export interface RuleDiagnostic {
  /** The keys and indexes that lead to it. */
  readonly path: Path;
  /** Set if the problem is a key, not its value. */
  readonly key?: string;
  readonly message: string;
  readonly hint?: string;
}

type Path = readonly (string | number)[];
type RawCondition = Readonly<Record<string, unknown>>;

const groupKeys = ["all", "any", "none"];
const fieldKeys = ["field", "op", "value"];
const choice = "`all`, `any`, `none` and `field`";

const maxNesting = 32;
const tooDeepMessage = `conditions are nested deeper than ${maxNesting} levels`;

/** Returns everything that is wrong with a condition; an empty list if it can be compiled. */
export function ruleDiagnostics(condition: unknown): readonly RuleDiagnostic[] {
  const diagnostics = conditionDiagnostics(condition, [], 0);
  const firstTooDeep = diagnostics.find(({ message }) => message === tooDeepMessage);
  return diagnostics.filter((each) => each.message !== tooDeepMessage || each === firstTooDeep);
}

function conditionDiagnostics(condition: unknown, path: Path, depth: number): readonly RuleDiagnostic[] {
  if (!isMap(condition))
    return [{ path, message: `a condition must be a map (got ${describeValue(condition)})` }];
  const has = (key: string): boolean => Object.hasOwn(condition, key);
  const groups = groupKeys.filter(has);
  if (groups.length > 0 && depth === maxNesting) return [{ path, message: tooDeepMessage }];
  const isField = groups.length === 0 ? fieldKeys.some(has) : has("field");
  return [
    ...choiceDiagnostics(isField ? [...groups, "field"] : groups, path),
    ...keyDiagnostics(condition, isField ? [...groups, ...fieldKeys] : groups, path),
    ...groups.flatMap((key) => groupDiagnostics(condition[key], [...path, key], depth + 1)),
    ...(isField ? fieldDiagnostics(condition, path) : []),
  ];
}

function isMap(value: unknown): value is RawCondition {
  return isObject(value);
}

function choiceDiagnostics([first, second]: readonly string[], path: Path): readonly RuleDiagnostic[] {
  if (first === undefined) return [{ path, message: `a condition needs one of ${choice}` }];
  if (second === undefined) return [];
  return [{ path, key: second, message: `a condition can have only one of ${choice}` }];
}

/** Names that other languages use for our keys. */
const keyAliases: ReadonlyMap<string, string> = new Map([
  ["and", "all"],
  ["or", "any"],
  ["not", "none"],
  ["fact", "field"],
  ["path", "field"],
  ["operator", "op"],
  ["expected", "value"],
  ["values", "value"],
]);

function keyDiagnostics(
  condition: RawCondition,
  allowed: readonly string[],
  path: Path,
): readonly RuleDiagnostic[] {
  const unknown = Object.keys(condition).filter((key) => !allowed.includes(key));
  const candidates = allowed.length === 0 ? [...groupKeys, ...fieldKeys] : allowed;
  return unknown.map((key) => {
    const alias = keyAliases.get(key);
    const suggestion = alias === undefined ? didYouMean(key, candidates) : `did you mean \`${alias}\`?`;
    return {
      path,
      key,
      message: `unknown key \`${key}\``,
      hint: suggestion ?? `known here: ${candidates.join(", ")}`,
    };
  });
}

function groupDiagnostics(group: unknown, path: Path, depth: number): readonly RuleDiagnostic[] {
  const name = `\`${String(path.at(-1))}\``;
  if (!Array.isArray(group))
    return [{ path, message: `${name} must be a list (got ${describeValue(group)})` }];
  if (group.length === 0) return [{ path, message: `${name} must not be empty` }];
  return group.flatMap((each, index) => conditionDiagnostics(each, [...path, index], depth));
}

/** Checks a condition on a field, except for unknown keys. */
function fieldDiagnostics(condition: RawCondition, path: Path): readonly RuleDiagnostic[] {
  return [
    ...textKeyDiagnostics(condition, "field", path, checkFieldPath),
    ...textKeyDiagnostics(condition, "op", path, checkOperator),
    ...valueDiagnostics(condition, path),
  ];
}

type Finding = Pick<RuleDiagnostic, "message" | "hint">;

function textKeyDiagnostics(
  condition: RawCondition,
  key: string,
  path: Path,
  check: (text: string) => Finding | undefined,
): readonly RuleDiagnostic[] {
  if (!Object.hasOwn(condition, key)) return [{ path, message: `\`${key}\` is missing` }];
  const text = condition[key];
  const finding =
    typeof text === "string"
      ? check(text)
      : { message: `\`${key}\` must be text (got ${describeValue(text)})` };
  return finding === undefined ? [] : [{ path: [...path, key], ...finding }];
}

function checkFieldPath(field: string): Finding | undefined {
  if (field === "") return { message: "`field` must not be empty" };
  const segments = field.split(".");
  if (segments.includes("")) return { message: `\`${field}\` has an empty part between its dots` };
  const forbidden = segments.find(isForbiddenKey);
  return forbidden === undefined ? undefined : { message: `the key \`${forbidden}\` cannot be read` };
}

function checkOperator(op: string): Finding | undefined {
  if (ruleOperators().has(op)) return undefined;
  return { message: `unknown operator \`${op}\``, hint: suggestOperator(op) };
}

function valueDiagnostics({ op, value }: RawCondition, path: Path): readonly RuleDiagnostic[] {
  const operator = typeof op === "string" ? ruleOperators().get(op) : undefined;
  if (operator === undefined) return [];
  if (value === undefined) {
    if (operator.takesNoValue) return [];
    return [{ path, message: "`value` is missing", hint: `\`${operator.name}\` takes ${operator.takes}` }];
  }
  const message = operator.checkValue(value as Json);
  return message === undefined ? [] : [{ path: [...path, "value"], message }];
}

/** Names that other languages use for our operators. */
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
  average: "avg",
  stddev: "std std_dev stdev",
  power: "pow",
  truncate: "trunc",
  hour_of_day: "hour",
  day_of_month: "day",
  week_of_year: "week",
  in_polygon: "polygon inside in_area",
  within_radius: "near radius distance",
};

const operatorByAlias: ReadonlyMap<string, string> = new Map(
  Object.entries(operatorAliases).flatMap(([name, others]) =>
    others.split(" ").map((other) => [other, name]),
  ),
);

/** Returns a hint with the most similar operator. */
function suggestOperator(word: string): string {
  const plain = toSnakeCase(word);
  const name = ruleOperators().has(plain) ? plain : operatorByAlias.get(plain);
  if (name !== undefined) return `did you mean \`${name}\`?`;
  return didYouMean(plain, ruleOperators().keys()) ?? `use one of ${[...ruleOperators().keys()].join(", ")}`;
}

function toSnakeCase(word: string): string {
  return word
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/[\s-]/g, "_")
    .toLowerCase();
}
