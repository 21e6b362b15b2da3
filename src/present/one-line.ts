import { printable } from "../printable.js";

/** A text as one line of a list or a table. */
export function oneLine(text: string): string {
  return /^[ -~]*$/.test(text) ? text : printable(text.replace(/\s*[\t\n\r]\s*/g, " "));
}
