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

/**
 * Wraps a text at spaces to lines of at most `rest` columns, the first of at most `first`. Never breaks a word; one
 * that is wider than a line, such as JSON, may continue on the next line after a comma.
 */
export function wrap(
  text: string,
  { first, rest }: { readonly first: number; readonly rest: number },
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const { piece, gap } of piecesOf(text, rest)) {
    const longer = line === "" ? piece : `${line}${gap}${piece}`;
    const room = lines.length === 0 ? first : rest;
    // A word that does not fit on any line gets one of its own.
    if (displayWidth(longer) <= room || (line === "" && room >= rest)) {
      line = longer;
    } else {
      lines.push(line);
      line = piece;
    }
  }
  return [...lines, line];
}

/** Splits a text into words, and words that are too wide after their commas. */
function piecesOf(text: string, room: number): readonly { readonly piece: string; readonly gap: string }[] {
  return text.split(" ").flatMap((word) => {
    const parts = displayWidth(word) <= room ? [word] : word.split(/(?<=[,;])(?=.)/);
    return parts.map((piece, index) => ({ piece, gap: index === 0 ? " " : "" }));
  });
}

/** Returns the width of the widest word. */
export const widestWord = (text: string): number =>
  text.split(" ").reduce((most, word) => Math.max(most, displayWidth(word)), 0);

/** A line that points to a place in the line above. */
const caretLine = /^\s*\^\s*$/;

/**
 * Wraps the lines of messages. Text in backticks, such as a command to copy, stays on one line if it fits on any. The
 * text above a caret stays as it is.
 */
export function wrapMessages(text: string, columns: number): string {
  const lines = text.split("\n");
  return lines
    .map((line, index) => {
      if (line.length <= columns || caretLine.test(lines[index + 1] ?? "")) return line;
      const indent = (/^ */.exec(line)?.[0] ?? "").length;
      const room = { first: columns - indent, rest: columns - indent - 2 };
      // A space inside backticks is no place to break a line.
      const glued = line
        .trimStart()
        .replace(/`[^`]*`/g, (quoted) =>
          displayWidth(quoted) <= room.rest - 8 ? quoted.replaceAll(" ", "\u00a0") : quoted,
        );
      return wrap(glued, room)
        .map((part, at) => " ".repeat(at === 0 ? indent : indent + 2) + part.replaceAll("\u00a0", " "))
        .join("\n");
    })
    .join("\n");
}
