import { canonicalJson } from "../digest/canonical-json.js";
import type { Json } from "../model/json.js";

/** Returns a copy of an object without some of its fields. */
export function withoutFields<Each extends object, Key extends string>(
  each: Each,
  keys: readonly Key[],
): Omit<Each, Key> {
  const left: readonly string[] = keys;
  return Object.fromEntries(Object.entries(each).filter(([key]) => !left.includes(key))) as Omit<Each, Key>;
}

/** Returns a text that is equal for equal parts of definitions, whatever the order of their keys is. */
export const partKey = (part: unknown): string => canonicalJson((part ?? null) as Json);
