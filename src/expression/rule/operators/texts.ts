import type { Json } from "../../../model/json.js";
import { equal, isList, isObject } from "../../equal.js";
import { catchFailure, Failure, typeName } from "../../failure.js";
import { join } from "../../functions/texts.js";
import type { Pattern } from "../../pattern.js";
import { compilePattern, textTooLongMessage } from "../../pattern.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { ruleOperator, parseAny, parseText, invalidValue, typeMismatch } from "../rule-operator.js";

const joinDescription =
  "{separator, result} or {separator, contains}, all texts; the separator is `,` if absent";

const email = { email: "ada@mail.example" };

export const textOperators = (): readonly RuleOperator[] => [
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
  ruleOperator({
    name: "join",
    summary: "the items of the list, joined with the separator, are this text or contain it",
    takes: joinDescription,
    example: {
      condition: { field: "tags", op: "join", value: { separator: ",", contains: "vip,eu" } },
      context: { tags: ["vip", "eu"] },
      answer: true,
    },
    parse: parseJoin,
    test: joins,
  }),
];

interface Join {
  readonly separator: string;
  readonly holds: (joined: string) => boolean;
}

function parseJoin(value: Json): Join | Failure {
  const { separator = ",", result, contains, ...others } = isObject(value) ? value : { other: null };
  if (typeof separator === "string" && Object.keys(others).length === 0) {
    if (typeof result === "string" && contains === undefined)
      return { separator, holds: (joined) => joined === result };
    if (typeof contains === "string" && result === undefined)
      return { separator, holds: (joined) => joined.includes(contains) };
  }
  return invalidValue(joinDescription, value);
}

function joins({ separator, holds }: Join): RuleTest {
  return (actual) => {
    if (!isList(actual)) return typeMismatch("join", "a list", actual);
    const joined = catchFailure(() => join(actual, separator));
    return joined instanceof Failure ? joined.message : holds(joined);
  };
}

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
