import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";

/**
 * Converts a JSON Schema of draft-07 to one that can be embedded in a schema of 2020-12, the version that MCP and
 * OpenAPI use. References within the schema are rewritten to its new location, a JSON pointer such as
 * `#/properties/context`.
 */
export function embedSchema(schema: JsonObject, location: string): JsonObject {
  const root = resolveLocalReferences(schema);
  return translateSchema(root, (ref) => {
    if (ref === "#") return location;
    if (!ref.startsWith("#/")) return ref;
    return [location, ...renamePointer(ref.slice(2).split("/"), root)].join("/");
  });
}

type MapReference = (ref: string) => string;

function translateSchema(schema: JsonObject, mapRef: MapReference): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): readonly KeywordEntry[] => {
      if (keyword === "$ref" && typeof value === "string") return [[keyword, mapRef(value)]];
      if (keyword === "dependencies" && isObject(value)) return splitDependencies(value, mapRef);
      // Without a tuple this keyword has no effect in draft-07, and 2020-12 does not have it.
      if (keyword === "additionalItems" && !isTuple(schema)) return [];
      return [[renameKeyword(keyword, schema), translateKeyword(keyword, schema, mapRef)]];
    }),
  );
}

type KeywordEntry = readonly [string, Json];

function translateKeyword(keyword: string, schema: JsonObject, mapRef: MapReference): Json {
  const value = schema[keyword] as Json;
  switch (keywordKind(keyword, schema)) {
    case "schema":
      return translateIfSchema(value, mapRef);
    case "list":
      return Array.isArray(value) ? value.map((each: Json) => translateIfSchema(each, mapRef)) : value;
    case "map":
      return isObject(value) ? translateEach(value, mapRef) : value;
    case "value":
      return value;
  }
}

const translateIfSchema = (value: Json, mapRef: MapReference): Json =>
  isObject(value) ? translateSchema(value, mapRef) : value;

const translateEach = (schemas: JsonObject, mapRef: MapReference): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, translateIfSchema(each, mapRef)]));

/** Splits `dependencies` into the two keywords that replace it. */
function splitDependencies(value: JsonObject, mapRef: MapReference): readonly KeywordEntry[] {
  const entries = Object.entries(value);
  const keys = Object.fromEntries(entries.filter(([, each]) => Array.isArray(each)));
  const schemas = Object.fromEntries(entries.filter(([, each]) => !Array.isArray(each)));
  return [
    ["dependentRequired", keys],
    ["dependentSchemas", translateEach(schemas, mapRef)],
  ];
}

/** The base URI of a schema without `$id`. */
const rootUri = "schema://context/";

interface SchemaLocation {
  /** A reference to the schema from the root. */
  readonly at: string;
  /** The base URI of its references. */
  readonly base: string;
}

/** Removes `$id` and turns every local reference into a JSON pointer from the root. */
function resolveLocalReferences(schema: JsonObject): JsonObject {
  const locations = new Map([[rootUri, "#"]]);
  const note = (subschema: JsonObject, { at, base }: SchemaLocation): void => {
    const id = subschema["$id"];
    if (typeof id === "string") locations.set(id.startsWith("#") ? `${base}${id}` : base, at);
  };
  const root = { at: "#", base: rootUri };
  rewriteSchema(schema, root, { note, refer: (reference) => reference });
  const refer = (reference: string, { base }: SchemaLocation): string => {
    const [document = "", fragment = ""] = resolveUri(reference, base).split("#");
    if (fragment !== "" && !fragment.startsWith("/"))
      return locations.get(`${document}#${fragment}`) ?? reference;
    const location = locations.get(document);
    return location === undefined ? reference : `${location}${fragment}`;
  };
  return rewriteSchema(schema, root, { note, refer });
}

interface RewriteCallbacks {
  readonly note: (schema: JsonObject, location: SchemaLocation) => void;
  readonly refer: (reference: string, location: SchemaLocation) => string;
}

function rewriteSchema(schema: JsonObject, outer: SchemaLocation, callbacks: RewriteCallbacks): JsonObject {
  const id = schema["$id"];
  const isNamed = typeof id === "string" && !id.startsWith("#");
  const location = isNamed ? { ...outer, base: resolveUri(id, outer.base).replace(/#$/, "") } : outer;
  callbacks.note(schema, location);
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, Json][] => {
    // Only a complete document has these.
    if (keyword === "$schema" || keyword === "$id") return [];
    if (keyword === "$ref" && typeof value === "string") return [[keyword, callbacks.refer(value, location)]];
    return [
      [keyword, rewriteKeyword(keyword, schema, { location: childLocation(location, keyword), callbacks })],
    ];
  });
  return Object.fromEntries(entries);
}

function rewriteKeyword(
  keyword: string,
  schema: JsonObject,
  { location, callbacks }: { readonly location: SchemaLocation; readonly callbacks: RewriteCallbacks },
): Json {
  const value = schema[keyword] as Json;
  const rewriteMember = (member: Json, name: string): Json =>
    isObject(member) ? rewriteSchema(member, childLocation(location, name), callbacks) : member;
  switch (keywordKind(keyword, schema)) {
    case "schema":
      return isObject(value) ? rewriteSchema(value, location, callbacks) : value;
    case "list":
      return Array.isArray(value)
        ? (value as readonly Json[]).map((member, index) => rewriteMember(member, String(index)))
        : value;
    case "map":
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, rewriteMember(member, name)]),
      );
    case "value":
      return value;
  }
}

/** Appends a name, escaped as in a JSON pointer within a URL. */
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

/** The keywords of draft-07 whose value is a schema, a list of schemas, or a map of schemas. */
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

/** Returns what the value of a keyword consists of. */
function keywordKind(keyword: string, schema: JsonObject): "schema" | "list" | "map" | "value" {
  if (keyword === "items") return isTuple(schema) ? "list" : "schema";
  if (schemaKeywords.has(keyword) || keyword === "additionalItems") return "schema";
  if (listKeywords.has(keyword)) return "list";
  return mapKeywords.has(keyword) ? "map" : "value";
}

/** Returns the name of a keyword in 2020-12. */
function renameKeyword(keyword: string, schema: JsonObject): string {
  if (keyword === "definitions") return "$defs";
  if (keyword === "dependencies") return "dependentSchemas";
  if (!isTuple(schema)) return keyword;
  return keyword === "items" ? "prefixItems" : keyword === "additionalItems" ? "items" : keyword;
}

const isTuple = (schema: JsonObject): boolean => Array.isArray(schema["items"]);

/** Converts a JSON pointer into the schema to the keyword names of 2020-12. */
function renamePointer(segments: readonly string[], schema: Json | undefined): readonly string[] {
  const [keyword, ...rest] = segments;
  if (keyword === undefined || !isObject(schema)) return segments;
  const kind = keywordKind(keyword, schema);
  const value = schema[keyword];
  if (kind === "value") return segments;
  if (kind === "schema") return [renameKeyword(keyword, schema), ...renamePointer(rest, value)];
  const [name, ...deeper] = rest;
  if (name === undefined) return [renameKeyword(keyword, schema)];
  return [renameKeyword(keyword, schema), name, ...renamePointer(deeper, schemaMember(value, name))];
}

function schemaMember(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(name)];
  return isObject(value) ? value[unescapePointer(name)] : undefined;
}

/** Reverses the escapes of `childLocation`. */
function unescapePointer(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return name;
  }
}
