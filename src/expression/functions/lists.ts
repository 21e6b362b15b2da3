import type { Json } from "../../model/json.js";
import { canonicalJson } from "../../digest/canonical-json.js";
import { isList } from "../equal.js";
import type { FunctionEntry, Parameter } from "../function-table.js";

const membership: readonly Parameter[] = [
  { name: "list", type: "list" },
  { name: "item", type: "any", rest: true },
];

export const listFunctions: readonly FunctionEntry[] = [
  {
    name: "length",
    summary: "how many items the list has, or characters (code points) the text",
    parameters: [{ name: "value", type: "text or list" }],
    returns: "number",
    example: { expression: "length(customer.tags)", answer: 2 },
    run: (value: string | readonly Json[]) =>
      typeof value === "string" ? Array.from(value).length : value.length,
  },
  {
    name: "any_of",
    summary: "the list has at least one of the items, given one by one or as a list",
    parameters: membership,
    returns: "boolean",
    example: { expression: "any_of(customer.tags, ('vip', 'staff'))", answer: true },
    run: (list: readonly Json[], ...items: Json[]) => someOf(list, spread(items)),
  },
  {
    name: "all_of",
    summary: "the list has every one of the items",
    parameters: membership,
    returns: "boolean",
    example: { expression: "all_of(customer.tags, 'vip', 'staff')", answer: false },
    run: (list: readonly Json[], ...items: Json[]) => spread(items).every(membershipIn(list)),
  },
  {
    name: "none_of",
    summary: "the list has none of the items",
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

/** Two long lists are compared in the time it takes to read them. */
function membershipIn(list: readonly Json[]): (item: Json) => boolean {
  const keys = new Set(list.map(keyOf));
  return (item) => keys.has(keyOf(item));
}

/** Equal for equal values only: the canonical text tells all types apart. */
const keyOf = (value: Json): string => canonicalJson(value);
