import { wildcardStep, pointerSteps } from "../definition/definition-reads.js";
import type { Json, JsonObject } from "../model/json.js";

/** Stands where a masked value stood. */
export const maskMarker = "[masked]";

/** The context without the values that the pointers (RFC 6901) name. What is not there need not be masked. */
export function maskContext(context: JsonObject, pointers: readonly string[]): JsonObject {
  let shown: Json = context;
  for (const pointer of pointers) shown = replaceAt(shown, pointerSteps(pointer));
  if (isContainer(shown) && !Array.isArray(shown)) return shown as JsonObject;
  // The pointer to everything.
  return Object.fromEntries(Object.keys(context).map((key) => [key, maskMarker]));
}

/** The masked values as texts, to look for them in messages. */
export function maskedTexts(context: JsonObject, pointers: readonly string[]): readonly string[] {
  return pointers.flatMap((pointer) => valuesAt(context, pointerSteps(pointer)).flatMap(leafTexts));
}

/** A text that would tell a secret is not told at all. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.some((secret) => text.includes(secret))
    ? "the reason is masked, as it names a masked value"
    : text;
}

const isContainer = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === "object" && value !== null;

/** The keys that a step leads to. */
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
  // Within JSON it reads otherwise where it holds quotes and the like.
  const escaped = JSON.stringify(text).slice(1, -1);
  return escaped === text ? [text] : [text, escaped];
}
