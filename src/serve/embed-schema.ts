import type { Json, JsonObject } from "../model/json.js";

/**
 * A schema of draft-07 as a part of one of 2020-12, which is what clients of MCP and readers of OpenAPI take schemas
 * for: what it refers to in itself is found at its new place, a JSON pointer such as `#/properties/context`.
 */
export function embedSchema(schema: JsonObject, place: string): JsonObject {
  const root = resolveLocalReferences(schema);
  return translateSchema(root, (ref) => {
    if (ref === "#") return place;
    if (!ref.startsWith("#/")) return ref;
    return [place, ...renamePointer(ref.slice(2).split("/"), root)].join("/");
  });
}

type MapReference = (ref: string) => string;

function translateSchema(schema: JsonObject, refer: MapReference): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): readonly KeywordEntry[] => {
      if (keyword === "$ref" && typeof value === "string") return [[keyword, refer(value)]];
      if (keyword === "dependencies" && isObject(value)) return splitDependencies(value, refer);
      // It means nothing beside what is no tuple, and is no keyword any more.
      if (keyword === "additionalItems" && !isTuple(schema)) return [];
      return [[renameKeyword(keyword, schema), translateKeyword(keyword, schema, refer)]];
    }),
  );
}

type KeywordEntry = readonly [string, Json];

function translateKeyword(keyword: string, schema: JsonObject, refer: MapReference): Json {
  const value = schema[keyword] as Json;
  switch (keywordKind(keyword, schema)) {
    case "schema":
      return translateIfSchema(value, refer);
    case "list":
      return Array.isArray(value) ? value.map((each: Json) => translateIfSchema(each, refer)) : value;
    case "map":
      return isObject(value) ? translateEach(value, refer) : value;
    case "value":
      return value;
  }
}

const translateIfSchema = (value: Json, refer: MapReference): Json =>
  isObject(value) ? translateSchema(value, refer) : value;

const translateEach = (schemas: JsonObject, refer: MapReference): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, translateIfSchema(each, refer)]));

/** Keys that ask for other keys have a keyword of their own now. */
function splitDependencies(value: JsonObject, refer: MapReference): readonly KeywordEntry[] {
  const entries = Object.entries(value);
  const keys = Object.fromEntries(entries.filter(([, each]) => Array.isArray(each)));
  const schemas = Object.fromEntries(entries.filter(([, each]) => !Array.isArray(each)));
  return [
    ["dependentRequired", keys],
    ["dependentSchemas", translateEach(schemas, refer)],
  ];
}

/** Stands for the name of a schema that has none. */
const rootUri = "schema://context/";

interface SchemaLocation {
  /** Where it stands, as a reference. */
  readonly at: string;
  /** What its references are relative to. */
  readonly base: string;
}

/** The same schema of draft-07 without names of its own: whatever it refers to in itself is a pointer from its root. */
function resolveLocalReferences(schema: JsonObject): JsonObject {
  const places = new Map([[rootUri, "#"]]);
  const note = (own: JsonObject, { at, base }: SchemaLocation): void => {
    const id = own["$id"];
    if (typeof id === "string") places.set(id.startsWith("#") ? `${base}${id}` : base, at);
  };
  const root = { at: "#", base: rootUri };
  rewriteSchema(schema, root, { note, refer: (reference) => reference });
  const refer = (reference: string, { base }: SchemaLocation): string => {
    const [document = "", fragment = ""] = resolveUri(reference, base).split("#");
    if (fragment !== "" && !fragment.startsWith("/"))
      return places.get(`${document}#${fragment}`) ?? reference;
    const place = places.get(document);
    return place === undefined ? reference : `${place}${fragment}`;
  };
  return rewriteSchema(schema, root, { note, refer });
}

interface RewriteCallbacks {
  readonly note: (schema: JsonObject, place: SchemaLocation) => void;
  readonly refer: (reference: string, place: SchemaLocation) => string;
}

function rewriteSchema(schema: JsonObject, outer: SchemaLocation, work: RewriteCallbacks): JsonObject {
  const id = schema["$id"];
  const isNamed = typeof id === "string" && !id.startsWith("#");
  const place = isNamed ? { ...outer, base: resolveUri(id, outer.base).replace(/#$/, "") } : outer;
  work.note(schema, place);
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, Json][] => {
    // Only a document of its own has these.
    if (keyword === "$schema" || keyword === "$id") return [];
    if (keyword === "$ref" && typeof value === "string") return [[keyword, work.refer(value, place)]];
    return [[keyword, rewriteKeyword(keyword, schema, { place: childLocation(place, keyword), work })]];
  });
  return Object.fromEntries(entries);
}

function rewriteKeyword(
  keyword: string,
  schema: JsonObject,
  { place, work }: { readonly place: SchemaLocation; readonly work: RewriteCallbacks },
): Json {
  const value = schema[keyword] as Json;
  const each = (one: Json, name: string): Json =>
    isObject(one) ? rewriteSchema(one, childLocation(place, name), work) : one;
  switch (keywordKind(keyword, schema)) {
    case "schema":
      return isObject(value) ? rewriteSchema(value, place, work) : value;
    case "list":
      return Array.isArray(value)
        ? (value as readonly Json[]).map((one, index) => each(one, String(index)))
        : value;
    case "map":
      if (!isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, each(one, name)]));
    case "value":
      return value;
  }
}

/** As a JSON pointer in a URL writes names. */
const childLocation = ({ at, base }: SchemaLocation, name: string): SchemaLocation => ({
  at: `${at}/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("%24", "$")}`,
  base,
});

function resolveUri(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return reference;
  }
}

/** The keywords of draft-07 that hold a schema, a list of them, or one for each name. */
const schemaKeywords = new Set([
  "additionalProperties",
  "propertyNames",
  "contains",
  "not",
  "if",
  "then",
  "else",
]);
const listKeywords = new Set(["allOf", "anyOf", "oneOf"]);
const mapKeywords = new Set(["properties", "patternProperties", "definitions", "$defs", "dependencies"]);

/** What a keyword holds, in the schema that it stands in. */
function keywordKind(keyword: string, schema: JsonObject): "schema" | "list" | "map" | "value" {
  if (keyword === "items") return isTuple(schema) ? "list" : "schema";
  if (schemaKeywords.has(keyword) || keyword === "additionalItems") return "schema";
  if (listKeywords.has(keyword)) return "list";
  return mapKeywords.has(keyword) ? "map" : "value";
}

/** What a keyword is called in 2020-12. */
function renameKeyword(keyword: string, schema: JsonObject): string {
  if (keyword === "definitions") return "$defs";
  if (keyword === "dependencies") return "dependentSchemas";
  if (!isTuple(schema)) return keyword;
  return keyword === "items" ? "prefixItems" : keyword === "additionalItems" ? "items" : keyword;
}

const isTuple = (schema: JsonObject): boolean => Array.isArray(schema["items"]);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The way to a part of a schema, by the names that keywords have in 2020-12. */
function renamePointer(words: readonly string[], at: Json | undefined): readonly string[] {
  const [keyword, ...rest] = words;
  if (keyword === undefined || !isObject(at)) return words;
  const kind = keywordKind(keyword, at);
  const held = at[keyword];
  if (kind === "value") return words;
  if (kind === "schema") return [renameKeyword(keyword, at), ...renamePointer(rest, held)];
  const [name, ...deeper] = rest;
  if (name === undefined) return [renameKeyword(keyword, at)];
  return [renameKeyword(keyword, at), name, ...renamePointer(deeper, schemaMember(held, name))];
}

function schemaMember(held: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(held)) return (held as readonly Json[])[Number(name)];
  return isObject(held) ? held[unescapePointer(name)] : undefined;
}

/** As a JSON pointer in a URL writes names. */
function unescapePointer(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return name;
  }
}
