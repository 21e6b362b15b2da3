import type { Json } from "../model/json.js";
import { printable } from "../printable.js";
import type { RecordDifference } from "./replay-record.js";

/** As an error names a difference. */
export const mismatchText = ({ what, expected, actual }: RecordDifference): string =>
  `${what} mismatch (expected: ${shown(expected)}, got: ${shown(actual)})`;

/** As it is told where a difference is no error. */
export const changedText = ({ what, expected, actual }: RecordDifference): string => {
  const name = what.replaceAll("_", " ");
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)} changed: ${shown(expected)} -> ${shown(actual)}`;
};

/** On one line, so that no value can look like a difference of its own. */
export function shown(value: Json): string {
  if (Array.isArray(value))
    return value.length === 0 ? "nothing" : (value as readonly Json[]).map(shown).join(", ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return printable(text).replaceAll("\n", "\\n");
}
