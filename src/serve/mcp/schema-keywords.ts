import type { Json, JsonObject } from "../../model/json.js";

/** The keywords of draft-07 that hold a schema, a list of them, or one for each name. */
const single = new Set(["additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"]);
const listed = new Set(["allOf", "anyOf", "oneOf"]);
const mapped = new Set(["properties", "patternProperties", "definitions", "dependencies"]);

/** What a keyword holds, in the schema that it stands in. */
export function holds(keyword: string, schema: JsonObject): "schema" | "list" | "map" | "value" {
  if (keyword === "items") return isTuple(schema) ? "list" : "schema";
  if (single.has(keyword) || keyword === "additionalItems") return "schema";
  if (listed.has(keyword)) return "list";
  return mapped.has(keyword) ? "map" : "value";
}

/** What a keyword is called in 2020-12. */
export function renamed(keyword: string, schema: JsonObject): string {
  if (keyword === "definitions") return "$defs";
  if (keyword === "dependencies") return "dependentSchemas";
  if (!isTuple(schema)) return keyword;
  return keyword === "items" ? "prefixItems" : keyword === "additionalItems" ? "items" : keyword;
}

export const isTuple = (schema: JsonObject): boolean => Array.isArray(schema["items"]);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The way to a part of a schema, by the names that keywords have in 2020-12. */
export function renamedPointer(words: readonly string[], at: Json | undefined): readonly string[] {
  const [keyword, ...rest] = words;
  if (keyword === undefined || !isObject(at)) return words;
  const kind = holds(keyword, at);
  const held = at[keyword];
  if (kind === "value") return words;
  if (kind === "schema") return [renamed(keyword, at), ...renamedPointer(rest, held)];
  const [name, ...deeper] = rest;
  if (name === undefined) return [renamed(keyword, at)];
  return [renamed(keyword, at), name, ...renamedPointer(deeper, memberOf(held, name))];
}

function memberOf(held: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(held)) return (held as readonly Json[])[Number(name)];
  return isObject(held) ? held[unescaped(name)] : undefined;
}

/** As a JSON pointer in a URL writes names. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return name;
  }
}
