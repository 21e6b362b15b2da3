import type { Json } from "../../../model/json.js";
import { equal } from "../../equal.js";
import type { Failure } from "../../failure.js";
import { membersOf } from "../membership.js";
import type { RuleOperator } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";
import { anything, isNumber, list } from "../parse-value.js";
import { aNumberLikeValue, aTextLikeValue, mustBe, needs } from "../wording.js";

export const comparisonOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "eq",
    symbol: "=",
    summary: "equal in type and content; null is a value like any other",
    takes: "anything",
    example: {
      condition: { field: "customer.country", op: "eq", value: "DE" },
      context: { customer: { country: "DE" } },
      answer: true,
    },
    parse: anything,
    test: (expected) => (actual) => equal(actual, expected),
  }),
  ruleOperator({
    name: "neq",
    symbol: "!=",
    summary: "there is a value and it is not equal",
    takes: "anything",
    example: {
      condition: { field: "fraud", op: "neq", value: true },
      context: { fraud: false },
      answer: true,
    },
    parse: anything,
    test: (expected) => (actual) => !equal(actual, expected),
  }),
  ordering("gt", ">", "greater, of two numbers or two texts", (actual, expected) => actual > expected),
  ordering("gte", ">=", "greater or equal", (actual, expected) => actual >= expected),
  ordering("lt", "<", "less", (actual, expected) => actual < expected),
  ordering("lte", "<=", "less or equal", (actual, expected) => actual <= expected),
  ruleOperator({
    name: "in",
    summary: "equal to one of the items",
    takes: "a list",
    example: {
      condition: { field: "country", op: "in", value: ["DE", "FR"] },
      context: { country: "FR" },
      answer: true,
    },
    parse: list,
    test: (items) => membersOf(items).has,
  }),
  ruleOperator({
    name: "not_in",
    summary: "there is a value and it is equal to none of the items",
    takes: "a list",
    example: {
      condition: { field: "country", op: "not_in", value: ["XX", "YY"] },
      context: { country: "XX" },
      answer: false,
    },
    parse: list,
    test: (items) => {
      const members = membersOf(items);
      return (actual) => !members.has(actual);
    },
  }),
];

type Ordered = number | string;

function ordering(
  name: string,
  symbol: string,
  summary: string,
  holds: (actual: Ordered, expected: Ordered) => boolean,
): RuleOperator {
  return ruleOperator({
    name,
    symbol,
    summary,
    takes: "a number or text",
    example: {
      condition: { field: "credit.score", op: name, value: 700 },
      context: { credit: { score: 700 } },
      answer: holds(700, 700),
    },
    parse: ordered,
    test: (expected) =>
      typeof expected === "number"
        ? (actual) =>
            typeof actual === "number" ? holds(actual, expected) : needs(name, aNumberLikeValue, actual)
        : (actual) =>
            typeof actual === "string" ? holds(actual, expected) : needs(name, aTextLikeValue, actual),
  });
}

function ordered(value: Json): Ordered | Failure {
  return isNumber(value) || typeof value === "string" ? value : mustBe("a number or text", value);
}
