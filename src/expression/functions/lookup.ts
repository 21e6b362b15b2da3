import type { Json } from "../../model/json.js";
import { isList, isObject } from "../equal.js";
import { fail } from "../failure.js";
import type { FunctionEntry } from "../function-table.js";
import { isForbiddenKey } from "../path.js";

export const lookupFunctions: readonly FunctionEntry[] = [
  {
    name: "exists",
    summary: "there is a value and it is not null",
    parameters: [{ name: "value", type: "any" }],
    returns: "boolean",
    acceptsMissing: true,
    answers: { missing: "false", null: "false", mistyped: "any" },
    example: { expression: "exists(customer.email)", answer: true },
    run: (value?: Json) => value !== undefined && value !== null,
  },
  {
    name: "empty",
    summary: "missing, null, '', [] or {}",
    parameters: [{ name: "value", type: "any" }],
    returns: "boolean",
    acceptsMissing: true,
    answers: { missing: "true", null: "true", mistyped: "any" },
    example: { expression: "empty(customer.notes)", answer: true },
    run: isEmpty,
  },
  {
    name: "get",
    summary: "the value under a key or an index; the fallback (else null) where there is none",
    parameters: [
      { name: "from", type: "any" },
      { name: "key", type: "any" },
      { name: "fallback", type: "any", optional: true },
    ],
    returns: "any",
    acceptsMissing: true,
    answers: { missing: "the fallback", null: "the fallback", mistyped: "the fallback" },
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
  if (isForbiddenKey(String(key))) fail(`\`${key}\` is not a key that can be read`);
  if (isList(from)) return (typeof key === "number" ? from[key] : undefined) ?? fallback;
  if (!isObject(from) || !Object.hasOwn(from, key)) return fallback;
  return from[key] ?? fallback;
}
