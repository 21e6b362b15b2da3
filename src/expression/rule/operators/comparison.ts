import { toItemSet } from "./lists.js";
import type { Json } from "../../../model/json.js";
import { equal, isList, isObject } from "../../equal.js";
import { Failure } from "../../failure.js";
import type { RuleOperator } from "../rule-operator.js";
import {
  ruleOperator,
  parseAny,
  isNumber,
  parseList,
  numberLikeItsValue,
  textLikeItsValue,
  invalidValue,
  typeMismatch,
} from "../rule-operator.js";

export const comparisonOperators = (): readonly RuleOperator[] => [
  ruleOperator({
    name: "eq",
    symbol: "=",
    summary: "equal in type and content; null equals null",
    takes: "anything",
    example: {
      condition: { field: "customer.country", op: "eq", value: "DE" },
      context: { customer: { country: "DE" } },
      answer: true,
    },
    parse: parseAny,
    test: (expected) => (actual) => equal(actual, expected),
  }),
  ruleOperator({
    name: "neq",
    symbol: "!=",
    summary: "the value is not missing and not equal",
    takes: "anything",
    example: {
      condition: { field: "fraud", op: "neq", value: true },
      context: { fraud: false },
      answer: true,
    },
    parse: parseAny,
    test: (expected) => (actual) => !equal(actual, expected),
  }),
  orderingOperator(
    "gt",
    ">",
    "greater, of two numbers or two texts",
    (actual, expected) => actual > expected,
  ),
  orderingOperator("gte", ">=", "greater or equal", (actual, expected) => actual >= expected),
  orderingOperator("lt", "<", "less", (actual, expected) => actual < expected),
  orderingOperator("lte", "<=", "less or equal", (actual, expected) => actual <= expected),
  ruleOperator({
    name: "in",
    summary: "equal to one of the items",
    takes: "a list",
    example: {
      condition: { field: "country", op: "in", value: ["DE", "FR"] },
      context: { country: "FR" },
      answer: true,
    },
    parse: parseList,
    test: (items) => toItemSet(items).has,
  }),
  ruleOperator({
    name: "not_in",
    summary: "the value is not missing and equal to none of the items",
    takes: "a list",
    example: {
      condition: { field: "country", op: "not_in", value: ["XX", "YY"] },
      context: { country: "XX" },
      answer: false,
    },
    parse: parseList,
    test: (items) => {
      const members = toItemSet(items);
      return (actual) => !members.has(actual);
    },
  }),
];

type Ordered = number | string;

function orderingOperator(
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
    parse: parseOrdered,
    test: (expected) =>
      typeof expected === "number"
        ? (actual) =>
            typeof actual === "number"
              ? holds(actual, expected)
              : typeMismatch(name, numberLikeItsValue, actual)
        : (actual) =>
            typeof actual === "string"
              ? holds(actual, expected)
              : typeMismatch(name, textLikeItsValue, actual),
  });
}

function parseOrdered(value: Json): Ordered | Failure {
  return isNumber(value) || typeof value === "string" ? value : invalidValue("a number or text", value);
}

export const presenceOperators = (): readonly RuleOperator[] => [
  ruleOperator({
    name: "present",
    summary: "the value is not missing, null, '', [] or {}; false and 0 are present",
    takes: "nothing",
    takesNoValue: true,
    example: {
      condition: { field: "email", op: "present" },
      context: { email: "ada@mail.example" },
      answer: true,
    },
    parse: (value) => parseNothing(value, "present", "blank"),
    test: () => (actual) => !isBlank(actual),
  }),
  ruleOperator({
    name: "blank",
    summary: "missing, null, '', [] or {}",
    takes: "nothing",
    takesNoValue: true,
    trueWhenMissing: true,
    example: { condition: { field: "notes", op: "blank" }, context: { notes: "" }, answer: true },
    parse: (value) => parseNothing(value, "blank", "present"),
    test: () => isBlank,
  }),
];

/** Accepts `value: true`. Rejects false, which would mean the opposite. */
function parseNothing(value: Json, name: string, opposite: string): true | Failure {
  if (value === true) return true;
  const instead = value === false ? `: write \`${opposite}\` instead` : "";
  return new Failure(`\`${name}\` takes no \`value\`${instead}`);
}

function isBlank(actual: Json): boolean {
  if (actual === null || actual === "") return true;
  if (isList(actual)) return actual.length === 0;
  return isObject(actual) && Object.keys(actual).length === 0;
}
