import { describe, expect, it } from "vitest";
import { describeConditionTrace } from "../../../src/expression/rule/rule-operators.js";
import type { Json } from "../../../src/model/json.js";
import type { FieldTrace } from "../../../src/model/result.js";

const trace = (field: string, operator: string, expected: Json, negated?: true): FieldTrace => ({
  field,
  operator,
  expected,
  actual: null,
  result: true,
  ...(negated && { negated }),
});

describe("a trace in words", () => {
  it.each<[FieldTrace, string]>([
    [trace("credit.score", "gte", 700), "credit.score >= 700"],
    [trace("credit.score", "lte", 700), "credit.score <= 700"],
    [trace("age", "gt", 17), "age > 17"],
    [trace("age", "lt", 18), "age < 18"],
    [trace("fraud", "neq", true), "fraud != true"],
    [trace("country", "eq", "DE"), 'country = "DE"'],
    [trace("country", "eq", null), "country = null"],
    [trace("country", "in", ["DE", "FR"]), 'country in ["DE","FR"]'],
    [trace("tags", "contains_all", ["a"]), 'tags contains all ["a"]'],
    [trace("email", "present", null), "email present"],
    [trace("email", "blank", true), "email blank"],
    [trace("amounts", "sum", { min: 1, max: 5 }), 'amounts sum {"min":1,"max":5}'],
    [trace("fraud", "eq", true, true), "not (fraud = true)"],
    [trace("email", "present", null, true), "not (email present)"],
    [trace("x", "fetch_from_api", "y"), 'x fetch from api "y"'],
    [trace("x", "fetch_from_api", { endpoint: "bureau", params: { a: 1 } }), "bureau returned data for x"],
    [trace("x", "fetch_from_api", { endpoint: "bureau" }, true), "not (bureau returned data for x)"],
    [trace("x", "no_such_operator", 1), "x no such operator 1"],
  ])("is readable text: %#", (given, text) => {
    expect(describeConditionTrace(given)).toBe(text);
  });

  it("of an expression is the expression", () => {
    expect(describeConditionTrace({ expression: "credit.score < 500", result: false })).toBe(
      "credit.score < 500",
    );
  });

  it("shows a value of 120 characters whole and cuts a longer one", () => {
    expect(describeConditionTrace(trace("a", "eq", "x".repeat(118)))).toBe(`a = "${"x".repeat(118)}"`);
    expect(describeConditionTrace(trace("a", "eq", "x".repeat(119)))).toBe(`a = "${"x".repeat(118)}…`);
  });

  it("cuts no character in half", () => {
    const text = describeConditionTrace(trace("a", "eq", `${"x".repeat(117)}${"🦊".repeat(5)}`));
    expect(text).toBe(`a = "${"x".repeat(117)}…`);
  });
});
