import type { Json, JsonObject } from "../model/json.js";

/** Keywords of draft-07 that hold a schema or a list of them, and those that hold schemas by name; all others hold data. */
const holdingSchemas = new Set(
  ["additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items"].concat([
    "not",
    "oneOf",
    "propertyNames",
    "then",
  ]),
);
const holdingNamed = new Set(["$defs", "definitions", "dependencies", "patternProperties", "properties"]);

/** Stands for the name of a schema that has none. */
const unnamed = "schema://context/";

interface Place {
  /** Where it stands in the new document, as a reference. */
  readonly at: string;
  /** What its references are relative to. */
  readonly base: string;
}

/** A schema that stands at this place of another document: what it refers to is further down there. */
export function nestedSchema(schema: JsonObject, at: string): JsonObject {
  const places = new Map([[unnamed, at]]);
  const note = (own: JsonObject, { at: where, base }: Place): void => {
    const id = own["$id"];
    if (typeof id === "string") places.set(id.startsWith("#") ? `${base}${id}` : base, where);
  };
  const asItIs = (reference: string): string => reference;
  const start = { at, base: unnamed };
  moved(schema, start, { note, refer: asItIs });
  const refer = (reference: string, { base }: Place): string => {
    const [document = "", fragment = ""] = resolved(reference, base).split("#");
    if (fragment !== "" && !fragment.startsWith("/"))
      return places.get(`${document}#${fragment}`) ?? reference;
    const place = places.get(document);
    return place === undefined ? reference : `${place}${fragment}`;
  };
  return moved(schema, start, { note, refer }) as JsonObject;
}

interface Work {
  readonly note: (schema: JsonObject, place: Place) => void;
  readonly refer: (reference: string, place: Place) => string;
}

function moved(schema: Json, outer: Place, work: Work): Json {
  if (Array.isArray(schema)) {
    return (schema as readonly Json[]).map((each, index) => moved(each, below(outer, String(index)), work));
  }
  if (!isObject(schema)) return schema;
  const id = schema["$id"];
  const place =
    typeof id === "string" && !id.startsWith("#")
      ? { ...outer, base: resolved(id, outer.base).replace(/#$/, "") }
      : outer;
  work.note(schema, place);
  const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
    // Only a document of its own has these.
    if (key === "$schema" || key === "$id") return [];
    if (key === "$ref" && typeof value === "string") return [[key, work.refer(value, place)]];
    if (holdingSchemas.has(key)) return [[key, moved(value, below(place, key), work)]];
    return [[key, holdingNamed.has(key) ? named(value, below(place, key), work) : value]];
  });
  return Object.fromEntries(entries);
}

function named(schemas: Json, place: Place, work: Work): Json {
  if (!isObject(schemas)) return schemas;
  return Object.fromEntries(
    Object.entries(schemas).map(([name, each]) => [name, moved(each, below(place, name), work)]),
  );
}

const below = ({ at, base }: Place, key: string): Place => ({
  at: `${at}/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("%24", "$")}`,
  base,
});

function resolved(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return reference;
  }
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
