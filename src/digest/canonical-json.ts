/*
 * Written by hand: the package `canonicalize` throws on lone surrogates, which a context may contain, takes
 * 1.5 times as long for a record, and slows the bench row `evaluate --inputs` down by 5 %. The tests compare
 * the two.
 */
import type { Json, JsonObject } from "../model/json.js";

/** Returns a value as RFC 8785 JSON: sorted keys, no white space. Equal values have equal texts. */
export function canonicalJson(value: Json): string {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError(`\`${value}\` is not a JSON number`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const items = Array.from(value as readonly Json[], (item) => canonicalJson(item ?? null));
    return `[${items.join(",")}]`;
  }
  const object = value as JsonObject;
  // `sort` compares UTF-16 code units, as the RFC asks for.
  const members = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] ?? null)}`);
  return `{${members.join(",")}}`;
}
