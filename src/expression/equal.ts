import type { Json, JsonObject } from "../model/json.js";

/** Compares JSON values by type and content; the order of keys does not matter. Never throws. */
export function equal(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (isList(a) || isList(b)) return isList(a) && isList(b) && equalLists(a, b);
  return equalObjects(a, b);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function equalLists(a: readonly Json[], b: readonly Json[]): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index] ?? null));
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null));
}
