import { describe, expect, it } from "vitest";
import { compileRule } from "../../../../src/expression/rule/compile-rule.js";
import type { Json, JsonObject } from "../../../../src/model/json.js";
import { scopeOf } from "../../answers.js";
import { ask, checkValue } from "../evaluate-condition.js";

describe("before_date and after_date", () => {
  it.each([
    ["2026-01-01", "2026-01-02", true, false],
    ["2026-01-02", "2026-01-02", false, false],
    ["2026-01-02T00:00:00Z", "2026-01-02", false, false],
    ["2026-01-02T00:00:00.001Z", "2026-01-02", false, true],
    ["2026-01-02T00:30:00+01:00", "2026-01-02", true, false],
    ["2026-01-01T23:30:00-01:00", "2026-01-02T00:00:00Z", false, true],
  ])("compare %s with %s as instants", (actual, limit, before, after) => {
    expect([ask("before_date", actual, limit), ask("after_date", actual, limit)]).toEqual([before, after]);
  });

  it.each(["", "2026-02-30", "2026-01-02T00:00:00", "01/02/2026", "tomorrow"])(
    "take %j for no date",
    (text) => {
      const what = "an ISO 8601 date (a time needs a zone)";
      expect(ask("before_date", text, "2026-01-01")).toBe(`\`before_date\` needs ${what}, got text`);
      expect(checkValue("after_date", text)).toBe(`\`value\` must be ${what} (got "${text}")`);
    },
  );
});

describe("within_days", () => {
  it.each([
    ["2026-06-15T12:00:00Z", 0, true],
    ["2026-06-15T12:00:00.001Z", 0, false],
    ["2026-06-13T12:00:00Z", 2, true],
    ["2026-06-17T12:00:00Z", 2, true],
    ["2026-06-13T11:59:59Z", 2, false],
    ["2026-06-17T12:00:01Z", 2, false],
    ["2026-06-15", 0.5, true],
  ])("counts from the time of the request: %s, %d", (actual, days, answer) => {
    expect(ask("within_days", actual, days)).toBe(answer);
  });

  it.each([
    ["2026-01-31", true],
    ["2025-12-02", true],
    ["2026-02-01", false],
  ])("counts from the date it is given: %s is %s", (actual, answer) => {
    expect(ask("within_days", actual, { days: 30, of: "2026-01-01" })).toBe(answer);
  });

  const systems: JsonObject[] = [{}, { request_time: 5 }, { request_time: "now" }];

  it.each(systems)("has a note if the time of the request is unknown: %j", (system) => {
    const rule = compileRule({ field: "x", op: "within_days", value: 1 });
    const { result, traces } = rule.evaluate(scopeOf({ x: "2026-01-01" }, { system }));
    expect(result).toBe(false);
    expect(traces).toMatchObject([{ note: "`system.request_time` is missing" }]);
  });

  const faulty: Json[] = [
    -1,
    "5",
    null,
    [5],
    {},
    { days: 5 },
    { of: "2026-01-01" },
    { days: -1, of: "2026-01-01" },
  ];
  const others: Json[] = [
    { days: "5", of: "2026-01-01" },
    { days: 5, of: "now" },
    { days: 5, of: null },
    { days: 5, from: "2026-01-01" },
    { days: 5, of: "2026-01-01", more: 1 },
  ];

  it.each([...faulty, ...others].map((value) => ({ value })))("rejects $value", ({ value }) => {
    expect(checkValue("within_days", value)).toMatch(/^`value` must be days/);
  });
});

describe("day_of_week", () => {
  const monday = "2026-03-02T12:00:00Z";

  it.each<[Json, boolean]>([
    ["monday", true],
    ["Mon", true],
    ["MONDAY", true],
    ["tue", false],
    [1, true],
    [0, false],
    [["sat", 0], false],
    [["sat", 1], true],
  ])("treats a Monday as %j: %s", (value, answer) => {
    expect(ask("day_of_week", monday, value)).toBe(answer);
  });

  it("counts from Sunday, which is 0, to Saturday, which is 6", () => {
    const days = [
      "2026-03-01",
      "2026-03-02",
      "2026-03-03",
      "2026-03-04",
      "2026-03-05",
      "2026-03-06",
      "2026-03-07",
    ];
    const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    expect(days.map((day, index) => ask("day_of_week", day, index))).toEqual(days.map(() => true));
    expect(days.map((day, index) => ask("day_of_week", day, names[index]))).toEqual(days.map(() => true));
  });

  it("looks at the day in UTC", () => {
    expect(ask("day_of_week", "2026-03-02T00:30:00+01:00", "sunday")).toBe(true);
  });

  const faulty: Json[] = [
    7,
    -1,
    1.5,
    "m",
    "mo",
    "",
    "tues",
    null,
    true,
    [],
    ["mon", 7],
    [["mon"]],
    { day: "mon" },
  ];

  it.each(faulty.map((value) => ({ value })))("rejects $value", ({ value }) => {
    expect(checkValue("day_of_week", value)).toMatch(/^`value` must be a day/);
  });
});
