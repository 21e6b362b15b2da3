import { isExactNumber, inexactMessage } from "../digest/parse-json.js";
import { functionTable } from "../expression/function-table.js";
import { parseInstant } from "../expression/instant.js";
import type { Literal } from "../expression/syntax.js";
import { quote } from "../expression/syntax.js";
import { didYouMean } from "../text.js";
import { maxCellValues } from "./table.js";

/** A condition on the value of one column. Absent in a rule: any value. */
export interface Cell {
  /** Matches what no test matches. */
  readonly negated: boolean;
  /** At least one; the cell matches if one of them does. */
  readonly tests: readonly Test[];
}

export type Test =
  | { readonly kind: "equals"; readonly value: Literal | Instant }
  | { readonly kind: "order"; readonly operator: Order; readonly bound: Bound }
  | Range
  | Call;

export interface Range {
  readonly kind: "range";
  readonly from: Bound;
  readonly fromOpen: boolean;
  readonly to: Bound;
  readonly toOpen: boolean;
}

/** A function whose first argument is the value of the column. */
export interface Call {
  readonly kind: "call";
  readonly name: string;
  readonly negated: boolean;
  readonly args: readonly Literal[];
}

export type Order = "<" | "<=" | ">" | ">=";
export type Bound = number | string | Instant;

/** A date that is compared as an instant, and not as text. */
export interface Instant {
  readonly instant: string;
}

export const isInstant = (value: Literal | Instant): value is Instant =>
  typeof value === "object" && value !== null;

export const equals = (value: Literal | Instant): Test => ({ kind: "equals", value });

/** A cell that cannot be read. */
export class InvalidCell extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/**
 * Returns the cell of some tests. A test that cannot be evaluated for a value, such as `< 5` for a text, ends the
 * evaluation of the condition, so those that can match that value come first. Throws for tests that cannot be sorted
 * in this way.
 */
export function toCell(tests: readonly Test[], negated = false): Cell {
  if (tests.length > maxCellValues)
    throw new InvalidCell(`a cell may have at most ${maxCellValues} values`, "split the rule");
  const compared = new Set(tests.filter((test) => rankOf(test) === 2).map(comparedType));
  const calls = tests.filter((test) => rankOf(test) === 3).length;
  if (compared.size + calls > 1) {
    throw new InvalidCell(
      "the cell compares the value with different types",
      "compare numbers, texts and dates in rules of their own, and call at most one function",
    );
  }
  for (const test of tests) if (test.kind === "range") assertNotEmpty(test);
  return { negated, tests: tests.toSorted((a, b) => rankOf(a) - rankOf(b)) };
}

/** A test can be evaluated for at least the values for which one of a higher rank can. */
function rankOf(test: Test): number {
  if (test.kind === "call") return test.name === "exists" ? 0 : 3;
  return test.kind === "equals" && !isInstant(test.value) ? 1 : 2;
}

function comparedType(test: Test): string {
  if (test.kind === "range") return typeof test.from;
  return test.kind === "order" ? typeof test.bound : "object";
}

/** Reads a cell of a condition; undefined: any value. Throws `InvalidCell`. */
export function parseCell(text: string): Cell | undefined {
  const trimmed = text.trim();
  if (trimmed === "-") return undefined;
  if (trimmed === "")
    throw new InvalidCell("the cell is empty", "write `-` for any value, or '' for the empty text");
  return new CellReader(trimmed).read();
}

/** Returns the texts of a cell that are not in quotes. Throws `InvalidCell`. */
export function bareTexts(text: string): readonly string[] {
  const reader = new CellReader(text.trim());
  reader.read();
  return reader.bareTexts;
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const date = /\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?/y;
const quoted = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/sy;
const spaces = /\s*/y;
const negation = /not\s*\(/iy;
const membership = /in\s*\(/iy;
const call = /(not\s+)?([A-Za-z_]\w*)\s*\(/y;
const bare = /[^,()[\]]*/y;
const keyword = /(?:true|false|null)\b/iy;

class CellReader {
  readonly bareTexts: string[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Cell {
    const negated = this.#accept(negation) !== undefined;
    const bracketed = negated || this.#accept(membership) !== undefined;
    const tests = this.#tests();
    if (bracketed) this.#expect(")");
    this.#skipSpaces();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return toCell(tests, negated);
  }

  #tests(): readonly Test[] {
    const tests: Test[] = [];
    do tests.push(this.#test());
    while (this.#acceptCharacter(","));
    return tests;
  }

  #test(): Test {
    this.#skipSpaces();
    const first = this.#text.charAt(this.#at);
    switch (first) {
      case "<":
      case ">": {
        this.#at++;
        const operator: Order = this.#text.charAt(this.#at) === "=" ? `${first}=` : first;
        if (operator !== first) this.#at++;
        return { kind: "order", operator, bound: this.#bound() };
      }
      case "=":
      case "!":
        throw new InvalidCell(
          `\`${this.#shown}\` starts with \`${first}\``,
          "write the value alone, not(value), or text in quotes",
        );
      case "[":
      case "(":
      case "]":
        this.#at++;
        return this.#range(first !== "[");
      case "'":
      case '"':
        return equals(this.#quoted());
      default:
        return this.#call() ?? equals(this.#bare());
    }
  }

  #range(fromOpen: boolean): Range {
    const from = this.#bound();
    this.#skipSpaces();
    if (!this.#text.startsWith("..", this.#at)) {
      throw new InvalidCell(
        `\`${this.#text}\` is not an interval`,
        "write an interval as [1..10), a list without brackets, and text in quotes",
      );
    }
    this.#at += 2;
    const to = this.#bound();
    this.#skipSpaces();
    const close = this.#text.charAt(this.#at);
    if (!["]", ")", "["].includes(close)) throw this.#unexpected("`]` or `)`");
    this.#at++;
    return { kind: "range", from, fromOpen, to, toOpen: close !== "]" };
  }

  /** Reads what a value is compared with. */
  #bound(): Bound {
    this.#skipSpaces();
    if (/['"]/.test(this.#text.charAt(this.#at))) return this.#quoted();
    const written = this.#accept(date) ?? this.#acceptNumber();
    if (written !== undefined && this.#isAtEndOfValue()) return written;
    const test = written === undefined ? this.#call() : undefined;
    if (test?.kind === "equals" && isInstant(test.value)) return test.value;
    throw new InvalidCell(
      `\`${this.#shown}\` is compared with something that is not a number, a date or a quoted text`,
      "put text in quotes, as in < 'm'",
    );
  }

  #isAtEndOfValue(): boolean {
    return /^\s*(?:[,)\][]|\.\.|$)/.test(this.#text.slice(this.#at));
  }

  #acceptNumber(): number | undefined {
    const written = this.#accept(number);
    return written === undefined ? undefined : toNumber(written);
  }

  #quoted(): string {
    const literal = this.#accept(quoted);
    if (literal === undefined) throw new InvalidCell(`\`${this.#shown}\` has no closing quote`);
    return unquote(literal);
  }

  /** Reads a call without its first argument, or `date('…')`. */
  #call(): Test | undefined {
    call.lastIndex = this.#at;
    const [written, not, name = ""] = call.exec(this.#text) ?? [];
    if (written === undefined) return undefined;
    if (name !== "date" && !cellFunctions.has(name)) {
      throw new InvalidCell(
        `\`${name}(…)\` cannot be used in a cell`,
        didYouMean(name, cellFunctions) ?? "put text that contains brackets in quotes",
      );
    }
    this.#at += written.length;
    const args = this.#arguments();
    if (name === "date") return equals(toInstant(args, this.#text));
    return toCall({ kind: "call", name, negated: not !== undefined, args });
  }

  #arguments(): readonly Literal[] {
    const args: Literal[] = [];
    if (this.#acceptCharacter(")")) return args;
    do args.push(this.#argument());
    while (this.#acceptCharacter(","));
    this.#expect(")");
    return args;
  }

  #argument(): Literal {
    this.#skipSpaces();
    if (/['"]/.test(this.#text.charAt(this.#at))) return this.#quoted();
    const word = this.#accept(keyword);
    if (word !== undefined) return keywords[word.toLowerCase()] ?? null;
    const value = this.#acceptNumber();
    if (value !== undefined && this.#isAtEndOfValue()) return value;
    throw new InvalidCell(`\`${this.#text}\` has an argument that is not a number or a quoted text`);
  }

  #bare(): Literal {
    const word = (this.#accept(bare) ?? "").trim();
    const next = this.#text.charAt(this.#at);
    if (next !== "" && next !== "," && next !== ")") throw this.#unexpected();
    if (word === "") throw new InvalidCell(`a value is missing in \`${this.#text}\``);
    const value = readBare(word);
    if (typeof value === "string") this.bareTexts.push(value);
    return value;
  }

  #accept(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #acceptCharacter(character: string): boolean {
    this.#skipSpaces();
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#acceptCharacter(character)) throw this.#unexpected(`\`${character}\``);
  }

  #skipSpaces(): void {
    this.#accept(spaces);
  }

  get #shown(): string {
    return this.#text.slice(this.#at, this.#at + 40);
  }

  #unexpected(expected?: string): InvalidCell {
    const got = this.#at < this.#text.length ? `\`${this.#shown}\`` : "the end of the cell";
    const what = expected === undefined ? `unexpected ${got}` : `expected ${expected}, got ${got}`;
    return new InvalidCell(what, "put text that contains commas or brackets in quotes");
  }
}

const keywords: Readonly<Record<string, Literal>> = { true: true, false: false, null: null };

/** Functions that are true or false, and take the value first. */
const cellFunctions: ReadonlySet<string> = new Set(
  [...functionTable().values()]
    .filter(({ returns, parameters }) => returns === "boolean" && parameters.length > 0)
    .map(({ name }) => name),
);

export const isCellFunction = (name: string): boolean => cellFunctions.has(name);

/** Returns the test of a call; `between` is an interval. */
export function toCall(written: Call): Test {
  const [from, to] = written.args;
  if (written.name !== "between" || written.negated || written.args.length !== 2) return written;
  if (!isBound(from) || !isBound(to)) return written;
  return { kind: "range", from, fromOpen: false, to, toOpen: false };
}

export const isBound = (value: Literal | undefined): value is number | string =>
  typeof value === "number" || typeof value === "string";

function toInstant(args: readonly Literal[], cell: string): Instant {
  const [text] = args;
  if (args.length === 1 && typeof text === "string" && parseInstant(text) !== undefined)
    return { instant: text };
  throw new InvalidCell(`\`${cell}\` has an invalid date`, "write date('2026-01-31T12:00:00Z')");
}

/** Throws for an interval that contains nothing. */
function assertNotEmpty(range: Range): void {
  const [from, to] = [comparable(range.from), comparable(range.to)];
  if (typeof from !== typeof to || typeof range.from !== typeof range.to)
    throw new InvalidCell("the ends of an interval must both be numbers or both be texts");
  if (from > to || (from === to && (range.fromOpen || range.toOpen)))
    throw new InvalidCell(`the interval \`${testText(range)}\` is empty`, "write the smaller end first");
}

const comparable = (bound: Bound): number | string =>
  typeof bound === "object" ? (parseInstant(bound.instant) ?? 0) : bound;

/** Only quotes and backslashes can be escaped, as in expressions. */
const unquote = (literal: string): string => literal.slice(1, -1).replace(/\\(['"\\])/g, "$1");

function toNumber(written: string): number {
  const value = Number(written);
  if (!Number.isFinite(value)) throw new InvalidCell(`\`${written}\` is too large a number`);
  if (!isExactNumber(written))
    throw new InvalidCell(inexactMessage(written), `write it as text: '${written}'`);
  // There is no negative zero in JSON.
  return value === 0 ? 0 : value;
}

/** Text that is a number in another notation. */
const almostNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d*)?$/;

/** Reads text that is not in quotes. */
function readBare(word: string): Literal {
  const lower = word.toLowerCase();
  if (Object.hasOwn(keywords, lower)) return keywords[lower] ?? null;
  number.lastIndex = 0;
  if (number.exec(word)?.[0] === word) return toNumber(word);
  const reason = reasonToQuote(word);
  if (reason === undefined) return word;
  const asText = `write ${quote(word)} for this text`;
  const interval = intervalOf(word) ?? (word.includes("..") ? "[1..10]" : undefined);
  const hint = interval === undefined ? asText : `write an interval as ${interval}; ${asText}`;
  throw new InvalidCell(`\`${word}\` ${reason}`, hint);
}

/** Returns how a cell says what a text may mean in a column of numbers, as a hint. */
export function numericHint(word: string): string {
  const [, bound] = /^(-?[\d.]+)\s*\+$/.exec(word) ?? [];
  const interval = bound === undefined ? (intervalOf(word) ?? "[5..10]") : undefined;
  const test =
    interval === undefined
      ? `this number or more is \`>= ${bound ?? ""}\``
      : `an interval is \`${interval}\``;
  return `${test}, any value is \`-\`; write ${quote(word)} for this text`;
}

/** Returns the interval that a text names in another notation, such as `5-10` or `between 5 and 10`. */
function intervalOf(word: string): string | undefined {
  const [, from, to] =
    /^(?:(?:between|from)\s+)?(-?\d+(?:\.\d+)?)\s*(?:\.\.\.?|[-–—]|to|and)\s*(-?\d+(?:\.\d+)?)$/i.exec(
      word,
    ) ?? [];
  return from === undefined || to === undefined ? undefined : `[${from}..${to}]`;
}

/** Returns why a text must be in quotes, although it is not a number or a keyword. */
function reasonToQuote(word: string): string | undefined {
  if (almostNumber.test(word)) return "looks like a number";
  if (word.includes("..")) return "looks like an interval";
  if (/^[=+\-@<>!]/.test(word)) return `starts with \`${word.charAt(0)}\``;
  if (/^['"]/.test(word)) return "starts with a quote";
  if (/^[–—]$/.test(word)) return "is a dash that is longer than `-`";
  return /[\p{Cc}\u2028\u2029]/u.test(word) ? "contains a control character" : undefined;
}

/** Whether a text means itself without quotes. */
function isBareText(text: string): boolean {
  if (text === "" || text.trim() !== text || /[,()[\]]/.test(text)) return false;
  return (
    !Object.hasOwn(keywords, text.toLowerCase()) && reasonToQuote(text) === undefined && !isNumeric(text)
  );
}

function isNumeric(text: string): boolean {
  number.lastIndex = 0;
  return number.exec(text)?.[0] === text;
}

/** Writes a cell so that `parseCell` reads the same, and no spreadsheet runs it as a formula. */
export function cellText(cell: Cell | undefined): string {
  if (cell === undefined) return "-";
  const text = cell.tests.map(testText).join(", ");
  if (cell.negated) return `not(${text})`;
  return text.startsWith("-") && !isNumeric(text) ? `in(${text})` : text;
}

function testText(test: Test): string {
  switch (test.kind) {
    case "equals":
      return isInstant(test.value) ? boundText(test.value) : literalText(test.value);
    case "order":
      return `${test.operator} ${boundText(test.bound)}`;
    case "range":
      return `${test.fromOpen ? "(" : "["}${boundText(test.from)}..${boundText(test.to)}${test.toOpen ? ")" : "]"}`;
    case "call":
      return `${test.negated ? "not " : ""}${test.name}(${test.args.map(argumentText).join(", ")})`;
  }
}

const literalText = (value: Literal): string =>
  typeof value === "string" && isBareText(value) ? value : argumentText(value);

const argumentText = (value: Literal): string => (typeof value === "string" ? quote(value) : String(value));

function boundText(bound: Bound): string {
  if (typeof bound === "object") return `date(${quote(bound.instant)})`;
  if (typeof bound === "number") return String(bound);
  date.lastIndex = 0;
  return date.exec(bound)?.[0] === bound ? bound : quote(bound);
}

/** Reads a value that a rule answers with: JSON, text in quotes, or text as it is. */
export function parseValue(text: string): { readonly json: string } | { readonly value: Literal } {
  const trimmed = text.trim();
  if (/^['"]/.test(trimmed)) return { value: parseText(trimmed) };
  if (isStructure(trimmed)) return { json: trimmed };
  const lower = trimmed.toLowerCase();
  if (Object.hasOwn(keywords, lower)) return { value: keywords[lower] ?? null };
  return { value: isNumeric(trimmed) ? toNumber(trimmed) : parseText(trimmed) };
}

/** Whether a value is written as JSON, and not as a template, which starts with two brackets. */
const isStructure = (text: string): boolean => /^(?:\[|\{(?!\{))/.test(text);

/** Reads a text, which is in quotes if it would otherwise be something else. */
export function parseText(text: string): string {
  const trimmed = text.trim();
  if (/^['"]/.test(trimmed)) {
    quoted.lastIndex = 0;
    if (quoted.exec(trimmed)?.[0] === trimmed) return unquote(trimmed);
    throw new InvalidCell(
      `\`${trimmed.slice(0, 40)}\` starts with a quote, but has no closing one at its end`,
    );
  }
  if (/^[=+\-@]/.test(trimmed)) {
    throw new InvalidCell(
      `\`${trimmed.slice(0, 40)}\` starts like a formula`,
      "put text in quotes, and replace a formula by its value",
    );
  }
  return trimmed;
}

/** Writes a text so that `parseText` reads the same. */
export const textCell = (text: string): string =>
  text === "" || text.trim() !== text || /^[=+\-@'"]/.test(text) ? quote(text) : text;

/** Writes a value so that `parseValue` reads the same. `json` is its JSON, for lists and objects. */
export function valueCell(value: Literal): string {
  if (typeof value !== "string") return String(value);
  const isOther = isNumeric(value) || Object.hasOwn(keywords, value.toLowerCase()) || isStructure(value);
  return isOther ? quote(value) : textCell(value);
}
