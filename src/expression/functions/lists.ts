import { canonicalJson } from "../../digest/canonical-json.js";
import type { Json } from "../../model/json.js";
import { isList, isObject } from "../equal.js";
import { fail } from "../failure.js";
import type { FunctionEntry, Parameter } from "../function-table.js";
import { isForbiddenKey } from "../path.js";

const membership: readonly Parameter[] = [
  { name: "list", type: "list" },
  { name: "item", type: "any", rest: true },
];

export const listFunctions = (): readonly FunctionEntry[] => [
  {
    name: "length",
    summary: "the number of items of a list, or of characters (code points) of a text",
    parameters: [{ name: "value", type: "text or list" }],
    returns: "number",
    example: { expression: "length(customer.tags)", answer: 2 },
    run: (value: string | readonly Json[]) =>
      typeof value === "string" ? Array.from(value).length : value.length,
  },
  {
    name: "any_of",
    summary: "the list contains at least one of the items, given as arguments or as a list",
    parameters: membership,
    returns: "boolean",
    example: { expression: "any_of(customer.tags, ('vip', 'staff'))", answer: true },
    run: (list: readonly Json[], ...items: Json[]) => someOf(list, spread(items)),
  },
  {
    name: "all_of",
    summary: "the list contains all of the items",
    parameters: membership,
    returns: "boolean",
    example: { expression: "all_of(customer.tags, 'vip', 'staff')", answer: false },
    run: (list: readonly Json[], ...items: Json[]) => spread(items).every(membershipIn(list)),
  },
  {
    name: "none_of",
    summary: "the list contains none of the items",
    parameters: membership,
    returns: "boolean",
    example: { expression: "none_of(customer.tags, 'banned')", answer: true },
    run: (list: readonly Json[], ...items: Json[]) => !someOf(list, spread(items)),
  },
];

function spread(items: readonly Json[]): readonly Json[] {
  const [only] = items;
  return items.length === 1 && isList(only) ? only : items;
}

function someOf(list: readonly Json[], items: readonly Json[]): boolean {
  const has = membershipIn(list);
  return items.some(has);
}

/** Compares two long lists in linear time. */
function membershipIn(list: readonly Json[]): (item: Json) => boolean {
  const keys = new Set(list.map(keyOf));
  return (item) => keys.has(keyOf(item));
}

/** Values have equal canonical texts only if they are equal. */
const keyOf = (value: Json): string => canonicalJson(value);

export const lookupFunctions = (): readonly FunctionEntry[] => [
  {
    name: "exists",
    summary: "the value is neither missing nor null",
    parameters: [{ name: "value", type: "any" }],
    returns: "boolean",
    acceptsMissing: true,
    badOperandResults: { missing: "false", null: "false", mistyped: "any" },
    example: { expression: "exists(customer.email)", answer: true },
    run: (value?: Json) => value !== undefined && value !== null,
  },
  {
    name: "empty",
    summary: "missing, null, '', [] or {}",
    parameters: [{ name: "value", type: "any" }],
    returns: "boolean",
    acceptsMissing: true,
    badOperandResults: { missing: "true", null: "true", mistyped: "any" },
    example: { expression: "empty(customer.notes)", answer: true },
    run: isEmpty,
  },
  {
    name: "get",
    summary: "the value at a key or an index; if there is none, the fallback, or null",
    parameters: [
      { name: "from", type: "any" },
      { name: "key", type: "any" },
      { name: "fallback", type: "any", optional: true },
    ],
    returns: "any",
    acceptsMissing: true,
    badOperandResults: { missing: "the fallback", null: "the fallback", mistyped: "the fallback" },
    example: { expression: "get(headers, 'x-tier', 'free')", answer: "gold" },
    run: get,
  },
];

function isEmpty(value?: Json): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (isList(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function get(from?: Json, key?: Json, fallback: Json = null): Json {
  if (typeof key !== "string" && typeof key !== "number") fail("`get` needs a text or a number as its key");
  if (isForbiddenKey(String(key))) fail(`the key \`${key}\` cannot be read`);
  if (isList(from)) return (typeof key === "number" ? from[key] : undefined) ?? fallback;
  if (!isObject(from) || !Object.hasOwn(from, key)) return fallback;
  return from[key] ?? fallback;
}
