import type { Json, JsonObject } from "../model/json.js";
import { holds, isObject } from "./schema-keywords.js";

/** Stands for the name of a schema that has none. */
const unnamed = "schema://context/";

interface Place {
  /** Where it stands, as a reference. */
  readonly at: string;
  /** What its references are relative to. */
  readonly base: string;
}

/** The same schema of draft-07 without names of its own: whatever it refers to in itself is a pointer from its root. */
export function localReferences(schema: JsonObject): JsonObject {
  const places = new Map([[unnamed, "#"]]);
  const note = (own: JsonObject, { at, base }: Place): void => {
    const id = own["$id"];
    if (typeof id === "string") places.set(id.startsWith("#") ? `${base}${id}` : base, at);
  };
  const root = { at: "#", base: unnamed };
  rewritten(schema, root, { note, refer: (reference) => reference });
  const refer = (reference: string, { base }: Place): string => {
    const [document = "", fragment = ""] = resolved(reference, base).split("#");
    if (fragment !== "" && !fragment.startsWith("/"))
      return places.get(`${document}#${fragment}`) ?? reference;
    const place = places.get(document);
    return place === undefined ? reference : `${place}${fragment}`;
  };
  return rewritten(schema, root, { note, refer });
}

interface Work {
  readonly note: (schema: JsonObject, place: Place) => void;
  readonly refer: (reference: string, place: Place) => string;
}

function rewritten(schema: JsonObject, outer: Place, work: Work): JsonObject {
  const id = schema["$id"];
  const isNamed = typeof id === "string" && !id.startsWith("#");
  const place = isNamed ? { ...outer, base: resolved(id, outer.base).replace(/#$/, "") } : outer;
  work.note(schema, place);
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, Json][] => {
    // Only a document of its own has these.
    if (keyword === "$schema" || keyword === "$id") return [];
    if (keyword === "$ref" && typeof value === "string") return [[keyword, work.refer(value, place)]];
    return [[keyword, held(keyword, schema, { place: below(place, keyword), work })]];
  });
  return Object.fromEntries(entries);
}

function held(
  keyword: string,
  schema: JsonObject,
  { place, work }: { readonly place: Place; readonly work: Work },
): Json {
  const value = schema[keyword] as Json;
  const each = (one: Json, name: string): Json =>
    isObject(one) ? rewritten(one, below(place, name), work) : one;
  switch (holds(keyword, schema)) {
    case "schema":
      return isObject(value) ? rewritten(value, place, work) : value;
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
const below = ({ at, base }: Place, name: string): Place => ({
  at: `${at}/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")).replaceAll("%24", "$")}`,
  base,
});

function resolved(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return reference;
  }
}
