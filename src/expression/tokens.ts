import { expressionError } from "./failure.js";
import type { DecisionError } from "../errors.js";

type TokenKind = "number" | "text" | "path" | "word" | "symbol" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** The normalized spelling: `and` for `&&`, a text without its quotes. */
  readonly value: string;
  readonly at: number;
  readonly length: number;
}

/** Words that cannot be the first step of a path. */
export const keywords: ReadonlySet<string> = new Set([
  "and",
  "or",
  "not",
  "in",
  "if",
  "then",
  "else",
  "true",
  "false",
  "null",
  "mod",
]);
const spellings: Readonly<Record<string, string>> = {
  "&&": "and",
  "||": "or",
  "===": "==",
  "!==": "!=",
  "%": "mod",
};
const symbols = ["===", "!==", "==", "!=", "<=", ">=", "~=", "&&", "||", ...Array.from("<>+-*/%^()[],!")];

const space = /\s+/y;
const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const path = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*/y;
const quoted = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/sy;

/** Splits an expression into tokens. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const blank = match(space, text, at);
    if (blank !== undefined) {
      at += blank.length;
      continue;
    }
    const token = readToken(text, at);
    tokens.push(token);
    at += token.length;
  }
  tokens.push({ kind: "end", value: "", at: text.length, length: 0 });
  return tokens;
}

function readToken(text: string, at: number): Token {
  const literal = match(quoted, text, at);
  if (literal !== undefined) return { kind: "text", value: unquote(literal), at, length: literal.length };

  const digits = match(number, text, at);
  if (digits !== undefined) return readNumber(text, at, digits);

  const name = match(path, text, at);
  if (name !== undefined) {
    const kind = keywords.has(name) ? "word" : "path";
    return { kind, value: name, at, length: name.length };
  }

  const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
  if (symbol === undefined) throw unreadable(text, at);
  const value = spellings[symbol] ?? symbol;
  const kind = keywords.has(value) ? "word" : "symbol";
  return { kind, value, at, length: symbol.length };
}

function readNumber(text: string, at: number, digits: string): Token {
  const next = text[at + digits.length];
  if (next !== undefined && /[\w.]/.test(next)) {
    const isDate = /\d{4}-\d{2}-$/.test(text.slice(0, at)) && next === "T";
    const hint = isDate ? "write dates in quotes, such as '2024-01-01T00:00:00Z'" : undefined;
    throw expressionError(text, at, `\`${digits}${next}\` is not a number`, hint);
  }
  if (!Number.isFinite(Number(digits)))
    throw expressionError(text, at, `\`${digits}\` is too large a number`);
  return { kind: "number", value: digits, at, length: digits.length };
}

/** Only quotes and backslashes can be escaped, so patterns such as `'^\d+$'` need no double backslashes. */
function unquote(literal: string): string {
  return literal.slice(1, -1).replace(/\\(['"\\])/g, "$1");
}

function unreadable(text: string, at: number): Error {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (character === "'" || character === '"')
    return expressionError(text, at, "the text has no closing quote");
  if (character === "=") return singleEquals(text, at);
  if ("‘’“”".includes(character)) {
    return expressionError(text, at, `unexpected \`${character}\``, "use straight quotes");
  }
  if (character === "{") {
    return expressionError(text, at, "unexpected `{`", "write {{ … }} around an expression in text");
  }
  if (character === "?") return unsupportedQuestion(text, at);
  return expressionError(text, at, `unexpected \`${printable(character)}\``, foreignSymbolHint(text, at));
}

/** Explains `a ? b : c`, and `a ?? b` and `a?.b`, which read what may be missing. */
function unsupportedQuestion(text: string, at: number): Error {
  const refusal = (operator: string, hint: string): Error =>
    expressionError(text, at, `\`${operator}\` is not supported`, hint);
  const [before = ""] = /[\w.]*$/.exec(text.slice(0, at).trimEnd()) ?? [];
  const [, fallback] = /^\?\?\s*('[^']*'|"[^"]*"|[\w.]+|)/.exec(text.slice(at)) ?? [];
  if (fallback !== undefined) return refusal("??", defaultValueHint(before, fallback));
  const [, key] = /^\?\.(?!\d)(\w*)/.exec(text.slice(at)) ?? [];
  if (key !== undefined) return refusal("?.", defaultValueHint(`${before}.${key}`));
  return refusal("? :", "write `if … then … else …`");
}

/** Shows how to read a path that may be missing. */
function defaultValueHint(path: string, fallback = ""): string {
  const steps = path.split(".");
  if (steps.includes(""))
    return "write `get(…, 'key', 0)` with a default value, or `if exists(…) then … else …`";
  const owner = steps.slice(0, -1).join(".") || "context";
  const get = `get(${owner}, '${steps.at(-1)}', ${fallback || 0})`;
  return `write \`${get}\` with a default value, or test it with \`exists(${path})\``;
}

/** Returns a hint for a symbol of another language. */
function foreignSymbolHint(text: string, at: number): string | undefined {
  switch (text[at]) {
    case "&":
      return "write `and`";
    case "|":
      return "write `or`";
    case "$": {
      const [, path] = /^\$\.?([A-Za-z_]\w*(?:\.\w+)*)/.exec(text.slice(at)) ?? [];
      return path === undefined ? undefined : `write \`${path}\``;
    }
    case ".":
      return text[at - 1] === "]" ? pathBehindBracketsHint(text, at) : undefined;
    default:
      return undefined;
  }
}

function pathBehindBracketsHint(text: string, at: number): string {
  const [, owner, key] = /([\w.]+)\[["'](\w+)["']\]$/.exec(text.slice(0, at)) ?? [];
  if (key === undefined) return "write `list.0.name` for a part of an item of a list";
  const [rest = ""] = /^(?:\.\w+)*/.exec(text.slice(at)) ?? [];
  return `write \`${owner}.${key}${rest}\``;
}

function singleEquals(text: string, at: number): Error {
  const pattern = text[at + 1] === "~";
  const hint = pattern ? "search for a pattern with `~=`" : "compare with `==`";
  return expressionError(text, at, "`=` is not an operator", hint);
}

function printable(character: string): string {
  return /[\p{C}\p{Z}]/u.test(character)
    ? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
    : character;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** The parser's position in the tokens of an expression. */
export class Cursor {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  get next(): Token {
    return this.peek(0);
  }

  get previous(): Token {
    return this.peek(-1);
  }

  peek(distance: number): Token {
    return (
      this.#tokens[this.#position + distance] ?? { kind: "end", value: "", at: this.#text.length, length: 0 }
    );
  }

  advance(): Token {
    const token = this.next;
    this.#position++;
    return token;
  }

  back(): void {
    this.#position--;
  }

  /** Consumes the next token if it is this word or symbol. */
  accept(value: string): boolean {
    const token = this.next;
    if (token.value !== value || (token.kind !== "word" && token.kind !== "symbol")) return false;
    this.#position++;
    return true;
  }

  expect(value: string): void {
    if (!this.accept(value)) throw this.unexpected(`\`${value}\``);
  }

  unexpected(expected: string, hint?: string): DecisionError {
    const token = this.next;
    if (token.kind === "end") return this.error(token, `expected ${expected}, got the end of the expression`);
    const written = this.#written(token);
    const message = `expected ${expected}, got \`${written}\``;
    return this.error(token, message, hint ?? this.#hintInContext() ?? hintForForeignWord(written));
  }

  /** Returns a hint for the next token that depends on the tokens around it. */
  #hintInContext(): string | undefined {
    const [before, { kind, value, at }, after] = [this.previous, this.next, this.peek(1)];
    if (kind !== "symbol") return undefined;
    const isJoined = before.at + before.length === at && after.at === at + 1;
    if (value === "," && isJoined && before.kind === "number" && after.kind === "number")
      return `write \`${before.value}.${after.value}\`: numbers have a decimal point`;
    if (value !== "[" || before.kind !== "path") return undefined;
    if (after.kind === "path") return `write \`get(${before.value}, ${after.value})\``;
    if (after.kind !== "text") return undefined;
    const byKey = `\`get(${before.value}, ${this.#written(after)})\``;
    return /^\w+$/.test(after.value)
      ? `write \`${before.value}.${after.value}\` or ${byKey}`
      : `write ${byKey}`;
  }

  #written({ at, length }: Token): string {
    return this.#text.slice(at, at + length);
  }

  error(token: Token, message: string, hint?: string): DecisionError {
    return expressionError(this.#text, token.at, message, hint);
  }
}

/** Returns a hint for a word or symbol of another language. */
function hintForForeignWord(written: string): string | undefined {
  switch (written) {
    case "AND":
    case "OR":
    case "NOT":
    case "IN":
      return `write \`${written.toLowerCase()}\``;
    case ">":
      return "write `!=` for unequal";
    case "like":
    case "LIKE":
      return "write `starts_with(…, …)`, `ends_with(…, …)` or `contains(…, …)`, or `matches(…, …)` for a pattern";
    case "is":
      return "compare with `==`; test for a missing value with exists(…)";
    case "[":
      return "write `list.0` or get(list, 0) for an item of a list";
    case "*":
      return "write `^` for a power";
    default:
      return undefined;
  }
}
