import { maskMarker, wildcardStep, pointerSteps } from "../definition/definition-reads.js";
import type { Json, JsonObject } from "../model/json.js";

export { maskMarker };

/** Returns the context with the values at the pointers (RFC 6901) masked; pointers without a value are ignored. */
export function maskContext(context: JsonObject, pointers: readonly string[]): JsonObject {
  let result: Json = context;
  for (const pointer of pointers) result = replaceAt(result, pointerSteps(pointer));
  if (isContainer(result) && !Array.isArray(result)) return result as JsonObject;
  // The empty pointer masks the whole context.
  return Object.fromEntries(Object.keys(context).map((key) => [key, maskMarker]));
}

/** Returns the masked values as texts, to search messages for them. */
export function maskedTexts(context: JsonObject, pointers: readonly string[]): readonly string[] {
  return pointers.flatMap((pointer) => valuesAt(context, pointerSteps(pointer)).flatMap(leafTexts));
}

/** Replaces a text that contains a masked value. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.some((secret) => text.includes(secret))
    ? "the reason is masked because it contains a masked value"
    : text;
}

const isContainer = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === "object" && value !== null;

/** Returns the keys that a step of a pointer matches. */
function keysAt(value: Json | undefined, step: string): readonly string[] {
  if (!isContainer(value)) return [];
  if (Object.hasOwn(value, step)) return [step];
  return step === wildcardStep ? Object.keys(value) : [];
}

function valuesAt(value: Json, steps: readonly string[]): readonly Json[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [value];
  return keysAt(value, step).flatMap((key) => valuesAt((value as JsonObject)[key] ?? null, rest));
}

function replaceAt(value: Json, steps: readonly string[]): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return maskMarker;
  const keys = keysAt(value, step);
  if (keys.length === 0) return value;
  const copy: object = Array.isArray(value) ? value.slice() : { ...(value as JsonObject) };
  for (const key of keys) {
    const under = replaceAt((value as JsonObject)[key] ?? null, rest);
    Object.defineProperty(copy, key, { value: under, enumerable: true, configurable: true, writable: true });
  }
  return copy as JsonObject;
}

function leafTexts(value: Json): readonly string[] {
  if (value === null || value === "") return [];
  if (isContainer(value)) return Object.values(value).flatMap(leafTexts);
  const text = String(value);
  // JSON escapes quotes and control characters.
  const escaped = JSON.stringify(text).slice(1, -1);
  return escaped === text ? [text] : [text, escaped];
}
