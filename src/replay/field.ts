import { InvalidRuleDslError } from "../contract-errors.js";
import { frozenCopy } from "../digest/frozen-copy.js";
import type { Json, JsonObject } from "../model/json.js";

type Fields = Readonly<Record<string, unknown>>;

/** One value of a payload, with where it stands. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** Throws the contract's error where there is no such key. */
export function required(fields: Fields, key: string, within = ""): Field {
  const path = `${within}${key}`;
  if (!Object.hasOwn(fields, key))
    throw new InvalidRuleDslError(`Audit payload missing required key: ${path}`);
  return { path, value: fields[key] };
}

/** Null is as good as absent. */
export function optional(fields: Fields, key: string, within = ""): Field | undefined {
  const value = Object.hasOwn(fields, key) ? (fields[key] ?? undefined) : undefined;
  return value === undefined ? undefined : { path: `${within}${key}`, value };
}

export function asText({ path, value }: Field): string {
  if (typeof value !== "string") throw mustBe(path, "text");
  return value;
}

export function asName({ path, value }: Field): string {
  if (typeof value !== "string" || value === "") throw mustBe(path, "text that is not empty");
  return value;
}

export function asList({ path, value }: Field): readonly unknown[] {
  if (!Array.isArray(value)) throw mustBe(path, "a list");
  return value as readonly unknown[];
}

export function asObject({ path, value }: Field): object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw mustBe(path, "an object");
  return value;
}

/** As our own frozen copy, with every key just as it is. */
export const asJsonObject = (field: Field): JsonObject =>
  asJson({ path: field.path, value: asObject(field) }) as JsonObject;

export function asJson({ path, value }: Field): Json {
  try {
    return frozenCopy(value);
  } catch (error) {
    throw mustBe(path, `JSON (${(error as Error).message})`);
  }
}

const mustBe = (path: string, what: string): InvalidRuleDslError =>
  new InvalidRuleDslError(`Audit payload key must be ${what}: ${path}`);
