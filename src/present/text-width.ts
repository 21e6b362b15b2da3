import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";

/** Printable ASCII and the lines, blocks, arrows and marks of our own tables: one column each. */
const narrowText = /^[ -~─-▟–…→✓✗]*$/;

/**
 * Returns the number of terminal columns that a text takes. Ignores colour codes. `string-width` is used, and so
 * loaded, only where it is needed: its patterns of emoji take 15 ms to compile, which makes the bench rows
 * `explain latest` and `lineage` 40 % slower.
 */
export function displayWidth(text: string): number {
  const plain = text.includes("\u001b") ? stripVTControlCharacters(text) : text;
  return narrowText.test(plain) ? plain.length : stringWidth(text);
}

/** Shortens a text to a number of columns; the last one is `…`. Does not split a character from its accents. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let left = columns - 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    left -= displayWidth(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Wraps a text at spaces to lines of at most `rest` columns, the first of at most `first`. Never breaks a word. */
export function wrap(
  text: string,
  { first, rest }: { readonly first: number; readonly rest: number },
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    const room = lines.length === 0 ? first : rest;
    // A word that does not fit on any line gets one of its own.
    if (displayWidth(longer) <= room || (line === "" && room >= rest)) {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
