import type { DecisionError } from "../errors.js";
import { expressionError } from "./expression-error.js";
import type { Token } from "./token.js";
import { tokenize } from "./token.js";

/** A place among the tokens of an expression. */
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

  /** Steps over the next token if it is this word or symbol. */
  accept(value: string): boolean {
    const token = this.next;
    if (token.value !== value || (token.kind !== "word" && token.kind !== "symbol")) return false;
    this.#position++;
    return true;
  }

  expect(value: string): void {
    if (!this.accept(value)) throw this.unexpected(`\`${value}\``);
  }

  unexpected(expected: string): DecisionError {
    const token = this.next;
    if (token.kind === "end") return this.error(token, `the expression ends where ${expected} was expected`);
    const written = this.#text.slice(token.at, token.at + token.length);
    return this.error(token, `expected ${expected}, got \`${written}\``, hintOn(written));
  }

  error(token: Token, message: string, hint?: string): DecisionError {
    return expressionError(this.#text, token.at, message, hint);
  }
}

/** Words of other languages. */
function hintOn(written: string): string | undefined {
  switch (written) {
    case "AND":
    case "OR":
    case "NOT":
    case "IN":
      return `write \`${written.toLowerCase()}\``;
    case ">":
      return "unequal is `!=`";
    case "is":
      return "compare with `==`; ask for a missing value with exists(…)";
    case "[":
      return "an item of a list is `list.0`, or get(list, 0)";
    case "*":
      return "a power is `^`";
    default:
      return undefined;
  }
}
