/** Looks at the lines of a text that the YAML parser could not read. */

/** A text, and which of its lines continue a text that starts on an earlier one. */
export interface WrittenText {
  readonly text: string;
  readonly continuesText: (lineStart: number) => boolean;
}

export interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Longer lines are not read: the patterns below take long for them. */
export const maxLineLength = 1000;

/** Returns the line of an offset; of a long one nothing but its place. */
export function lineAt(text: string, offset: number): Line {
  const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  const next = text.indexOf("\n", offset);
  const end = next === -1 ? text.length : next;
  return { start, end, text: end - start > maxLineLength ? "" : text.slice(start, end).trimEnd() };
}

export const indentOf = ({ text }: Line): number => text.length - text.trimStart().length;

export const contentAt = (text: string, offset: number): number =>
  offset + (/^[ \t]*/.exec(text.slice(offset, offset + 1000))?.[0] ?? "").length;

/** Returns the next line that is neither empty nor a comment, nor the rest of a longer text. */
export function contentLineAfter(source: WrittenText, { end }: Line): Line | undefined {
  for (let at = end + 1; at < source.text.length;) {
    const line = lineAt(source.text, at);
    if (isContent(line, source)) return line;
    at = line.end + 1;
  }
  return undefined;
}

/** How many lines above an error are looked at. */
const maxLinesAbove = 1000;

/** Returns such lines before a line, the nearest first, as far as the start of the document. */
export function contentLinesBefore(source: WrittenText, { start }: Line): readonly Line[] {
  const found: Line[] = [];
  for (let at = start - 1; at >= 0 && found.length < maxLinesAbove;) {
    const line = lineAt(source.text, at);
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(line.text)) break;
    if (isContent(line, source)) found.push(line);
    at = line.start - 1;
  }
  return found;
}

const isContent = (line: Line, { continuesText }: WrittenText): boolean =>
  !/^\s*(?:#|$)/.test(line.text) && !continuesText(line.start);

interface WrittenEntry {
  /** The column of the last `-`. */
  readonly dash: number | undefined;
  readonly keyAt: number | undefined;
  readonly key: string | undefined;
  /** The column of the value, which is empty if it is on further lines. */
  readonly at: number;
  readonly value: string;
}

/** Indentation, dashes, a key with its colon, and a value. */
const entryPattern =
  /^( *)((?:- +)*(?:-$)?)(?:("(?:\\.|[^"\\])*"|'[^']*'|[^\s"'`[\]{}&*!|>%@#,-].*?)(:(?: +|$)))?(.*)$/;

/** Reads a line with a key, or an item of a list. */
export function entryOf(text: string): WrittenEntry | undefined {
  const [, spaces = "", dashes = "", key, separator = "", rest = ""] = entryPattern.exec(text) ?? [];
  if (dashes === "" && key === undefined) return undefined;
  const keyAt = spaces.length + dashes.length;
  return {
    dash: dashes === "" ? undefined : spaces.length + dashes.lastIndexOf("-"),
    keyAt: key === undefined ? undefined : keyAt,
    key,
    at: keyAt + (key ?? "").length + separator.length,
    value: rest.replace(/\s#[^"']*$/, "").trim(),
  };
}

/** Returns a value without quotes from its start to the end of the line; in braces or brackets, to that of the entry. */
export function valueFrom(text: string, start: number): string {
  const line = lineAt(text, start);
  if (line.text === "") return text.slice(start, Math.min(line.end, start + maxLineLength));
  const rest = line.text.slice(start - line.start);
  const before = line.text.slice(0, start - line.start).replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, "");
  if (!/[{[][^}\]]*$/.test(before)) return rest.replace(/\s#.*$/, "");
  let depth = 0;
  for (let at = 0; at < rest.length; at++) {
    const character = rest.charAt(at);
    if (depth === 0 && /[,}\]]/.test(character)) return rest.slice(0, at).trimEnd();
    if (/[([{]/.test(character)) depth++;
    else if (/[)\]}]/.test(character)) depth--;
  }
  return rest;
}

/** Puts a text in the quotes that it does not contain; quotes around it that were meant as such are replaced. */
export function quoted(value: string): string {
  const [, , inner = value] = /^(["'])(.*\1.*)\1$/.exec(value) ?? [];
  if (!/["\\]/.test(inner)) return `"${inner}"`;
  return `'${inner.replaceAll("'", "''")}'`;
}

/** The longest text of a file that messages repeat. */
export const maxShownLength = 60;

/** Suggests what to write, if it is short. */
export const writeHint = (text: string, otherwise = "put all of it in quotes"): string =>
  text.length > maxShownLength || /[`\n]/.test(text) ? otherwise : `write \`${text}\``;
