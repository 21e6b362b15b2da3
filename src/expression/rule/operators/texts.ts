import type { Json } from "../../../model/json.js";
import { equal, isList } from "../../equal.js";
import { Failure, typeName } from "../../failure.js";

import type { Pattern } from "../../pattern.js";
import { compilePattern, textTooLongMessage } from "../../pattern.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { ruleOperator, parseAny, parseText, typeMismatch } from "../rule-operator.js";

const email = { email: "ada@mail.example" };

export const textOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "contains",
    summary: "the text contains a part, or the list an item",
    takes: "text for a text, anything for a list",
    example: {
      condition: { field: "tags", op: "contains", value: "vip" },
      context: { tags: ["vip", "eu"] },
      answer: true,
    },
    parse: parseAny,
    test: containsValue,
  }),
  ruleOperator({
    name: "starts_with",
    summary: "the text begins with a part",
    takes: "text",
    example: {
      condition: { field: "email", op: "starts_with", value: "ada@" },
      context: email,
      answer: true,
    },
    parse: parseText,
    test: (part) => onText("starts_with", (actual) => actual.startsWith(part)),
  }),
  ruleOperator({
    name: "ends_with",
    summary: "the text ends with a part",
    takes: "text",
    example: { condition: { field: "email", op: "ends_with", value: ".org" }, context: email, answer: false },
    parse: parseText,
    test: (part) => onText("ends_with", (actual) => actual.endsWith(part)),
  }),
  ruleOperator({
    name: "matches",
    summary: "the pattern (RE2 syntax) is found anywhere in the text",
    takes: "a pattern, as text",
    example: {
      condition: { field: "email", op: "matches", value: "@[a-z]+\\.example$" },
      context: email,
      answer: true,
    },
    parse: parsePattern,
    test: (compiled) => onText("matches", (actual) => compiled.test(actual) ?? textTooLongMessage),
  }),
];

function containsValue(expected: Json): RuleTest {
  return (actual) => {
    if (isList(actual)) return actual.some((item) => equal(item, expected));
    if (typeof actual !== "string") return typeMismatch("contains", "text or a list", actual);
    if (typeof expected !== "string")
      return typeMismatch("contains", `a list to find ${typeName(expected)} in`, actual);
    return actual.includes(expected);
  };
}

function onText(name: string, test: (actual: string) => boolean | string): RuleTest {
  return (actual) => (typeof actual === "string" ? test(actual) : typeMismatch(name, "text", actual));
}

function parsePattern(value: Json): Pattern | Failure {
  const source = parseText(value);
  if (source instanceof Failure) return source;
  const compiled = compilePattern(source);
  return typeof compiled === "string" ? new Failure(`invalid pattern: ${compiled}`) : compiled;
}
