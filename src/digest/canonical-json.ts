import type { Json, JsonObject } from "../model/json.js";

/** JSON as RFC 8785 writes it: sorted keys, no white space, ECMAScript numbers; equal values, equal text. */
export function canonicalJson(value: Json): string {
  if (typeof value === "string") return quote(value);
  if (value === null || typeof value !== "object") return scalar(value);
  return Array.isArray(value) ? list(value as readonly Json[]) : object(value as JsonObject);
}

/** JSON.stringify writes each of these as the standard wants it; -0 becomes 0. */
function scalar(value: null | boolean | number): string {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("JSON has no such number");
  return JSON.stringify(value);
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
  let text = "{";
  let separator = "";
  for (const key of sortedKeys(value)) {
    text += `${separator}${quote(key)}:${canonicalJson(value[key] ?? null)}`;
    separator = ",";
  }
  return text + "}";
}

/** By UTF-16 code units, which is how `<` and `sort` compare texts. */
function sortedKeys(value: JsonObject): readonly string[] {
  const keys = Object.keys(value);
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] ?? "") > (keys[index] ?? "")) return keys.sort();
  }
  return keys;
}
