import type { Json } from "../../model/json.js";
import { Failure, typeName } from "../failure.js";

const longestShown = 60;

/** A value of a definition as messages show it. */
export function written(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map";
  const text = JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown - 1)}…` : text;
}

/** What is wrong with the `value` of a condition. */
export function mustBe(what: string, value: Json): Failure {
  return new Failure(`\`value\` must be ${what} (got ${written(value)})`);
}

/** Why a test has no real answer. It never shows the value, which may be one to be masked. */
export function needs(operator: string, what: string, actual: Json): string {
  return `\`${operator}\` needs ${what}, got ${typeName(actual)}`;
}

export const aNumberLikeValue = "a number, as its `value` is one";
export const aTextLikeValue = "text, as its `value` is text";
