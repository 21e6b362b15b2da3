import type { Document, Node as YamlNode } from "yaml";
import {
  CST,
  Lexer,
  LineCounter,
  Parser,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  stringify,
  visit,
} from "yaml";
import type { DuplicateKey, ExplainedError, FaultySource, UnclosedToken } from "./explain-yaml-errors.js";
import { explainYamlErrors, firstLine } from "./explain-yaml-errors.js";
import { inexactHint, inexactMessage, tooLargeMessage } from "../digest/parse-json.js";

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
  /** Whether the value at a path is text without quotes, with a comment behind it. */
  isBeforeComment(path: Path): boolean;
}

interface YamlError extends Position {
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface YamlSource {
  readonly documents: readonly SourceDocument[];
  readonly errors: readonly YamlError[];
}

/** A part of a file as it is written, even if the file has errors. Offsets count UTF-16 units. */
export interface TextNode {
  readonly kind: "map" | "list" | "scalar";
  readonly start: number;
  /** The end of the value, without the spaces and comments behind it. */
  readonly end: number;
  /** The value of a scalar. */
  readonly value?: string | number | boolean | null;
  /** The entries of a map. */
  readonly entries: readonly TextEntry[];
  /** The items of a list. */
  readonly items: readonly (TextNode | undefined)[];
}

export interface TextEntry {
  readonly key: TextNode;
  readonly value: TextNode | undefined;
}

/** Returns the documents of a file; undefined if the file exceeds a limit. Aliases are left out. */
export function readTree(text: string): readonly (TextNode | undefined)[] | undefined {
  if (findLimitViolation(new Lexer().lex(text)) !== undefined) return undefined;
  return parseWithoutTraces(text, new LineCounter()).map(({ contents }) => toTextNode(contents));
}

function toTextNode(node: unknown): TextNode | undefined {
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return undefined;
  const [start = 0, end = start] = node.range ?? [];
  const place = { start, end, entries: [], items: [] };
  if (isScalar(node))
    return { kind: "scalar", ...place, value: node.value as string | number | boolean | null };
  if (isSeq(node)) return { kind: "list", ...place, items: node.items.map(toTextNode) };
  const entries = node.items.flatMap(({ key, value }) => {
    const keyNode = toTextNode(key);
    return keyNode === undefined ? [] : [{ key: keyNode, value: toTextNode(value) }];
  });
  return { kind: "map", ...place, entries };
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
  const mayBeInexact = suspectNumber.test(text);
  for (const document of parsed) {
    const invalidNumbers = mayBeInexact ? findInvalidNumbers(document) : [];
    for (const { offset, message, hint } of invalidNumbers) {
      errors.push({ ...position(offset), message, hint });
    }
    // An infinite number has no canonical JSON.
    if (invalidNumbers.some(({ isFinite }) => !isFinite)) continue;
    for (const { offset, ...error } of explainErrors(document, text, position))
      errors.push({ ...position(offset), ...error });
    if (document.errors.length > 0 || document.contents === null) continue;
    const value = toValue(document);
    if (value instanceof Error) {
      const { offset = document.range[0], ...error } = unresolvedAlias(document) ?? {
        message: firstLine(value.message),
      };
      errors.push({ ...position(offset), ...error });
    } else documents.push(sourceDocument(document, value, text, position));
  }
  return { documents, errors };
}

/** A new value at a path of a document; undefined removes the value that is there. */
export interface DocumentEdit {
  readonly path: Path;
  readonly value: string | undefined;
}

/**
 * Returns one document of a file with some edits and all its comments; undefined if there is no such document, or if
 * its anchors and aliases do not allow the edits.
 */
export function editDocument(
  text: string,
  isWanted: (value: unknown) => boolean,
  edits: readonly DocumentEdit[],
): string | undefined {
  if (findLimitViolation(new Lexer().lex(text)) !== undefined) return undefined;
  const document = parseWithoutTraces(text, new LineCounter()).find(
    (each) => each.errors.length === 0 && isWanted(toValue(each)),
  );
  try {
    for (const { path, value } of edits) {
      if (value === undefined) document?.deleteIn(path);
      else document?.setIn(path, value);
    }
    return document?.toString({ lineWidth: 0 });
  } catch {
    return undefined;
  }
}

/** Returns the tokens of a text that `readYaml` reads without errors: its limits bound their number and nesting. */
export const parseTokens = (text: string): readonly CST.Token[] => [...new Parser().parse(text)];

/** A comment in a text, with its `#`. */
interface WrittenComment {
  readonly offset: number;
  readonly text: string;
  /** The offset of the token before it; -1: there is none. */
  readonly after: number;
}

/** Returns all comments of a text, in order. The parser loses some, so they are taken from the lexer. */
export function commentsIn(text: string): readonly WrittenComment[] {
  const comments: WrittenComment[] = [];
  let offset = 0;
  let after = -1;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (isControl(token)) {
      isScalar = token === scalarNext;
      continue;
    }
    if (token.startsWith("#") && !isScalar) comments.push({ offset, text: token.trimEnd(), after });
    else if (isScalar || token.trim() !== "") after = offset;
    isScalar = false;
    offset += token.length;
  }
  return comments;
}

/** Returns the position of a character of a text. */
export function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

export const writeYaml = (value: unknown): string =>
  stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });

/** Files without such numbers are not searched for invalid ones. An exponent of 3 digits may be too large. */
const suspectNumber = /[\da-f_]{14}|\de\+?\d{3}|\.inf|\.nan/i;

interface InvalidNumber {
  readonly offset: number;
  readonly isFinite: boolean;
  readonly message: string;
  readonly hint?: string;
}

/** Finds numbers that JSON does not have, and integers that a number cannot represent exactly: the parser rounds them. */
function findInvalidNumbers(document: Document.Parsed): readonly InvalidNumber[] {
  const found: InvalidNumber[] = [];
  visit(document, {
    Scalar(_key, { value, source = "", range }) {
      if (typeof value !== "number" || Number.isSafeInteger(value)) return;
      const offset = range?.[0] ?? document.range[0];
      if (!Number.isFinite(value)) found.push({ offset, isFinite: false, message: infiniteMessage(source) });
      else if (!isExactInteger(source, value))
        found.push({ offset, isFinite: true, message: inexactMessage(source), hint: inexactHint(source) });
    },
  });
  return found;
}

const infiniteMessage = (source: string): string =>
  /\d/.test(source) ? tooLargeMessage(source) : `\`${source}\` is not a number that JSON has`;

/** A number with a fraction or an exponent is rounded by design. */
function isExactInteger(source: string, value: number): boolean {
  if (/^[+-]?(?!0x)[\d_]*(?:\.|[\d_]e)/i.test(source)) return true;
  try {
    const magnitude = BigInt(source.replace(/^[+-]/, "").replaceAll("_", ""));
    return magnitude === BigInt(Math.abs(value));
  } catch {
    return false;
  }
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
    isBeforeComment(path) {
      const node = nearestNode(document, path);
      const end = node?.range?.[1] ?? text.length;
      return (
        isScalar(node) && node.type === "PLAIN" && /^[ \t]+#/.test(text.slice(end, end + maxCommentDistance))
      );
    },
  };
}

/** How far behind a value a comment is looked for. */
const maxCommentDistance = 100;

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

/** Explains what the parser found wrong with a document. */
function explainErrors(
  document: Document.Parsed,
  text: string,
  position: (offset: number) => Position,
): readonly ExplainedError[] {
  const errors = [...document.errors, ...document.warnings].slice(0, maxErrors);
  if (errors.length === 0) return [];
  return explainYamlErrors(
    errors.map(({ code, message, pos: [start, end] }) => ({ code, message, start, end })),
    {
      text,
      ...textTokens(text),
      duplicates: duplicateKeys(document),
      lineOf: (offset) => position(offset).line,
    },
  );
}

/** Finds what is never closed, and the lines that continue a text. */
function textTokens(text: string): Pick<FaultySource, "unclosed" | "continuesText"> {
  const unclosed: UnclosedToken[] = [];
  const longTexts: { readonly from: number; readonly to: number }[] = [];
  const see = (token: CST.Token | null | undefined): void => {
    if (token?.type === "block-scalar") {
      longTexts.push({ from: token.offset, to: token.offset + token.source.length });
    } else if (token?.type === "double-quoted-scalar" || token?.type === "single-quoted-scalar") {
      const { offset, source } = token;
      if (isClosedQuote(source)) longTexts.push({ from: offset + 1, to: offset + source.length });
      else unclosed.push({ token: source.charAt(0), offset });
    } else if (token?.type === "flow-collection") {
      const { offset, source } = token.start;
      const closing = token.end.find(({ type }) => type === "flow-map-end" || type === "flow-seq-end");
      if (closing === undefined) unclosed.push({ token: source, offset });
      else if (source !== (closing.type === "flow-map-end" ? "{" : "["))
        unclosed.push({ token: source, offset, closedBy: { token: closing.source, offset: closing.offset } });
    }
  };
  for (const token of parseTokens(text)) {
    if (token.type !== "document") continue;
    CST.visit(token, ({ key, value }) => {
      see(key);
      see(value);
    });
  }
  unclosed.sort((a, b) => a.offset - b.offset);
  return {
    unclosed,
    continuesText: (lineStart) => longTexts.some(({ from, to }) => from <= lineStart && lineStart < to),
  };
}

/** Whether a text in quotes ends with its quote. */
function isClosedQuote(source: string): boolean {
  const inner = source.slice(1);
  if (source.startsWith('"')) return /(?<!\\)(?:\\\\)*"$/.test(inner);
  return (/'*$/.exec(inner)?.[0] ?? "").length % 2 === 1;
}

/** Returns the keys that a map has twice, by the offset of the second. */
function duplicateKeys(document: Document.Parsed): ReadonlyMap<number, DuplicateKey> {
  const duplicates = new Map<number, DuplicateKey>();
  visit(document, {
    Map(_key, map, path) {
      const within = map === document.contents ? "document" : isSeq(path.at(-1)) ? "list" : "map";
      const seen = new Map<unknown, number>();
      for (const { key } of map.items) {
        const offset = startOf(key);
        if (!isScalar(key) || offset === undefined) continue;
        const first = seen.get(key.value);
        if (first === undefined) seen.set(key.value, offset);
        else duplicates.set(offset, { key: String(key.value), first, within });
      }
    },
  });
  return duplicates;
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** Explains the first alias without an anchor: most likely it is text. */
function unresolvedAlias(document: Document.Parsed): ExplainedError | undefined {
  let found: ExplainedError | undefined;
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      const message = `\`*${alias.source}\` refers to the anchor \`&${alias.source}\`, which is not there`;
      found = { offset: startOf(alias) ?? 0, message, hint: `if it is text, write \`"*${alias.source}"\`` };
      return visit.BREAK;
    },
  });
  return found;
}

/** The limits of a definition file, so that reading one is fast and never crashes the process. */
const maxNesting = 64;
const maxKeys = 2000;
const maxDocuments = 10_000;
/** Resolving an alias takes longer the more anchors there are. */
const maxAnchors = 1000;
/** About the tokens of a table of 10,000 rules. */
const maxTokens = 400_000;

interface LimitViolation {
  readonly message: string;
  readonly offset: number;
}

interface Collection {
  readonly kind: "block" | "[" | "{";
  readonly column: number;
  keys: number;
}

/** Control tokens of the lexer, which are not text of the file; `scalarNext` precedes the text of a scalar. */
const documentStart = "\u0002";
const flowEnd = "\u0018";
const scalarNext = "\u001f";

/**
 * Returns the first limit that a file exceeds, from the tokens of the lexer alone. The parser is recursive and
 * compares every key of a map with every other one, so that it must not receive such a file.
 */
function findLimitViolation(tokens: Iterable<string>): LimitViolation | undefined {
  const watch = new TokenCounter();
  for (const token of tokens) {
    const message = watch.see(token);
    if (message !== undefined) return { message, offset: watch.offset };
    watch.pass(token);
  }
  return undefined;
}

class TokenCounter {
  offset = 0;
  readonly #open: Collection[] = [];
  #lineStart = 0;
  #contentColumn = 0;
  #scalarNext = false;
  #tokens = 0;
  #documents = 0;
  #anchors = 0;

  /** Counts a token and returns the limit that it exceeds. */
  see(token: string): string | undefined {
    if (++this.#tokens > maxTokens) return "the file is too large: it has more than about 10,000 rules";
    const isScalar = this.#scalarNext;
    this.#scalarNext = token === scalarNext;
    if (isControl(token)) return this.#control(token);
    if (!isScalar && /^[&*]/.test(token) && ++this.#anchors > maxAnchors) {
      return `a file may contain at most ${maxAnchors} anchors and aliases`;
    }
    if (isScalar || !isIndicator(token)) {
      if (token.trim() !== "") this.#contentColumn = this.#column;
      return undefined;
    }
    if ((token === "]" || token === "}") && !this.#open.some(({ kind }) => kind !== "block")) {
      return `\`${token}\` closes nothing`;
    }
    updateCollections(this.#open, token, token === ":" ? this.#contentColumn : this.#column);
    return violatedLimit(this.#open);
  }

  pass(token: string): void {
    if (isControl(token)) return;
    this.offset += token.length;
    const newline = token.lastIndexOf("\n");
    if (newline !== -1) this.#lineStart = this.offset - (token.length - newline - 1);
  }

  get #column(): number {
    return this.offset - this.#lineStart;
  }

  #control(token: string): string | undefined {
    if (token === flowEnd) leaveFlow(this.#open);
    if (token !== documentStart) return undefined;
    this.#open.length = 0;
    return ++this.#documents > maxDocuments
      ? `a file may contain at most ${maxDocuments} documents`
      : undefined;
  }
}

function isControl(token: string): boolean {
  return token === documentStart || token === flowEnd || token === scalarNext;
}

/** Closes the flow collections, as the indentation is that of the block around them. */
function leaveFlow(open: Collection[]): void {
  const first = open.findIndex(({ kind }) => kind !== "block");
  if (first !== -1) open.length = first;
}

function isIndicator(token: string): boolean {
  return token.length === 1 && "[]{}-?:,".includes(token);
}

function updateCollections(open: Collection[], indicator: string, column: number): void {
  switch (indicator) {
    case "[":
    case "{":
      open.push({ kind: indicator, column, keys: 0 });
      return;
    case "]":
    case "}":
      while (open.length > 0 && open.pop()?.kind === "block");
      return;
    case ",":
      countKey(open, "{");
      return;
    default:
      enterBlock(open, column);
      if (indicator !== "-") countKey(open, "block");
  }
}

function enterBlock(open: Collection[], column: number): void {
  const last = open.at(-1);
  if (last !== undefined && last.kind !== "block") return;
  while (open.length > 0 && (open.at(-1)?.column ?? 0) > column) open.pop();
  if (open.at(-1)?.column !== column) open.push({ kind: "block", column, keys: 0 });
}

function countKey(open: readonly Collection[], kind: Collection["kind"]): void {
  const last = open.at(-1);
  if (last?.kind === kind) last.keys++;
}

function violatedLimit(open: readonly Collection[]): string | undefined {
  if (open.length > maxNesting) return `the file is nested deeper than ${maxNesting}`;
  return (open.at(-1)?.keys ?? 0) > maxKeys ? `a map has at most ${maxKeys} keys` : undefined;
}
