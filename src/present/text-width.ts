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
  const plain = withoutColours(text);
  return narrowText.test(plain) ? plain.length : stringWidth(text);
}

/** Whether each character takes one column, however old the tables of widths are. */
export const isNarrow = (text: string): boolean => narrowText.test(withoutColours(text));

const withoutColours = (text: string): string =>
  text.includes("\u001b") ? stripVTControlCharacters(text) : text;

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

/** Shortens a text as `truncate` does, but behind a space or comma where the text has one in the second half. */
export function truncateWords(text: string, columns: number): string {
  const short = truncate(text, columns);
  if (short === text) return text;
  const [kept = ""] = /^.*[\s,]/s.exec(short) ?? [];
  return kept.length * 2 < short.length ? short : `${kept.trimEnd()}…`;
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
 * Wraps the lines of messages. Text in backticks, such as a command to copy, stays on one line if it fits on any. Of a
 * text above a caret, only the part around the caret is shown where all of it does not fit.
 */
export function wrapMessages(text: string, columns: number): string {
  const lines = text.split("\n");
  const excerptAt = (index: number): Excerpt | undefined => {
    const [line = "", below = ""] = lines.slice(index, index + 2);
    return line.length > columns && caretLine.test(below)
      ? textAround(line, below.indexOf("^"), columns)
      : undefined;
  };
  return lines
    .map((line, index) => {
      const caret = caretLine.test(line) ? excerptAt(index - 1) : undefined;
      if (caret !== undefined) return `${" ".repeat(caret.at)}^`;
      if (line.length <= columns) return line;
      const excerpt = excerptAt(index);
      if (excerpt !== undefined) return excerpt.text;
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

interface Excerpt {
  readonly text: string;
  /** The place of the caret. */
  readonly at: number;
}

/** Returns the part of a line around a place that fits. */
function textAround(line: string, at: number, columns: number): Excerpt {
  const indent = (/^ */.exec(line)?.[0] ?? "").length;
  const room = columns - indent;
  // The place is in the first two thirds, so that what follows it is shown, too.
  const start = Math.max(indent, at - Math.floor((room * 2) / 3));
  const before = start === indent ? "" : "…";
  const text = truncate(before + line.slice(start + before.length), room);
  return { text: " ".repeat(indent) + text, at: indent + at - start };
}
