import { describe, expect, it } from "vitest";
import { answer, whyErrored } from "../answers.js";

describe("functions on dates", () => {
  it.each([
    ["before('2026-01-01', '2026-01-02')", true],
    ["before('2026-01-01', '2026-01-01T00:00:00Z')", false],
    ["after('2026-01-01', '2026-01-01')", false],
    ["after('2026-01-01T00:00:01Z', '2026-01-01')", true],
    ["before('2026-01-01T01:00:00+02:00', '2026-01-01')", true],
    ["days_between('2026-01-01', '2026-01-31')", 30],
    ["days_between('2026-01-31', '2026-01-01')", -30],
    ["days_between('2024-02-28', '2024-03-01')", 2],
    ["days_between('2026-03-28', '2026-03-30')", 2],
    ["hours_between('2026-01-01', '2026-01-01T01:30:00Z')", 1.5],
    ["hours_between('2026-01-01T12:00:00+02:00', '2026-01-01T12:00:00Z')", 2],
    ["timestamp('1970-01-01')", 0],
    ["timestamp('1969-12-31T23:59:59.999Z')", -1],
    ["year('2026-12-31T23:30:00-01:00')", 2027],
    ["month('2026-12-31')", 12],
    ["month('2026-01-01')", 1],
    ["day('2026-02-28T23:00:00-02:00')", 1],
    ["hour('2026-01-01T23:59:59Z')", 23],
    ["hour('2026-01-01')", 0],
    ["weekday('2026-03-02')", 1],
    ["weekday('2026-03-07')", 6],
    ["weekday('2026-03-08')", 7],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });
});

describe("date and duration", () => {
  it.each([
    ["date('1970-01-02')", 86_400_000],
    ["date('2026-01-01T00:00:00.001Z') - date('2026-01-01') == duration('PT0.001S')", true],
    ["date('2026-01-01T08:00:00+02:00') == date('2026-01-01T06:00:00Z')", true],
    ["date('2026-01-01') + duration('P1D') == date('2026-01-02')", true],
    ["date('2026-01-02') - date('2026-01-01') > duration('PT8H')", true],
    ["duration('PT8H') > duration('PT10H')", false],
    ["duration('PT8H')", 28_800_000],
    ["duration('PT90M') == duration('PT1H30M')", true],
    ["duration('P1W') == duration('P7D')", true],
    ["duration('P1W2DT3H4M5S')", (9 * 86_400 + 3 * 3600 + 4 * 60 + 5) * 1000],
    ["duration('PT1.005S')", 1005],
    ["duration('PT0,5H')", 1_800_000],
    ["duration('PT0S')", 0],
    ["duration('P0Y1D')", 86_400_000],
    ["duration('+P1D')", 86_400_000],
    ["duration('-PT1H')", -3_600_000],
    ["duration('PT1H') * 2", 7_200_000],
  ])("%s is %j", (expression, expected) => {
    expect(answer(expression)).toBe(expected);
  });

  it.each(["P1M", "P1Y", "P1Y2D", "-P3M"])("have no length for %s", (text) => {
    expect(whyErrored(`duration('${text}')`)).toBe(
      "`duration` cannot convert years and months, whose length varies: use `add_duration(date, duration)`",
    );
  });

  it.each([
    ..."P PT P1 PT1 1D P1H PT1D PT8h pt8h P1S T8H P1DT PT1H1D P-1D P1.5Y PT1.5H30M PT.5S PT1.S 8h".split(" "),
    "PT1.0000000001S",
    "PT99999999999999999999S",
    " PT8H",
    "",
  ])("refuse %j", (text) => {
    expect(whyErrored(`duration(x)`, { x: text })).toBe(
      `\`duration\` needs an ISO 8601 duration (such as PT8H), got ${JSON.stringify(text)}`,
    );
  });
});

describe("add_duration", () => {
  it.each([
    ["2026-01-31", "P1M", "2026-02-28"],
    ["2024-01-31", "P1M", "2024-02-29"],
    ["2024-02-29", "P1Y", "2025-02-28"],
    ["2024-02-29", "P4Y", "2028-02-29"],
    ["2026-03-31", "-P1M", "2026-02-28"],
    ["2026-01-15", "P14M", "2027-03-15"],
    ["2026-01-01", "-P1D", "2025-12-31"],
    ["2026-01-31", "P1M1D", "2026-03-01"],
    ["2026-01-01", "P1W", "2026-01-08"],
    ["2026-01-01", "PT12H", "2026-01-01T12:00:00.000Z"],
    ["2026-01-01", "PT24H", "2026-01-02T00:00:00.000Z"],
    ["2026-01-01", "P0.5D", "2026-01-01T12:00:00.000Z"],
    ["2026-01-01T10:00:00Z", "P1D", "2026-01-02T10:00:00.000Z"],
    ["2026-03-01T00:30:00+02:00", "P1M", "2026-03-31T22:30:00.000Z"],
    ["0050-01-01", "P1Y", "0051-01-01"],
  ])("of %j and %j is %j", (date, duration, expected) => {
    expect(answer("add_duration(date, duration)", { date, duration })).toBe(expected);
  });

  it.each([
    ["9999-12-31", "P1D"],
    ["0000-01-01", "-P1D"],
    ["2026-01-01", "P700000000000M"],
  ])("of %j and %j is out of range", (date, duration) => {
    expect(whyErrored("add_duration(date, duration)", { date, duration })).toBe(
      "the result of `add_duration` is not between the years 0 and 9999",
    );
  });
});
