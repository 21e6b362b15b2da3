import { findJsonFault } from "./json-fault.js";

/** JSON text that is malformed, or that other parsers could read as another value. */
export class InvalidJson extends Error {
  readonly hint: string | undefined;
  /** The value that JSON.parse returns; undefined: the text is malformed. */
  readonly value: unknown;

  constructor(message: string, { hint, value }: { readonly hint?: string; readonly value?: unknown } = {}) {
    super(message);
    this.hint = hint;
    this.value = value;
  }
}

export interface JsonLimits {
  /** Deeper values could exhaust the stack of a recursive function. */
  readonly maxDepth?: number;
  /** Which spellings of integers are accepted; absent: those that a number represents exactly. */
  readonly isAccepted?: (literal: string) => boolean;
}

/**
 * Parses JSON from outside. Throws `InvalidJson` where JSON.parse would silently change the document: duplicate keys,
 * integers that a number cannot represent exactly, and numbers that are too large.
 */
export function parseJson(
  text: string,
  { maxDepth = 1000, isAccepted = isExactNumber }: JsonLimits = {},
): unknown {
  const value = parseAny(text);
  const keys = countKeys(value, maxDepth);
  if (keys === undefined) throw new InvalidJson(`it is nested deeper than ${maxDepth} levels`, { value });
  // Most documents have no colon in their texts, and no long numbers, and need no scan.
  if (keys === countColons(text) && !mayBeInexact(text)) return value;
  let names = 0;
  scan(text, {
    onName: () => names++,
    onNumber: (literal) => assertNumber(literal, isAccepted(literal), value),
  });
  if (keys !== names) {
    throw new InvalidJson("an object has a duplicate key", { hint: "remove one of the two", value });
  }
  return value;
}

/** Parses JSON from outside, with the exact text of every integer that a number cannot represent exactly. */
export function parseJsonKeepingIntegers(text: string): {
  readonly value: unknown;
  /** The number of such integers. */
  readonly asText: number;
} {
  const value = parseAny(text);
  if (!mayBeInexact(text)) return { value, asText: 0 };
  let quoted = "";
  let from = 0;
  let asText = 0;
  scan(text, {
    onNumber(literal, at) {
      if (isExactNumber(literal)) return;
      quoted += `${text.slice(from, at)}"${literal}"`;
      from = at + literal.length;
      asText++;
    },
  });
  return asText === 0 ? { value, asText } : { value: JSON.parse(quoted + text.slice(from)), asText };
}

/** Whether a double has exactly the value of an integer literal. Other numbers are rounded by design. */
export function isExactNumber(literal: string): boolean {
  return !/^-?\d{16,}$/.test(literal) || isExactInteger(literal);
}

/**
 * Whether an integer literal is exact, or spelt as JavaScript spells a number: JSON that this tool wrote has the
 * shortest spelling of 2^60, which is not its exact value.
 */
export const isOwnSpelling = (literal: string): boolean =>
  isExactNumber(literal) || String(Number(literal)) === literal;

function isExactInteger(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && BigInt(literal) === BigInt(number);
}

export const inexactMessage = (literal: string): string =>
  `${displayLiteral(literal)} is an integer that a number cannot represent exactly`;

export const tooLargeMessage = (literal: string): string =>
  `${displayLiteral(literal)} is too large a number`;

export const inexactHint = (literal: string): string => `write it as a string: "${shorten(literal)}"`;

const displayLiteral = (literal: string): string => `\`${shorten(literal)}\``;

const maxShownLength = 40;

const shorten = (literal: string): string =>
  literal.length > maxShownLength ? `${literal.slice(0, maxShownLength)}…` : literal;

function assertNumber(literal: string, isAccepted: boolean, value: unknown): void {
  if (!isAccepted) {
    throw new InvalidJson(inexactMessage(literal), { hint: inexactHint(literal), value });
  }
  if (!Number.isFinite(Number(literal))) {
    throw new InvalidJson(tooLargeMessage(literal), {
      hint: "the largest number is about 1.8e308",
      value,
    });
  }
}

function parseAny(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const fault = findJsonFault(text);
    if (fault === undefined) throw new InvalidJson((error as Error).message);
    const { message, hint, offset } = fault;
    throw new InvalidJson(`${message} (${placeIn(text, offset)})`, hint === undefined ? {} : { hint });
  }
}

/** Names the place of a character; of a text on one line only the column. */
function placeIn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  const column = `column ${(lines.at(-1) ?? "").length + 1}`;
  return text.trimEnd().includes("\n") ? `line ${lines.length}, ${column}` : column;
}

/** Without 16 digits in a row, an integer is exact; without 3 digits in the exponent, a number is finite. */
const mayBeInexact = (text: string): boolean => /\d{16}|\d[eE]\+?\d{3}/.test(text);

/** Counts the keys of all objects; undefined: the value is nested too deeply. */
function countKeys(value: unknown, levels: number): number | undefined {
  if (typeof value !== "object" || value === null) return 0;
  if (levels === 0) return undefined;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const each of value) {
      const inner = countKeys(each, levels - 1);
      if (inner === undefined) return undefined;
      keys += inner;
    }
    return keys;
  }
  for (const key in value) {
    const inner = countKeys((value as Record<string, unknown>)[key], levels - 1);
    if (inner === undefined) return undefined;
    keys += 1 + inner;
  }
  return keys;
}

function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) count++;
  return count;
}

interface Listener {
  readonly onName?: () => void;
  readonly onNumber: (literal: string, at: number) => void;
}

const numberLiteral = /-?\d[\d.eE+-]*/y;

/** Reports the keys and numbers of well-formed JSON text. */
function scan(text: string, { onName, onNumber }: Listener): void {
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfText(text, at);
    else if (character === ":") onName?.();
    else if (character === "-" || (character >= "0" && character <= "9")) {
      numberLiteral.lastIndex = at;
      const [literal = character] = numberLiteral.exec(text) ?? [];
      onNumber(literal, at);
      at += literal.length - 1;
    }
  }
}

/** Returns the position of the quote that ends the text that starts at a quote. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
