import { describe, expect, it } from "vitest";
import { answer } from "../answers.js";

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
