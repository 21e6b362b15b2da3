import type { Document, Node as YamlNode } from "yaml";
import { Lexer, LineCounter, isMap, isPair, isScalar, parseAllDocuments } from "yaml";
import { maxNesting, findLimitViolation } from "./yaml-limits.js";

export interface Position {
  readonly line: number;
  readonly column: number;
}

export type Path = readonly (string | number)[];

/** The value of one YAML document, with the positions of its parts in the file. */
export interface SourceDocument {
  readonly value: unknown;
  /** The start of the value at a path, or of its nearest parent if there is none. */
  locate(path: Path): Position;
  /** The position of a key. */
  locateKey(path: Path, key: string): Position;
  /** The position of a character of the text at a path, as exactly as quoting and folding allow. */
  locateWithin(path: Path, offset: number): Position;
}

interface YamlError extends Position {
  readonly message: string;
  readonly hint?: string | undefined;
}

interface YamlSource {
  readonly documents: readonly SourceDocument[];
  readonly errors: readonly YamlError[];
}

const maxAliases = 100;
/** How many errors of one document are reported. */
const maxErrors = 1000;

/** Parses YAML, and so JSON too. Errors are returned, never thrown. */
export function readYaml(text: string): YamlSource {
  const lines = new LineCounter();
  const position = (offset: number): Position => positionOf(lines, offset);
  const exceeded = findLimitViolation(new Lexer().lex(text));
  if (exceeded !== undefined) {
    for (let at = text.indexOf("\n"); at !== -1 && at < exceeded.offset; at = text.indexOf("\n", at + 1)) {
      lines.addNewLine(at + 1);
    }
    lines.lineStarts.unshift(0);
    return { documents: [], errors: [{ ...position(exceeded.offset), message: exceeded.message }] };
  }
  const parsed = parseWithoutTraces(text, lines);
  const errors: YamlError[] = [];
  const documents: SourceDocument[] = [];
  for (const document of parsed) {
    for (const error of [...document.errors, ...document.warnings].slice(0, maxErrors)) {
      errors.push({ ...position(error.pos[0]), message: firstLine(error.message), hint: hints[error.code] });
    }
    if (document.errors.length > 0 || document.contents === null) continue;
    const value = toValue(document);
    if (value instanceof Error)
      errors.push({ ...position(document.range[0]), message: firstLine(value.message) });
    else documents.push(sourceDocument(document, value, text, position));
  }
  return { documents, errors };
}

/** Parses without stack traces: the parser creates an Error for each fault, and the traces take most of the time. */
function parseWithoutTraces(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parseAllDocuments(text, { lineCounter, prettyErrors: false, logLevel: "silent" });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function toValue(document: Document.Parsed): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: maxAliases });
    return isDeeperThan(value, maxNesting)
      ? new Error(`the file is nested deeper than ${maxNesting}`)
      : value;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Aliases can nest a value deeper than it is written, even in itself. */
function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((child) => isDeeperThan(child, depth - 1));
}

function sourceDocument(
  document: Document.Parsed,
  value: unknown,
  text: string,
  position: (offset: number) => Position,
): SourceDocument {
  const start = (node: YamlNode | undefined): number => node?.range?.[0] ?? document.range[0];
  return {
    value,
    locate: (path) => position(start(nearestNode(document, path))),
    locateKey: (path, key) => position(start(keyNode(document, path, key) ?? nearestNode(document, path))),
    locateWithin(path, offset) {
      const node = nearestNode(document, path);
      const from = start(node);
      const to = node?.range?.[1] ?? from;
      const written = isScalar(node) ? String(node.value) : "";
      const at = written === "" ? -1 : text.slice(from, to).indexOf(written);
      return position(at === -1 ? from : from + at + offset);
    },
  };
}

function nearestNode(document: Document.Parsed, path: Path): YamlNode | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as YamlNode | undefined;
    if (node?.range) return node;
  }
  return undefined;
}

function keyNode(document: Document.Parsed, path: Path, key: string): YamlNode | undefined {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  if (!isMap(map)) return undefined;
  const pair = map.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
  return pair?.key as YamlNode | undefined;
}

function positionOf(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** How to fix the errors of the parser, by code. */
const hints: Readonly<Record<string, string>> = {
  TAG_RESOLVE_FAILED: "put the text in quotes: a `!` at its start is a tag",
  BAD_DQ_ESCAPE: "write the backslash twice, or put the text in single quotes",
  BLOCK_AS_IMPLICIT_KEY: "check the indentation of this line, and put text in quotes",
  BAD_INDENT: "indent all lines of a map equally",
  TAB_AS_INDENT: "indent with spaces",
  UNEXPECTED_TOKEN: "put text that contains quotes into quotes of the other kind",
  DUPLICATE_KEY: "remove one of the two: a map has each key once",
};

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? message).replace(/[.:]$/, "");
}
