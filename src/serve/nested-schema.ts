import type { Json, JsonObject } from "../model/json.js";

/** A schema that stands at this place of another document: what it refers to as `#/…` is further down there. */
export function nestedSchema(schema: JsonObject, at: string): JsonObject {
  return moved(schema, at) as JsonObject;
}

function moved(value: Json, at: string): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => moved(each, at));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as JsonObject).flatMap(([key, each]): [string, Json][] => {
    // Only a document of its own has these.
    if (key === "$schema" || key === "$id") return [];
    const isReference = key === "$ref" && typeof each === "string" && each.startsWith("#");
    return [[key, isReference ? `${at}${each.slice(1)}` : moved(each, at)]];
  });
  return Object.fromEntries(entries);
}
