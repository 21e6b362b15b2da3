import type { Json, JsonObject } from "../model/json.js";

/**
 * The same by plain names, whichever way its own keys are spelled: `key`, `:key` as Ruby writes a symbol, or
 * a symbol itself. Of several spellings of one name the plainest counts; what is undefined is not there.
 */
export function plainKeys(object: object): Readonly<Record<string, unknown>> {
  const values = object as Readonly<Record<string | symbol, unknown>>;
  const present = Reflect.ownKeys(object).filter((key) => values[key] !== undefined);
  const plainestLast = present.toSorted((a, b) => oddness(b) - oddness(a));
  return Object.fromEntries(plainestLast.map((key) => [nameOf(key), values[key]]));
}

/** The same document by plain names at every depth; a key whose plain name is taken stays as it is. */
export function plainThroughout(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(plainThroughout);
  const entries = Object.entries(value as JsonObject).map(([key, part]): [string, Json] => {
    const name = nameOf(key);
    return [Object.hasOwn(value, name) ? key : name, plainThroughout(part)];
  });
  return Object.fromEntries(entries);
}

function oddness(key: string | symbol): number {
  if (typeof key === "symbol") return 2;
  return nameOf(key) === key ? 0 : 1;
}

function nameOf(key: string | symbol): string {
  return typeof key === "symbol" ? (key.description ?? "") : key.replace(/^:(?=.)/s, "");
}
