import { describe, expect, it } from "vitest";
import { DecisionError } from "../../../src/errors.js";
import { ruleOperatorGroups, ruleOperators } from "../../../src/expression/rule/rule-operators.js";
import type { Json } from "../../../src/model/json.js";
import { ask, askMissing, checkValue, operatorNamed, traceOf } from "./evaluate-condition.js";

const aCircle = { center: { lat: 52.5, lon: 13.4 }, radius: 10 };

/** For each operator a valid `value`, an invalid one, and a field that it cannot test. */
const probes: Readonly<Record<string, { value: Json; faulty?: Json; wrong?: Json }>> = {
  eq: { value: "a" },
  neq: { value: "a" },
  gt: { value: 5, faulty: true, wrong: "6" },
  gte: { value: 5, faulty: [5], wrong: true },
  lt: { value: 5, faulty: {}, wrong: [1] },
  lte: { value: 5, faulty: null, wrong: { a: 1 } },
  in: { value: ["a"], faulty: "a" },
  not_in: { value: ["a"], faulty: { a: 1 } },
  present: { value: true, faulty: false },
  blank: { value: true, faulty: false },
  contains: { value: "a", wrong: 5 },
  starts_with: { value: "a", faulty: 5, wrong: 5 },
  ends_with: { value: "a", faulty: ["a"], wrong: ["a"] },
  matches: { value: "a", faulty: "(", wrong: 5 },
  between: { value: [1, 5], faulty: [5, 1], wrong: "3" },
  modulo: { value: [2, 1], faulty: [0, 1], wrong: "3" },
  before_date: { value: "2026-01-01", faulty: "yesterday", wrong: "2026-01-01T00:00:00" },
  after_date: { value: "2026-01-01", faulty: 2026, wrong: 2026 },
  within_days: { value: 5, faulty: -1, wrong: "soon" },
  day_of_week: { value: "mon", faulty: "someday", wrong: "monday" },
  contains_all: { value: ["a"], faulty: "a", wrong: "a" },
  contains_any: { value: ["a"], faulty: "a", wrong: "a" },
  intersects: { value: ["a"], faulty: "a", wrong: { 0: "a" } },
  subset_of: { value: ["a"], faulty: "a", wrong: "a" },
  length: { value: 1, faulty: "1", wrong: 1 },
  min: { value: 1, faulty: {}, wrong: 1 },
  max: { value: 1, faulty: [1], wrong: ["1"] },
  sum: { value: 1, faulty: { least: 1 }, wrong: [1, null] },
  average: { value: 1, faulty: { gte: "1" }, wrong: "1" },
  count: { value: 1, faulty: null, wrong: "a" },
  join: { value: { separator: ",", result: "a" }, faulty: { separator: "," }, wrong: "a" },
  sqrt: { value: 2, faulty: "2", wrong: "4" },
  cbrt: { value: 2, faulty: null, wrong: "8" },
  power: { value: { exponent: 2, result: 4 }, faulty: { exponent: "2", result: 4 }, wrong: "2" },
  exp: { value: 1, faulty: {}, wrong: true },
  log: { value: 1, faulty: { least: 1 }, wrong: "1" },
  log10: { value: 1, faulty: [1], wrong: "1" },
  log2: { value: 1, faulty: "1", wrong: [1] },
  sin: { value: 0, faulty: "0", wrong: "0" },
  cos: { value: 0, faulty: "0", wrong: "0" },
  tan: { value: 0, faulty: "0", wrong: "0" },
  asin: { value: 0, faulty: "0", wrong: "0" },
  acos: { value: 0, faulty: "0", wrong: "0" },
  atan: { value: 0, faulty: "0", wrong: "0" },
  atan2: { value: [1, 0], faulty: [1], wrong: "0" },
  sinh: { value: 0, faulty: "0", wrong: "0" },
  cosh: { value: 0, faulty: "0", wrong: "0" },
  tanh: { value: 0, faulty: "0", wrong: "0" },
  round: { value: 1, faulty: "1", wrong: "1" },
  floor: { value: 1, faulty: "1", wrong: "1" },
  ceil: { value: 1, faulty: "1", wrong: "1" },
  truncate: { value: 1, faulty: "1", wrong: "1" },
  abs: { value: 1, faulty: "1", wrong: "1" },
  factorial: { value: 24, faulty: "24", wrong: "4" },
  gcd: { value: [12, 6], faulty: [1.5, 6], wrong: "18" },
  lcm: { value: { other: 12, result: 36 }, faulty: { result: 36 }, wrong: "9" },
  mean: { value: 1, faulty: "1", wrong: 1 },
  median: { value: { gt: 1 }, faulty: { gt: "1" }, wrong: 1 },
  variance: { value: 1, faulty: "1", wrong: ["1", "2"] },
  stddev: { value: 1, faulty: {}, wrong: "1" },
  standard_deviation: { value: 1, faulty: [], wrong: "1" },
  percentile: { value: { percentile: 95, gt: 1 }, faulty: { percentile: 101, gt: 1 }, wrong: 1 },
  moving_average: { value: { window: 2, gt: 1 }, faulty: { window: 0, gt: 1 }, wrong: 1 },
  moving_sum: { value: { window: 2, threshold: 1 }, faulty: { window: 2 }, wrong: 1 },
  moving_min: { value: { window: 2, gt: 1 }, faulty: { window: 1.5, gt: 1 }, wrong: 1 },
  moving_max: { value: { window: 2, gt: 1 }, faulty: { window: "2", gt: 1 }, wrong: 1 },
  compound_interest: { value: { rate: 0.1, periods: 2, gt: 1 }, faulty: { rate: 0.1, gt: 1 }, wrong: "1" },
  present_value: { value: { rate: 0.1, periods: 2, gt: 1 }, faulty: 5, wrong: "1" },
  future_value: { value: [0.1, 2, 5], faulty: { rate: 0.1, periods: 0, gt: 1 }, wrong: "1" },
  payment: {
    value: { rate: 0.1, periods: 2, result: 1 },
    faulty: { rate: 0.1, periods: 2, result: "1" },
    wrong: "1",
  },
  hour_of_day: { value: 5, faulty: "5", wrong: "noon" },
  day_of_month: { value: 5, faulty: "5", wrong: 5 },
  month: { value: 5, faulty: "May", wrong: "May" },
  year: { value: 2026, faulty: "2026", wrong: 2026 },
  week_of_year: { value: { min: 1 }, faulty: { from: 1 }, wrong: "2026-W01" },
  duration_seconds: { value: { end: "now", gt: 1 }, faulty: { gt: 1 }, wrong: "soon" },
  duration_minutes: { value: { end: "a.b", gt: 1 }, faulty: { end: "a..b", gt: 1 }, wrong: "soon" },
  duration_hours: { value: { end: "now", max: 1 }, faulty: { end: "now" }, wrong: 5 },
  duration_days: { value: { end: "now", max: 1 }, faulty: 5, wrong: 5 },
  add_days: { value: { days: 1, compare: "lt" }, faulty: { days: 1 }, wrong: "soon" },
  subtract_days: { value: { days: 1, compare: "lt" }, faulty: { hours: 1, compare: "lt" }, wrong: "soon" },
  add_hours: { value: { hours: 1, compare: "eq" }, faulty: { hours: "1", compare: "lt" }, wrong: "soon" },
  subtract_hours: { value: { hours: 1, compare: "gt" }, faulty: { hours: 1, compare: "<" }, wrong: "soon" },
  add_minutes: {
    value: { minutes: 1, compare: "gte", target: "a" },
    faulty: { minutes: 1, compare: "gte", target: "constructor.a" },
    wrong: "soon",
  },
  subtract_minutes: { value: { minutes: 1, compare: "lte" }, faulty: "now", wrong: "soon" },
  rate_per_second: { value: { max: 1 }, faulty: { most: 1 }, wrong: "a" },
  rate_per_minute: { value: 1, faulty: "1", wrong: 5 },
  rate_per_hour: { value: 1, faulty: "1", wrong: ["a", "b"] },
  in_polygon: {
    value: [[0, 0], [0, 4], { lat: 4, lng: 4 }],
    faulty: [
      [0, 0],
      [0, 4],
    ],
    wrong: { lat: 91, lon: 0 },
  },
  within_radius: { value: aCircle, faulty: { ...aCircle, radius: -1 }, wrong: { lat: 52.5 } },
  fetch_from_api: { value: { endpoint: "bureau" }, faulty: { endpoint: "bureau", into: "x" } },
};

const named = Object.entries(probes).map(([name, probe]) => ({ name, ...probe }));
const entries = [...ruleOperators().values()];

describe("every operator of rules", () => {
  it("is probed here, and nothing else is", () => {
    expect(Object.keys(probes).sort()).toEqual([...ruleOperators().keys()].sort());
  });

  it("stands in exactly one group of the help", () => {
    const grouped = ruleOperatorGroups().flatMap(({ entries: group }) => group.map(({ name }) => name));
    expect(grouped.sort()).toEqual([...ruleOperators().keys()].sort());
  });

  it.each(entries)("$name answers its documented example as documented", ({ name, example }) => {
    expect(example.condition.op).toBe(name);
    const { result, note } = traceOf(example.condition, example.context);
    expect({ result, note }).toEqual({ result: example.answer, note: undefined });
  });

  it.each(entries)("$name says in the help what it does and what it takes", ({ summary, takes }) => {
    expect([summary, takes].filter((text) => text === "" || text.endsWith("."))).toEqual([]);
  });

  const anyway = entries.filter(({ testsMissing }) => testsMissing).map(({ name }) => name);
  const strict = named.filter(({ name }) => name !== "blank" && !anyway.includes(name));

  it.each(strict)("$name is false, with a note, if the field is missing", ({ name, value }) => {
    expect(askMissing(name, value)).toBe("`x` is missing");
  });

  it("only `fetch_from_api` is evaluated if the field is missing", () => {
    expect(anyway).toEqual(["fetch_from_api"]);
    expect(askMissing("fetch_from_api", { endpoint: "bureau" })).toBe(false);
  });

  it.each(named)("$name accepts $value", ({ name, value }) => {
    expect(checkValue(name, value)).toBeUndefined();
  });

  const faulty = named.flatMap(({ name, faulty: value }) => (value === undefined ? [] : [{ name, value }]));

  it.each(faulty)("$name rejects $value, and says what it takes", ({ name, value }) => {
    expect(checkValue(name, value)).toMatch(
      /^(?:`value` must be .+ \(got .+\)|invalid pattern|`\w+` takes no `value`)/,
    );
    expect(() => operatorNamed(name).prepare(value)).toThrow(DecisionError);
    expect(() => operatorNamed("within_days").extraReads("x")).toThrow(DecisionError);
  });

  const mistyped = named.flatMap((each) =>
    each.wrong === undefined ? [] : [{ ...each, wrong: each.wrong }],
  );

  it.each(mistyped)("$name is false, with a note, of $wrong", ({ name, value, wrong }) => {
    expect(ask(name, wrong, value)).toMatch(new RegExp(`^\`${name}\` needs .+`));
  });

  it.each(mistyped)("$name is false, with a note, of null", ({ name, value }) => {
    expect(ask(name, null, value)).toMatch(new RegExp(`^\`${name}\` needs .+, got null$`));
  });

  it.each(mistyped)("$name never shows the value in its note, for it can be a secret", ({ name, value }) => {
    expect(ask(name, { lat: "s3cret" }, value)).not.toContain("s3cret");
  });
});

describe("the time of the request", () => {
  it("is read only by operators that compare with it, and only without a date of their own", () => {
    const readers = named.filter(({ name, value }) =>
      operatorNamed(name).extraReads(value).includes("system.request_time"),
    );
    expect(readers.map(({ name }) => name)).toEqual([
      "within_days",
      "duration_seconds",
      "duration_hours",
      "duration_days",
      "add_days",
      "subtract_days",
      "add_hours",
      "subtract_hours",
      "subtract_minutes",
    ]);
    expect(operatorNamed("duration_days").extraReads({ end: "a.b", max: 1 })).toEqual(["a.b"]);
    expect(operatorNamed("within_days").extraReads({ days: 1, of: "2026-01-01" })).toEqual([]);
  });
});
