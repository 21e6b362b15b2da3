import type { Json, JsonObject } from "../model/json.js";

/** JSON as RFC 8785 writes it: sorted keys, no white space, ECMAScript numbers; equal values, equal text. */
export function canonicalJson(value: Json): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("JSON has no such number");
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    default:
      if (value === null) return "null";
      return Array.isArray(value) ? list(value as readonly Json[]) : object(value as JsonObject);
  }
}

const plain = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  return text.length < 64 && plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

function list(items: readonly Json[]): string {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    text += (index === 0 ? "" : ",") + canonicalJson(items[index] ?? null);
  }
  return text + "]";
}

function object(value: JsonObject): string {
  const keys = sorted(Object.keys(value));
  let text = "{";
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? "";
    text += `${index === 0 ? "" : ","}${quote(key)}:${canonicalJson(value[key] ?? null)}`;
  }
  return text + "}";
}

/** Below this many keys, sorting by insertion beats a call of `sort`. */
const few = 12;

/** By UTF-16 code units, which is how `<` and `sort` compare texts. */
function sorted(keys: string[]): readonly string[] {
  if (keys.length > few) return keys.sort();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? "";
    let place = index;
    while (place > 0 && (keys[place - 1] ?? "") > key) {
      keys[place] = keys[place - 1] ?? "";
      place--;
    }
    keys[place] = key;
  }
  return keys;
}
