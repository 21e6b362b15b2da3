import type { Json, JsonObject } from "../../../model/json.js";
import { isList, isObject } from "../../equal.js";
import { catchFailure, Failure } from "../../failure.js";
import type { FunctionEntry } from "../../function-table.js";
import { describeType, firstParameterType, functionNamed, matchesType } from "../../function-table.js";
import type { BoundsTest } from "../bounds.js";
import { computedBoundsDescription, parseComputedBounds, parseComputedLimits } from "../bounds.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { invalidValue, isNumber, ruleOperator, typeMismatch } from "../rule-operator.js";

/*
 * Operators that compute a number from the field with a function of the expression language, and compare it with
 * bounds. Further arguments of the function are keys of `value`.
 */

/** What the number under a key of `value` must be. */
interface NumberKey {
  readonly is: (given: number) => boolean;
  readonly what: string;
}

const anyNumber: NumberKey = { is: () => true, what: "a number" };
const wholeNumber: NumberKey = { is: Number.isSafeInteger, what: "a whole number" };
const positiveNumber: NumberKey = { is: (given) => given > 0, what: "a number above 0" };
const windowLength: NumberKey = {
  is: (given) => Number.isSafeInteger(given) && given > 0,
  what: "a whole number above 0",
};
const percentage: NumberKey = { is: (given) => given >= 0 && given <= 100, what: "a number from 0 to 100" };

const angle = { field: "angle", actual: 0 };
const number = { field: "ratio", actual: 1 };
const amounts = { field: "amounts", actual: [1, 5, 9] };
const placed = { field: "placed_at", actual: "2026-03-02T12:00:00Z" };

export const mathematicalOperators = (): readonly RuleOperator[] => [
  computedOperator("sqrt", { field: "area", actual: 9, value: 3 }),
  computedOperator("cbrt", { field: "volume", actual: 27, value: { gte: 2, lt: 4 } }),
  computedOperator("power", {
    ...{ field: "side", actual: 4, value: { exponent: 2, result: 16 } },
    keys: { exponent: anyNumber },
  }),
  computedOperator("exp", { field: "growth", actual: 1, value: { gt: 2.7, lt: 2.8 } }),
  computedOperator("log", { ...number, value: 0 }),
  computedOperator("log10", { field: "magnitude", actual: 1000, value: { gte: 2, lte: 4 } }),
  computedOperator("log2", { field: "bytes", actual: 1024, value: 10 }),
  computedOperator("sin", { ...angle, value: 0 }),
  computedOperator("cos", { ...angle, value: 1 }),
  computedOperator("tan", { ...angle, value: 0 }),
  computedOperator("asin", { ...number, value: { gt: 1.57 } }),
  computedOperator("acos", { ...number, value: 0 }),
  computedOperator("atan", { ...number, value: { lt: 0.78 }, answer: false }),
  computedOperator("atan2", {
    ...{ field: "x", actual: 0, value: { y: 1, result: 0 } },
    keys: { y: anyNumber },
    summary: "the angle in radians that `atan2` gives for the field and `y`",
  }),
  computedOperator("sinh", { ...angle, value: 0 }),
  computedOperator("cosh", { ...angle, value: { min: 1 } }),
  computedOperator("tanh", { ...angle, value: 0 }),
  computedOperator("round", { field: "score", actual: 84.6, value: 85 }),
  computedOperator("floor", { field: "score", actual: 84.6, value: 84 }),
  computedOperator("ceil", { field: "score", actual: 84.6, value: 85 }),
  computedOperator("truncate", { field: "change", actual: -3.9, value: -3 }),
  computedOperator("abs", { field: "change", actual: -3.9, value: { lt: 5 } }),
  computedOperator("factorial", { field: "items", actual: 4, value: 24 }),
  computedOperator("gcd", {
    ...{ field: "width", actual: 18, value: { other: 12, result: 6 } },
    keys: { other: wholeNumber },
  }),
  computedOperator("lcm", {
    ...{ field: "cycle", actual: 9, value: { other: 12, result: 36 } },
    keys: { other: wholeNumber },
  }),
];

export const statisticalOperators = (): readonly RuleOperator[] => [
  computedOperator("mean", { by: "average", ...amounts, value: 5 }),
  computedOperator("median", { ...amounts, value: { gte: 5 } }),
  computedOperator("variance", { ...amounts, value: { lt: 11 } }),
  computedOperator("stddev", { ...amounts, value: { lt: 3 }, answer: false }),
  computedOperator("standard_deviation", { by: "stddev", ...amounts, value: { lt: 4 } }),
  computedOperator("percentile", {
    ...{ ...amounts, value: { percentile: 95, gt: 8 } },
    keys: { percentile: percentage },
  }),
  ...(["moving_average", "moving_sum", "moving_min", "moving_max"] as const).map((name) =>
    computedOperator(name, {
      ...{ ...amounts, value: { window: 2, threshold: 5 } },
      keys: { window: windowLength },
    }),
  ),
];

export const financialOperators = (): readonly RuleOperator[] =>
  (
    [
      ["compound_interest", "principal", 1000, { rate: 0.05, periods: 12, result: 1051.16 }],
      ["present_value", "future_value", 1000, { rate: 0.05, periods: 10, result: 613.91 }],
      ["future_value", "present_value", 1000, { rate: 0.05, periods: 10, gt: 1600 }],
      ["payment", "principal", 1000, { rate: 0.01, periods: 12, result: 88.85 }],
    ] as const
  ).map(([name, field, actual, value]) =>
    computedOperator(name, {
      ...{ field, actual, value },
      keys: { rate: anyNumber, periods: positiveNumber },
      isMoney: true,
    }),
  );

export const datePartOperators = (): readonly RuleOperator[] => [
  computedOperator("hour_of_day", { by: "hour", ...placed, value: { min: 9, max: 17 } }),
  computedOperator("day_of_month", { by: "day", ...placed, value: 2 }),
  computedOperator("month", { ...placed, value: 3 }),
  computedOperator("year", { ...placed, value: { lt: 2026 }, answer: false }),
  computedOperator("week_of_year", { ...placed, value: 10 }),
];

export const rateOperators = (): readonly RuleOperator[] =>
  (["rate_per_second", "rate_per_minute", "rate_per_hour"] as const).map((name) =>
    computedOperator(name, {
      ...{ field: "requests", actual: ["2026-03-02T12:00:00Z", "2026-03-02T12:00:30Z"] },
      value: { max: 10 },
      answer: name !== "rate_per_hour",
    }),
  );

interface ComputedOptions {
  /** The name of the function; absent: that of the operator. */
  readonly by?: string;
  readonly summary?: string;
  /** The further arguments of the function, by their keys in `value`. */
  readonly keys?: Readonly<Record<string, NumberKey>>;
  /** `result` is compared in cents. */
  readonly isMoney?: true;
  /** The example. */
  readonly field: string;
  readonly actual: Json;
  readonly value: Json;
  readonly answer?: boolean;
}

function computedOperator(name: string, options: ComputedOptions): RuleOperator {
  const { by = name, keys = {}, field, actual, value, answer = true } = options;
  const entry = functionNamed(by);
  const { summary = entry.summary } = options;
  const takes = describeComputation(keys);
  return ruleOperator({
    name,
    summary,
    takes,
    example: { condition: { field, op: name, value }, context: { [field]: actual }, answer },
    parse: (given) => parseComputation(given, options, entry) ?? invalidValue(takes, given),
    test: (computation) => compare(name, entry, computation),
  });
}

function describeComputation(keys: Readonly<Record<string, NumberKey>>): string {
  const described = Object.entries(keys).map(([key, { what }]) => `\`${key}\` (${what})`);
  if (described.length === 0) return computedBoundsDescription;
  return `a map of ${described.join(" and ")} and of \`result\`, \`threshold\` or bounds such as \`gt\` to numbers`;
}

interface Computation {
  /** The arguments of the function after the field. */
  readonly args: readonly number[];
  readonly holds: BoundsTest;
}

function parseComputation(
  value: Json,
  { keys = {}, isMoney }: ComputedOptions,
  { round = (limit) => limit }: FunctionEntry,
): Computation | Failure | undefined {
  const names = Object.keys(keys);
  // Otherwise a limit with more digits than the computed number could never be equal to it.
  const roundLimit = (limit: Json): Json => (isNumber(limit) ? round(limit) : limit);
  const roundLimits = (limits: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(limits).map(([key, limit]) => [key, roundLimit(limit)]));
  if (names.length === 0) {
    const holds = parseComputedBounds(isObject(value) ? roundLimits(value) : roundLimit(value));
    return holds instanceof Failure ? holds : { args: [], holds };
  }
  const map = isList(value) ? namedItems(value, [...names, "result"]) : value;
  if (!isObject(map)) return undefined;
  const args = names.flatMap((key) => {
    const given = map[key];
    return isNumber(given) && keys[key]?.is(given) ? [given] : [];
  });
  const others = Object.entries(map).filter(([key]) => !names.includes(key));
  const limits = roundLimits(Object.fromEntries(others));
  const holds = isMoney ? parseMoneyLimits(limits) : parseComputedLimits(limits);
  return args.length < names.length || holds === undefined ? undefined : { args, holds };
}

/** `[2, 16]` is a short form of `{ exponent: 2, result: 16 }`. */
function namedItems(items: readonly Json[], names: readonly string[]): JsonObject | undefined {
  if (items.length !== names.length) return undefined;
  return Object.fromEntries(names.map((name, index) => [name, items[index] ?? null]));
}

function parseMoneyLimits({ result, ...others }: JsonObject): BoundsTest | undefined {
  if (result === undefined) return parseComputedLimits(others);
  if (!isNumber(result)) return undefined;
  const isResult: BoundsTest = (measured) => inCents(measured) === inCents(result);
  if (Object.keys(others).length === 0) return isResult;
  const holds = parseComputedLimits(others);
  return holds && ((measured) => isResult(measured) && holds(measured));
}

const inCents = (amount: number): number => Math.round(amount * 100);

/** The notes contain only types, as the value may have to be masked. */
function compare(name: string, entry: FunctionEntry, { args, holds }: Computation): RuleTest {
  const run = entry.run as unknown as (...given: readonly Json[]) => number;
  const type = firstParameterType(entry);
  return (actual) => {
    if (!matchesType(type, actual)) return typeMismatch(name, describeType(type), actual);
    const measured = catchFailure(() => run(actual, ...args));
    return measured instanceof Failure
      ? measured.message.replaceAll(`\`${entry.name}\``, `\`${name}\``)
      : holds(measured);
  };
}
