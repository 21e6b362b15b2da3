import { schema } from "./schema.js";
import type { Line, WrittenText } from "./written-lines.js";
import {
  contentAt,
  contentLineAfter,
  contentLinesBefore,
  entryOf,
  indentOf,
  lineAt,
  maxLineLength,
  maxShownLength,
  quoted,
  valueFrom,
  writeHint,
} from "./written-lines.js";

/** An error of the YAML parser. Offsets count UTF-16 units of the text. */
export interface ParserError {
  readonly code: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** A quote or bracket that is never closed, or closed by another one. */
export interface UnclosedToken {
  readonly token: string;
  readonly offset: number;
  /** The wrong bracket that closes it. */
  readonly closedBy?: { readonly token: string; readonly offset: number };
}

/** A text with errors, and what its tokens and nodes show about them. */
export interface FaultySource extends WrittenText {
  /** In the order of the text. */
  readonly unclosed: readonly UnclosedToken[];
  /** The keys that a map has twice, by the offset of the second. */
  readonly duplicates: ReadonlyMap<number, DuplicateKey>;
  readonly lineOf: (offset: number) => number;
}

export interface DuplicateKey {
  readonly key: string;
  /** The offset of the first one. */
  readonly first: number;
  /** Whether the map is a whole document, or an item of a list. */
  readonly within: "document" | "list" | "map";
}

export interface ExplainedError {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** An explanation; after one that is not `isLocal`, the parser has lost its place, and its errors mean nothing. */
interface Explanation extends ExplainedError {
  readonly isLocal?: true;
}

/**
 * Explains the errors of one document in terms of what was probably written by mistake, each where the mistake is. The
 * parser reports what it stumbles over, which is often on another line, and more errors that follow from the first.
 */
export function explainYamlErrors(
  errors: readonly ParserError[],
  source: FaultySource,
): readonly ExplainedError[] {
  const explained: ExplainedError[] = [];
  const lines = new Set<number>();
  for (const error of errors.toSorted((a, b) => a.start - b.start)) {
    if (lines.has(source.lineOf(error.start))) continue;
    const { isLocal, ...explanation } = explain(error, source);
    const line = source.lineOf(explanation.offset);
    if (!lines.has(line)) explained.push(explanation);
    lines.add(line);
    if (isLocal !== true) break;
  }
  return explained;
}

function explain(error: ParserError, source: FaultySource): Explanation {
  return (
    explainLocally(error, source) ??
    explainConflict(error, source) ??
    explainTemplate(error, source) ??
    explainUnclosed(error, source) ??
    explainCutText(error, source.text) ??
    explainMissingComma(error, source.text) ??
    explainValue(error, source) ??
    explainLine(error, source) ?? {
      offset: contentAt(source.text, error.start),
      message: firstLine(error.message),
      hint: hints[error.code],
    }
  );
}

/** How to fix other errors, by the code of the parser. */
const hints: Readonly<Record<string, string>> = {
  BAD_INDENT: "indent all lines of a map equally",
  BLOCK_AS_IMPLICIT_KEY: "check the indentation of this line, and put text in quotes",
  MULTILINE_IMPLICIT_KEY: "check the indentation of this line, and put text in quotes",
  UNEXPECTED_TOKEN: "put text that contains quotes or brackets into quotes of the other kind",
};

export function firstLine(message: string): string {
  return (message.split("\n")[0] ?? message).replace(/[.:]$/, "");
}

/** Explains errors after which the parser reads on correctly. */
function explainLocally({ code, start }: ParserError, source: FaultySource): Explanation | undefined {
  switch (code) {
    case "DUPLICATE_KEY":
      return duplicateKey(start, source);
    case "TAG_RESOLVE_FAILED": {
      const [tag = "!"] = /^!\S*/.exec(source.text.slice(start, start + maxLineLength)) ?? [];
      const hint = "put the text in quotes: a `!` at its start is a tag";
      return { offset: start, message: `${shown(tag)} is not a known tag`, hint, isLocal: true };
    }
    case "BAD_DQ_ESCAPE": {
      const escape = source.text.slice(start, start + 2);
      const hint = "write the backslash twice, or put the text in single quotes";
      return { offset: start, message: `${shown(escape)} is not an escape sequence`, hint, isLocal: true };
    }
    case "BAD_SCALAR_START":
    case "BAD_ALIAS":
      return { ...needsQuotes(start, source.text), isLocal: true };
    case "TAB_AS_INDENT":
      return tabIndentation(start);
    default:
      return undefined;
  }
}

const tabIndentation = (offset: number): Explanation => ({
  offset,
  message: "tabs are not allowed as indentation",
  hint: "indent with spaces",
});

/** Explains a character that no text without quotes starts with. */
function needsQuotes(offset: number, text: string): Explanation {
  const value = valueFrom(text, offset);
  const first = value.startsWith("`") ? "a backtick" : `\`${value.charAt(0)}\``;
  return { offset, message: `text that starts with ${first} needs quotes`, hint: writeHint(quoted(value)) };
}

function duplicateKey(offset: number, { duplicates, lineOf }: FaultySource): Explanation | undefined {
  const duplicate = duplicates.get(offset);
  if (duplicate === undefined) return undefined;
  const { key, first, within } = duplicate;
  const fixes = {
    document: "separate documents with a line `---`, or remove one of the two",
    list: "remove one of the two, or start the next item of the list with `- `",
    map: "remove one of the two",
  };
  const message = `the key ${shown(key)} is used twice: first in line ${lineOf(first)}`;
  return { offset, message, hint: fixes[within], isLocal: true };
}

/** The lines that version control writes around the two sides of a conflict. */
const conflictLine = /^(?:<{7}|={7}|>{7})(?: .*)?$/m;

function explainConflict({ start }: ParserError, { text }: FaultySource): Explanation | undefined {
  const line = lineAt(text, start);
  if (!conflictLine.test(line.text)) return undefined;
  return {
    offset: line.start,
    message: "the file has a merge conflict",
    hint: "keep one of the two sides, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`",
  };
}

const closings: Readonly<Record<string, string>> = { "{": "}", "[": "]", '"': '"', "'": "'" };

function explainUnclosed(error: ParserError, { unclosed, text }: FaultySource): Explanation | undefined {
  const isQuote = /^Missing closing ["']/.test(error.message);
  const isBracket = /^Flow (?:map|sequence) .*end with a/.test(error.message);
  if (!isQuote && !isBracket) return undefined;
  const isMeant = ({ token }: UnclosedToken): boolean => isQuote === (token === '"' || token === "'");
  const found = unclosed.find((each) => isMeant(each) && each.offset <= error.start);
  if (found === undefined) return undefined;
  const { token, offset, closedBy } = found;
  const closing = closings[token] ?? "";
  if (closedBy !== undefined)
    return {
      offset: closedBy.offset,
      message: `\`${closedBy.token}\` does not close \`${token}\``,
      hint: `write \`${closing}\``,
    };
  return isQuote
    ? {
        offset,
        message: `the text that starts here has no closing \`${closing}\``,
        hint: `add \`${closing}\` at its end`,
      }
    : {
        offset,
        message: `\`${token}\` is never closed`,
        hint: isCommentedOut(closing, offset, text)
          ? "`#` starts a comment: put text that contains it in quotes, as in `\"a == '#1'\"`"
          : `add \`${closing}\``,
      };
}

/** Whether the closing bracket of a bracket is in a comment of the same line. */
function isCommentedOut(closing: string, offset: number, text: string): boolean {
  const line = lineAt(text, offset);
  const rest = line.text.slice(offset - line.start).replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, "");
  const [comment = ""] = /\s#.*$/.exec(rest) ?? [];
  return comment.includes(closing);
}

function explainTemplate({ start }: ParserError, { text }: FaultySource): Explanation | undefined {
  const line = lineAt(text, start);
  const { at = 0, value = "" } = entryOf(line.text) ?? {};
  if (!/^\{\{.*\}\}/.test(value)) return undefined;
  const hint = writeHint(quoted(value.replace(/["']+$/, "")));
  return { offset: line.start + at, message: "a template needs quotes", hint };
}

/** Explains a value that is not what was meant, because it has no quotes, or not around all of it. */
function explainValue({ code, start }: ParserError, { text }: FaultySource): Explanation | undefined {
  const line = lineAt(text, start);
  const { at = 0, value = "" } = entryOf(line.text) ?? {};
  if (value === "" || !valueCodes.has(code)) return undefined;
  const offset = line.start + at;
  const [first = ""] = value;
  if (/^[>|]./.test(value)) return { ...needsQuotes(offset, text), isLocal: true };
  if (value.startsWith("- "))
    return {
      offset,
      message: "a list cannot start in the line of its key",
      hint: `write it in brackets, as in ${shown(`[${value.slice(2)}]`)}, or put text in quotes`,
    };
  if (first === "{" || first === "[")
    return code === "UNEXPECTED_TOKEN" ? withinBraces(start, text) : undefined;
  const unquoted = value.replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, "");
  if (unquoted.includes("}") && !unquoted.includes("{"))
    return {
      offset: line.start + line.text.lastIndexOf("}"),
      message: "`}` has no opening `{`",
      hint: "add `{`, or remove `}`",
    };
  if (code === "UNEXPECTED_TOKEN" && (first === '"' || first === "'"))
    return {
      offset,
      message: "the quotes end before the text does",
      hint: writeHint(quoted(value)),
      isLocal: true,
    };
  const [, second] = /, *([\w.-]+): /.exec(unquoted) ?? [];
  if (second !== undefined)
    return {
      offset,
      message: `a second key, ${shown(second)}, in one line`,
      hint: "write it on a line of its own, or put the map in braces",
    };
  // `name: Loan: small` would be a map in the line of a key.
  if (!value.includes(": ")) return undefined;
  return { offset, message: "text with `: ` needs quotes", hint: writeHint(quoted(value)) };
}

const valueCodes: ReadonlySet<string> = new Set(["UNEXPECTED_TOKEN", "BLOCK_AS_IMPLICIT_KEY"]);

/** Explains a character in braces or brackets, or behind them, where the parser expects another entry. */
function withinBraces(at: number, text: string): Explanation {
  const start = text.lastIndexOf(": ", at) + 2;
  const value = valueFrom(text, start);
  if (start === 1 || start + value.length <= at)
    return {
      offset: at,
      message: "text after the closing bracket",
      hint: "remove it, or put all of it in quotes",
    };
  return {
    offset: start,
    message: `text with \`${text.charAt(at)}\` needs quotes`,
    hint: writeHint(quoted(value)),
  };
}

/** Explains text without quotes that a comma within round brackets cuts, as in `{ condition: a in ('b', 'c') }`. */
function explainCutText({ code, start: at }: ParserError, text: string): Explanation | undefined {
  const start = text.lastIndexOf(": ", at) + 2;
  const value = start === 1 ? "" : valueFrom(text, start);
  const [before, after] = [value.slice(0, at - start), value.slice(at - start)];
  const isCut = code === "MISSING_CHAR" && after !== "" && /^[^\s"'[{][^,]*\([^)]*,/.test(before);
  if (!isCut) return undefined;
  const message = "text with `,` needs quotes within braces";
  return { offset: start, message, hint: writeHint(quoted(value)), isLocal: true };
}

/** Explains two entries in braces or brackets without a comma between them. */
function explainMissingComma({ code, message, start }: ParserError, text: string): Explanation | undefined {
  const hint = "put `,` between two entries";
  if (code === "MISSING_CHAR" && message.startsWith("Missing , "))
    return { offset: start, message: "`,` is missing before this entry", hint };
  if (code !== "BLOCK_IN_FLOW") return undefined;
  const [, before, key = ""] = /^([^\n]*?\s)([\w.-]+):\s/.exec(text.slice(start)) ?? [];
  if (before === undefined) return undefined;
  return { offset: start + before.length, message: `\`,\` is missing before ${shown(key)}`, hint };
}

/** Explains a line that has the wrong indentation, or no colon. */
function explainLine({ code, start }: ParserError, source: FaultySource): Explanation | undefined {
  const { text } = source;
  const line = lineAt(text, start);
  const isStart = /^[\s-]*$/.test(text.slice(line.start, start));
  switch (code) {
    case "MULTILINE_IMPLICIT_KEY":
    case "MISSING_CHAR":
    case "BLOCK_AS_IMPLICIT_KEY": {
      // A value that goes on in the next line.
      if (!isStart) {
        const next = contentLineAfter(source, line);
        return next === undefined ? undefined : explainIndentation(next, source);
      }
      const isItem = /^ *-/.test(line.text);
      return isItem || entryOf(line.text)?.key !== undefined
        ? explainIndentation(line, source)
        : explainMissingColon(line, source);
    }
    case "BAD_INDENT":
      return explainIndentation(line, source);
    default:
      return undefined;
  }
}

function explainMissingColon(line: Line, source: FaultySource): Explanation | undefined {
  const content = line.text.trim();
  const offset = line.start + indentOf(line);
  const above = contentLinesBefore(source, line)[0];
  if (above !== undefined && /:\s+[|>][-+\d]*\s*$/.test(above.text))
    return {
      offset,
      message: "the text of a block must be indented deeper than its key",
      hint: `indent it with ${spaces(indentOf(above) + 2)}`,
    };
  if (content.startsWith("//"))
    return {
      offset,
      message: "`//` does not start a comment",
      hint: writeHint(content.replace(/^\/+/, "#"), "write `#`"),
    };
  if (/^[{[]/.test(content))
    return {
      offset,
      message: "a map or list in brackets without a key",
      hint: "start it with `- ` if it is an item of a list, or with its key and `: `",
    };
  const [, joined, rest = ""] = /^([^\s:]+):(?!\/\/)(\S.*)$/.exec(content) ?? [];
  if (joined !== undefined)
    return {
      offset: offset + joined.length,
      message: `a space is missing after ${shown(`${joined}:`)}`,
      hint: writeHint(`${joined}: ${rest}`, "put a space there"),
    };
  const [, key = content, value] = /^("[^"]*"|'[^']*'|[^\s=]+)\s*=?\s*(\S.*)?$/.exec(content) ?? [];
  return {
    offset: offset + key.length,
    message: `\`:\` is missing after ${shown(key)}`,
    hint: writeHint(value === undefined ? `${key}:` : `${key}: ${value}`, "put `:` and a space there"),
  };
}

function explainIndentation(line: Line, source: FaultySource): Explanation | undefined {
  const indent = indentOf(line);
  const offset = line.start + indent;
  if (/^ *\t/.test(line.text)) return tabIndentation(offset);
  const above = contentLinesBefore(source, line);
  const joined = [line, ...above.slice(0, 1)].find(({ text }) => /^ *-[^\s\d.-]/.test(text));
  if (joined !== undefined)
    return {
      offset: joined.start + indentOf(joined),
      message: "a space is missing after `-`",
      hint: writeHint(joined.text.trim().replace(/^-/, "- "), "put a space there"),
    };
  const isItem = /^ *-(?: |$)/.test(line.text);
  const written = entryOf(line.text)?.key;
  const expected = expectedPlace(above, { indent, isItem, key: written });
  if (expected !== undefined && expected.column !== indent) {
    const { column, sibling } = expected;
    const [what, others] = isItem
      ? ["this item of a list", "items"]
      : [shown(written ?? "this line"), "keys"];
    const where = sibling === undefined ? `the ${others} above it` : shown(sibling);
    const fix = column === 0 ? "indent all keys of a map equally" : `indent it with ${spaces(column)}`;
    return {
      offset,
      message: `${what} is indented with ${spaces(indent)}, but ${where} with ${column}`,
      hint: sibling === undefined ? fix : `${fix}, next to ${where}`,
    };
  }
  const [owner] = above;
  const { key, value = "" } = entryOf(owner?.text ?? "") ?? {};
  if (!isItem || owner === undefined || key === undefined || value === "") return undefined;
  return indentOf(owner) > indent
    ? {
        offset,
        message: "an item of a list among the keys of a map",
        hint: "start every item of a list with `- `",
      }
    : {
        offset,
        message: `a list below ${shown(key)}, which has a value already`,
        hint: "remove the value, or indent the list below its key",
      };
}

/** A place above a line where keys or items start, with the key that is there. */
interface EntryPlace {
  readonly column: number;
  readonly key?: string | undefined;
}

/**
 * Returns the place of the closest keys or items that a line can belong to, of lines above it in reverse order; the
 * deeper one where two are as close. A key that definitions have only further out belongs there, next to `sibling`.
 */
function expectedPlace(
  above: readonly Line[],
  line: { readonly indent: number; readonly isItem: boolean; readonly key: string | undefined },
): { readonly column: number; readonly sibling?: string | undefined } | undefined {
  const places = placesAbove(above, line);
  const distance = ({ column }: EntryPlace): number => Math.abs(column - line.indent);
  const [closest] = places.toSorted((a, b) => distance(a) - distance(b));
  const isAllowed = ({ column }: EntryPlace): boolean => {
    const keys = places.flatMap((each) => (each.column === column ? (each.key ?? []) : []));
    return line.key !== undefined && keys.length > 0 && isMapWith([...keys, line.key]);
  };
  if (closest === undefined || line.isItem || isAllowed(closest)) return closest;
  const sibling = places.find((each) => each.key !== undefined && isAllowed(each));
  return sibling === undefined ? closest : { column: sibling.column, sibling: sibling.key };
}

/** Returns the places of keys, the nearest first; those of items as far as the first line that is indented less. */
function placesAbove(
  above: readonly Line[],
  { indent, isItem }: { readonly indent: number; readonly isItem: boolean },
): readonly EntryPlace[] {
  const places: EntryPlace[] = [];
  let outermost = Infinity;
  for (const each of above) {
    const own = indentOf(each);
    if (own >= outermost) continue;
    outermost = own;
    const { dash, keyAt, key } = entryOf(each.text) ?? {};
    if (!isItem && keyAt !== undefined) places.push({ column: keyAt, key });
    const column = isItem ? dash : dash === undefined ? own : undefined;
    if (column !== undefined) places.push({ column });
    if (isItem && own < indent) break;
  }
  return places;
}

/** Whether a definition can have a map with all of these keys. */
function isMapWith(keys: readonly string[], part: unknown = schema): boolean {
  if (typeof part !== "object" || part === null) return false;
  const { properties } = part as { readonly properties?: object };
  if (properties !== undefined && keys.every((key) => Object.hasOwn(properties, key))) return true;
  return Object.values(part).some((each) => isMapWith(keys, each));
}

const spaces = (count: number): string => `${count} space${count === 1 ? "" : "s"}`;

const shown = (text: string): string =>
  `\`${text.length > maxShownLength ? `${text.slice(0, maxShownLength - 1)}…` : text}\``;
