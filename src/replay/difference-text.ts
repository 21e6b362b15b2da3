import type { Json } from "../model/json.js";
import { printable } from "../text.js";

/** A value that a replay did not reproduce. */
export interface ValueDifference {
  readonly what: string;
  readonly expected: Json;
  readonly actual: Json;
}

/** Describes a difference as the specification's error does. */
export const mismatchText = ({ what, expected, actual }: ValueDifference): string =>
  `${what} mismatch (expected: ${valueText(expected)}, got: ${valueText(actual)})`;

/** Describes a difference as the specification's warning in non-strict mode does. */
export function changedText({ what, expected, actual }: ValueDifference): string {
  const name = what.replaceAll("_", " ");
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)} changed: ${valueText(expected)} -> ${valueText(actual)}`;
}

/** Formats a value on one line, so that no value can look like another difference. */
export function valueText(value: Json): string {
  if (Array.isArray(value))
    return value.length === 0 ? "nothing" : (value as readonly Json[]).map(valueText).join(", ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return printable(text).replaceAll("\n", "\\n");
}
