import type { Json } from "../../model/json.js";
import { equal } from "../equal.js";
import { fail, typeName } from "../failure.js";
import type { FunctionEntry } from "../function-table.js";
import { maxTextLength } from "../operators.js";
import { compilePattern, textTooLongMessage } from "../pattern.js";

export const textFunctions = (): readonly FunctionEntry[] => [
  {
    name: "contains",
    summary: "the text contains a part, or the list an item",
    parameters: [
      { name: "within", type: "text or list" },
      { name: "part", type: "any" },
    ],
    returns: "boolean",
    example: { expression: "contains(customer.tags, 'vip')", answer: true },
    run: contains,
  },
  {
    name: "starts_with",
    summary: "the text begins with a part",
    parameters: [
      { name: "text", type: "text" },
      { name: "part", type: "text" },
    ],
    returns: "boolean",
    example: { expression: "starts_with(customer.email, 'ada@')", answer: true },
    run: (text: string, part: string) => text.startsWith(part),
  },
  {
    name: "ends_with",
    summary: "the text ends with a part",
    parameters: [
      { name: "text", type: "text" },
      { name: "part", type: "text" },
    ],
    returns: "boolean",
    example: { expression: "ends_with(customer.email, '.example')", answer: true },
    run: (text: string, part: string) => text.endsWith(part),
  },
  {
    name: "matches",
    summary: "the pattern (RE2 syntax) is found anywhere in the text; `~=` is the same",
    parameters: [
      { name: "text", type: "text" },
      { name: "pattern", type: "text" },
    ],
    returns: "boolean",
    example: { expression: "matches(customer.email, '@[a-z]+\\.example$')", answer: true },
    run: matches,
  },
  {
    name: "lower",
    summary: "the text in lower case",
    parameters: [{ name: "text", type: "text" }],
    returns: "text",
    example: { expression: "lower(customer.country)", answer: "de" },
    run: (text: string) => text.toLowerCase(),
  },
  {
    name: "upper",
    summary: "the text in upper case",
    parameters: [{ name: "text", type: "text" }],
    returns: "text",
    example: { expression: "upper(customer.name)", answer: "ADA" },
    run: (text: string) => text.toUpperCase(),
  },
  {
    name: "trim",
    summary: "the text without white space at its ends",
    parameters: [{ name: "text", type: "text" }],
    returns: "text",
    example: { expression: "trim('  ok ')", answer: "ok" },
    run: (text: string) => text.trim(),
  },
  {
    name: "join",
    summary: "the texts, numbers and booleans of a list as one text, with a separator between them",
    parameters: [
      { name: "list", type: "list" },
      { name: "separator", type: "text" },
    ],
    returns: "text",
    example: { expression: "join(customer.tags, ', ')", answer: "vip, early" },
    run: join,
  },
];

function contains(within: string | readonly Json[], part: Json): boolean {
  if (typeof within !== "string") return within.some((item) => equal(item, part));
  if (typeof part !== "string") fail(`\`contains\` needs text to look for in text, got ${typeName(part)}`);
  return within.includes(part);
}

/** Joins texts, numbers and booleans; fails for other items, and for a text that is too long. */
export function join(list: readonly Json[], separator: string): string {
  const texts = list.map((item) => {
    if (typeof item === "object") fail(`\`join\` needs texts, numbers and booleans, got ${typeName(item)}`);
    return String(item);
  });
  const length = texts.reduce((sum, text) => sum + text.length + separator.length, 0);
  if (length > maxTextLength) fail(`the result of \`join\` is longer than ${maxTextLength} characters`);
  return texts.join(separator);
}

function matches(text: string, pattern: string): boolean {
  const compiled = compilePattern(pattern);
  if (typeof compiled === "string") fail(`\`matches\` got an invalid pattern: ${compiled}`);
  return compiled.test(text) ?? fail(textTooLongMessage);
}
