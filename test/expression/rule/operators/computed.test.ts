import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { ask, checkValue, requestTime, traceOf } from "../evaluate-condition.js";

describe("operators that compute a number", () => {
  it.each<[string, Json, Json, boolean]>([
    ["sin", Math.PI, 0, true],
    ["sin", Math.PI, 1e-9, false],
    ["cos", Math.PI, { lt: -0.9 }, true],
    ["log10", 1000, 3, true],
    ["log10", 5000, { gte: 2, lte: 4 }, true],
    ["exp", 7, { lt: 1000 }, false],
    ["exp", 20, 485165195.4097903, true],
    ["exp", 20, 485165195.409, false],
    ["cosh", 6, { gte: 201.7156361224559, lte: 201.7156361224559 }, true],
    ["log2", 2 ** 40 + 1, 40, true],
    ["power", 10, { exponent: 15, result: 1e15 + 1 }, false],
    ["power", 2, [10, 1024], true],
    ["power", 8, { exponent: 1 / 3, result: 2 }, true],
    ["power", 3, { exponent: 2, gt: 9 }, false],
    ["atan2", 1, [1, Math.PI / 4], true],
    ["gcd", 36, { other: 24, result: 12 }, true],
    ["lcm", 9, [12, 36], true],
    ["round", 3.5, 4, true],
    ["truncate", -3.9, -3, true],
    ["mean", [0.1, 0.2], 0.15, true],
    ["stddev", [2, 4, 4, 4, 5, 5, 7, 9], 2, true],
    ["standard_deviation", [2, 4, 4, 4, 5, 5, 7, 9], { eq: 2 }, true],
    ["percentile", [10, 20, 30], { percentile: 50, threshold: 20 }, true],
    ["percentile", [10, 20, 30], { percentile: 50, gt: 20 }, false],
    ["moving_average", [100, 1, 3], { window: 2, lt: 3 }, true],
    ["compound_interest", 1000, { rate: 0.05, periods: 12, result: 1051.16 }, true],
    ["present_value", 1000, { rate: 0.05, periods: 10, result: 613.92 }, false],
    ["payment", 1000, { rate: 0.01, periods: 12, result: 88.85, gt: 88 }, true],
    ["month", "2026-12-31T23:30:00-01:00", 1, true],
    ["week_of_year", "2027-01-01", 53, true],
    ["hour_of_day", "2026-06-01T23:30:00+02:00", 21, true],
    ["rate_per_minute", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:15Z"], 6, true],
    ["join", ["a", 1, true], { separator: "-", result: "a-1-true" }, true],
    ["join", ["a", "b"], { contains: "a,b" }, true],
    ["join", ["a", "b"], { separator: ";", contains: "," }, false],
  ])("%s of %j with %j is %s", (op, actual, value, expected) => {
    expect(ask(op, actual, value)).toBe(expected);
  });

  it.each<[string, Json, Json, string]>([
    ["sqrt", -1, 1, "`sqrt` needs a number that is not negative"],
    ["mean", [], 1, "`mean` needs at least one number"],
    ["standard_deviation", [1], 1, "`standard_deviation` needs at least two numbers"],
    ["factorial", 3.5, 6, "`factorial` needs a whole number from 0 to 170"],
    ["rate_per_second", ["2026-01-01"], 1, "`rate_per_second` needs at least two different instants"],
    ["join", [["a"]], { contains: "a" }, "`join` needs texts, numbers and booleans, got a list"],
  ])("%s of %j is false, with a note", (op, actual, value, note) => {
    expect(ask(op, actual, value)).toBe(note);
  });

  it.each<Json>([
    { rate: 0.01, periods: 12, result: "88.85" },
    { rate: 0.01, periods: 12, result: 88.85, above: 88 },
  ])("of money do not accept %j", (value) => {
    expect(checkValue("payment", value)).toContain("`value` must be");
  });

  it("say which keys their value has", () => {
    expect(checkValue("percentile", { percentile: 101, gt: 1 })).toBe(
      "`value` must be a map of `percentile` (a number from 0 to 100) and of `result`, `threshold` or bounds such as `gt` to numbers (got a map)",
    );
  });
});

describe("operators on durations", () => {
  const earlier = "2026-06-15T10:30:00Z";

  it.each<[string, Json, boolean]>([
    ["duration_seconds", { end: "now", eq: 5400 }, true],
    ["duration_minutes", { end: "now", gt: 90 }, false],
    ["duration_hours", { end: "now", gte: 1.5 }, true],
    ["duration_days", { end: "end", max: 1 }, true],
    ["duration_days", { end: "end", lt: 1 }, false],
    ["add_days", { days: 1, compare: "gt" }, true],
    ["add_hours", { hours: 1.5, compare: "eq", target: "now" }, true],
    ["add_minutes", { minutes: 89, compare: "lte" }, true],
    ["subtract_days", { days: 1, compare: "eq", target: "end" }, true],
    ["subtract_hours", { hours: 1, compare: "lt", target: "end" }, false],
    ["subtract_minutes", { minutes: 1, compare: "gte", target: "end" }, true],
  ])("%s with %j is %s", (op, value, expected) => {
    const context = { x: earlier, end: "2026-06-14T10:30:00Z" };
    expect(requestTime).toBe("2026-06-15T12:00:00.000000Z");
    expect(traceOf({ field: "x", op, value }, context).result).toBe(expected);
  });

  it.each([
    ["duration_days", { end: "end", max: 1 }, {}, "`end` is missing"],
    [
      "add_days",
      { days: 1, compare: "lt", target: "end" },
      { end: "tomorrow" },
      "`add_days` needs `end` to be an ISO 8601 date (a time needs a zone), got text",
    ],
    [
      "duration_hours",
      { end: "end", gt: 1 },
      { end: 1781433000 },
      "`duration_hours` needs `end` to be an ISO 8601 date (a time needs a zone), got a number",
    ],
  ])("%s is false, with a note, without another date", (op, value, context, note) => {
    expect(traceOf({ field: "x", op, value }, { x: earlier, ...context })).toMatchObject({
      result: false,
      note,
    });
  });
});
