import type { Json, JsonObject } from "../../model/json.js";
import { holds, isObject, isTuple, renamed, renamedPointer } from "./schema-keywords.js";

/**
 * A schema of draft-07 as a part of one of 2020-12, which is what clients of MCP take schemas for: what it refers to
 * in itself is found at its new place, a JSON pointer such as `#/properties/context`.
 */
export function nestedSchema(schema: JsonObject, place: string): JsonObject {
  // In there it would be a document of its own, and its URL nothing to those who have only this one.
  const left = ownUrl(schema) === undefined ? ["$schema"] : ["$schema", "$id"];
  const kept = Object.entries(schema).filter(([keyword]) => !left.includes(keyword));
  return translated(Object.fromEntries(kept), referrer(schema, place));
}

type Refer = (ref: string) => string;

function translated(schema: JsonObject, refer: Refer): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): readonly Entry[] => {
      if (keyword === "$ref" && typeof value === "string") return [[keyword, refer(value)]];
      if (keyword === "$id") return [anchorOf(value)];
      if (keyword === "dependencies" && isObject(value)) return dependencies(value, refer);
      // It means nothing beside what is no tuple, and is no keyword any more.
      if (keyword === "additionalItems" && !isTuple(schema)) return [];
      return [[renamed(keyword, schema), heldBy(keyword, schema, refer)]];
    }),
  );
}

type Entry = readonly [string, Json];

function heldBy(keyword: string, schema: JsonObject, refer: Refer): Json {
  const value = schema[keyword] as Json;
  switch (holds(keyword, schema)) {
    case "schema":
      return within(value, refer);
    case "list":
      return Array.isArray(value) ? value.map((each: Json) => within(each, refer)) : value;
    case "map":
      return isObject(value) ? eachOf(value, refer) : value;
    case "value":
      return value;
  }
}

/** What has a URL of its own is a document of its own: `#` in it is that one. */
function within(value: Json, refer: Refer): Json {
  if (!isObject(value)) return value;
  return translated(value, ownUrl(value) === undefined ? refer : referrer(value, "#"));
}

const eachOf = (schemas: JsonObject, refer: Refer): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, within(each, refer)]));

/** Keys that ask for other keys have a keyword of their own now. */
function dependencies(value: JsonObject, refer: Refer): readonly Entry[] {
  const entries = Object.entries(value);
  const keys = Object.fromEntries(entries.filter(([, each]) => Array.isArray(each)));
  const schemas = Object.fromEntries(entries.filter(([, each]) => !Array.isArray(each)));
  return [
    ["dependentRequired", keys],
    ["dependentSchemas", eachOf(schemas, refer)],
  ];
}

const anchorOf = ($id: Json): Entry =>
  typeof $id === "string" && $id.startsWith("#") ? ["$anchor", $id.slice(1)] : ["$id", $id];

const ownUrl = ({ $id }: JsonObject): string | undefined =>
  typeof $id === "string" && !$id.startsWith("#") ? $id.replace(/#$/, "") : undefined;

function referrer(root: JsonObject, place: string): Refer {
  const url = ownUrl(root);
  return (ref) => {
    const isOwn = url !== undefined && (ref === url || ref.startsWith(`${url}#`));
    const local = isOwn ? ref.slice(url.length) || "#" : ref;
    if (local === "#") return place;
    if (!local.startsWith("#/")) return local;
    return [place, ...renamedPointer(local.slice(2).split("/"), root)].join("/");
  };
}
