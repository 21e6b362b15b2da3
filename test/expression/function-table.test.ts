import { describe, expect, it } from "vitest";
import { Failure } from "../../src/expression/failure.js";
import type { FunctionEntry, ParameterType } from "../../src/expression/function-table.js";
import { allErrored, functionGroups, functionTable, signature } from "../../src/expression/function-table.js";
import type { Json } from "../../src/model/json.js";
import { answer, refusalOf } from "./answers.js";
import { documentedContext } from "./documented-context.js";

const entries = [...functionTable().values()];

/** Each function with `x` for its first argument and valid values for the others. */
const probes: Readonly<Record<string, string>> = {
  exists: "exists(x)",
  empty: "empty(x)",
  get: "get(x, 'key', 'the fallback')",
  contains: "contains(x, 'a')",
  starts_with: "starts_with(x, 'a')",
  ends_with: "ends_with(x, 'a')",
  matches: "matches(x, 'a')",
  lower: "lower(x)",
  upper: "upper(x)",
  trim: "trim(x)",
  path_within: "path_within(x, '/repo')",
  normalize_path: "normalize_path(x)",
  length: "length(x)",
  any_of: "any_of(x, 'a')",
  all_of: "all_of(x, 'a')",
  none_of: "none_of(x, 'a')",
  abs: "abs(x)",
  ceil: "ceil(x)",
  floor: "floor(x)",
  round: "round(x)",
  min: "min(x, 1)",
  max: "max(x, 1)",
  between: "between(x, 1, 5)",
  before: "before(x, '2026-01-01')",
  after: "after(x, '2026-01-01')",
  days_between: "days_between(x, '2026-01-01')",
  hours_between: "hours_between(x, '2026-01-01')",
  date: "date(x)",
  duration: "duration(x)",
  add_duration: "add_duration(x, 'P1D')",
  timestamp: "timestamp(x)",
  year: "year(x)",
  month: "month(x)",
  day: "day(x)",
  hour: "hour(x)",
  weekday: "weekday(x)",
  minute: "minute(x)",
  second: "second(x)",
  week_of_year: "week_of_year(x)",
  minutes_between: "minutes_between(x, '2026-01-01')",
  seconds_between: "seconds_between(x, '2026-01-01')",
  rate_per_second: "rate_per_second(x)",
  rate_per_minute: "rate_per_minute(x)",
  rate_per_hour: "rate_per_hour(x)",
  join: "join(x, ',')",
  sqrt: "sqrt(x)",
  cbrt: "cbrt(x)",
  power: "power(x, 2)",
  exp: "exp(x)",
  log: "log(x)",
  log10: "log10(x)",
  log2: "log2(x)",
  sin: "sin(x)",
  cos: "cos(x)",
  tan: "tan(x)",
  asin: "asin(x)",
  acos: "acos(x)",
  atan: "atan(x)",
  atan2: "atan2(x, 1)",
  sinh: "sinh(x)",
  cosh: "cosh(x)",
  tanh: "tanh(x)",
  truncate: "truncate(x)",
  factorial: "factorial(x)",
  gcd: "gcd(x, 4)",
  lcm: "lcm(x, 4)",
  sum: "sum(x)",
  average: "average(x)",
  median: "median(x)",
  variance: "variance(x)",
  stddev: "stddev(x)",
  percentile: "percentile(x, 50)",
  moving_average: "moving_average(x, 2)",
  moving_sum: "moving_sum(x, 2)",
  moving_min: "moving_min(x, 2)",
  moving_max: "moving_max(x, 2)",
  compound_interest: "compound_interest(x, 0.05, 12)",
  present_value: "present_value(x, 0.05, 12)",
  future_value: "future_value(x, 0.05, 12)",
  payment: "payment(x, 0.05, 12)",
  within_radius: "within_radius(x, [1, 2], 5)",
  in_polygon: "in_polygon(x, ([0, 0], [0, 4], [4, 4]))",
};

const wrongFor: Readonly<Record<ParameterType, Json>> = {
  any: true,
  text: 5,
  number: "five",
  list: "a",
  "text or list": 5,
  "number or list": "five",
  date: "yesterday",
  duration: "8 hours",
  path: "",
  place: [91, 0],
  polygon: [[0, 0]],
};

function probeOf({ name }: FunctionEntry): string {
  const probe = probes[name];
  if (probe === undefined) throw new Error(`add a probe of \`${name}\` to \`probes\` in this file`);
  return probe;
}

function promised({ badOperandResults: answers = allErrored }: FunctionEntry): typeof allErrored {
  return answers;
}

function outcome(value: Json | Failure): string {
  if (value instanceof Failure) return "errored";
  return typeof value === "string" ? value : JSON.stringify(value);
}

describe("every function of the language", () => {
  it("is probed here, and nothing else is", () => {
    expect(Object.keys(probes).sort()).toEqual([...functionTable().keys()].sort());
  });

  it("stands in exactly one group of the help", () => {
    const grouped = functionGroups().flatMap((group) => group.entries.map((entry) => entry.name));
    expect(grouped.sort()).toEqual([...functionTable().keys()].sort());
  });

  it.each(entries)("$name answers its documented example as documented", ({ example }) => {
    expect(answer(example.expression, documentedContext)).toEqual(example.answer);
  });

  it.each(entries)("$name gives its example an answer of the type it says it returns", (entry) => {
    const types = { boolean: "boolean", text: "string", number: "number", any: typeof entry.example.answer };
    expect(typeof entry.example.answer).toBe(types[entry.returns]);
  });

  it.each(entries)("$name answers as stated if its first argument is missing", (entry) => {
    expect(outcome(answer(probeOf(entry)))).toBe(promised(entry).missing);
  });

  it.each(entries)("$name answers as stated if its first argument is null", (entry) => {
    expect(outcome(answer(probeOf(entry), { x: null }))).toBe(promised(entry).null);
  });

  const strict = entries.filter((entry) => promised(entry).mistyped !== "any");

  it.each(strict)("$name answers as stated if its first argument is of the wrong type", (entry) => {
    const wrong = wrongFor[entry.parameters[0]?.type ?? "any"];
    expect(outcome(answer(probeOf(entry), { x: wrong }))).toBe(promised(entry).mistyped);
  });

  const lenient = entries.filter((entry) => promised(entry).mistyped === "any");

  it.each(lenient)("$name takes a first argument of any type", (entry) => {
    const values: Json[] = [true, false, 0, 5, "", "text", [], [1], {}, { a: 1 }];
    const answers = values.map((x) => answer(probeOf(entry), { x }));
    expect(answers.filter((each) => each instanceof Failure)).toEqual([]);
  });

  it.each(entries)("$name is rejected without any argument", ({ name }) => {
    expect(refusalOf(`${name}()`).message).toContain("got 0 arguments");
  });

  const bounded = entries.filter((entry) => !entry.parameters.at(-1)?.rest);

  it.each(bounded)("$name is rejected with one argument too many", ({ name, parameters }) => {
    const args = Array.from({ length: parameters.length + 1 }, () => "'a'");
    expect(refusalOf(`${name}(${args.join(", ")})`).message).toContain(`got ${args.length}`);
  });
});

describe("the design's list of functions", () => {
  const named = [
    "contains starts_with ends_with matches lower upper trim length exists empty get",
    "abs ceil floor round min max between any_of all_of none_of",
  ];

  it.each(named.join(" ").split(" "))("has %s", (name) => {
    expect(functionTable().has(name)).toBe(true);
  });
});

describe("a later argument of the wrong type", () => {
  it.each([
    "contains('abc', 5)",
    "contains('abc', null)",
    "starts_with('abc', 5)",
    "starts_with('abc', null)",
    "ends_with('abc', true)",
    "matches('5', x)",
    "get(document, true)",
    "get(document, null)",
    "get(document, ['a'])",
    "get(document, absent)",
    "round(1.5, '1')",
    "round(1.5, 0.5)",
    "round(1.5, -1)",
    "round(1.5, 16)",
    "min(1, '2')",
    "max(1, null)",
    "min([1, '2'])",
    "max([1], 2)",
    "between(2, '1', 3)",
    "between(2, 1, '3')",
    "between('b', 'a', 3)",
    "before('2026-01-01', 'tomorrow')",
    "after('2026-01-01', 20260101)",
    "days_between('2026-01-01', null)",
    "add_duration('2026-01-01', '1d')",
    "any_of(list, absent)",
    "join(list, 5)",
    "percentile(list, '50')",
    "within_radius([1, 2], [91, 2], 5)",
    "within_radius([1, 2], [1, 2], 0 - 1)",
    "in_polygon([1, 2], list)",
    "in_polygon([1, 2], ([0, 0], [0, 4]))",
  ])("makes %s errored", (expression) => {
    expect(answer(expression, { x: 5, document: { a: 1 }, list: [1] })).toBeInstanceOf(Failure);
  });
});

describe("a pattern that is written as something else than text", () => {
  const outcomeOf = (expression: string): Json | Failure => {
    try {
      return answer(expression);
    } catch {
      return "refused";
    }
  };

  it.each([
    "matches('5', 5)",
    "matches('null', null)",
    "matches('true', true)",
    "'a5' ~= 5",
    "'null' ~= null",
  ])("never finds anything, as in %s", (expression) => {
    expect(outcomeOf(expression)).not.toBe(true);
  });
});

describe("signature", () => {
  it.each([
    ["lower", "lower(text)"],
    ["round", "round(value, [digits])"],
    ["any_of", "any_of(list, item…)"],
  ])("of %s reads %s", (name, written) => {
    const entry = functionTable().get(name);
    expect(entry && signature(entry)).toBe(written);
  });
});
