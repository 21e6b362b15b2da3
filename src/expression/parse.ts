import type { DecisionError } from "../errors.js";
import { faultOfCall } from "./call.js";
import { expressionError } from "./expression-error.js";
import { isForbiddenKey } from "./path.js";
import type { Arithmetic, Comparison, Node, Relation } from "./syntax.js";
import { children } from "./syntax.js";
import type { Token } from "./token.js";
import { tokenize } from "./token.js";

const longestExpression = 4096;
const deepestNesting = 64;
/** Far below what the JavaScript compiler bears, so that an expression compiles everywhere or nowhere. */
const deepestTree = 256;

const relations: ReadonlySet<string> = new Set<Relation>(["==", "!=", "<", "<=", ">", ">="]);
const sums: ReadonlySet<string> = new Set<Arithmetic>(["+", "-"]);
const products: ReadonlySet<string> = new Set<Arithmetic>(["*", "/", "mod"]);

/** Turns the text of an expression into a tree, or throws an `expression_invalid` that says where it is wrong. */
export function parse(text: string): Node {
  if (Buffer.byteLength(text) > longestExpression) {
    throw expressionError(text.slice(0, 60), 0, `an expression has at most ${longestExpression} bytes`);
  }
  const tree = new Parser(text).parse();
  if (depthOf(tree) > deepestTree) throw expressionError(text, 0, "too many operators in one row");
  return tree;
}

function depthOf(node: Node): number {
  return 1 + children(node).reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0);
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  parse(): Node {
    if (this.#peek(0).kind === "end") throw this.#error(this.#peek(0), "the expression is empty");
    const node = this.#expression();
    if (this.#peek(0).kind !== "end") throw this.#unexpected("an operator or the end");
    return node;
  }

  #expression(): Node {
    return this.#nested(() => (this.#accept("if") ? this.#choice() : this.#logic("or", () => this.#and())));
  }

  #choice(): Node {
    const condition = this.#expression();
    this.#expect("then");
    const then = this.#expression();
    this.#expect("else");
    return { kind: "choice", condition, then, otherwise: this.#expression() };
  }

  #and(): Node {
    return this.#logic("and", () => this.#not());
  }

  #logic(operator: "and" | "or", operand: () => Node): Node {
    const first = operand();
    const operands = [first];
    while (this.#accept(operator)) operands.push(operand());
    return operands.length === 1 ? first : { kind: "logic", operator, operands };
  }

  /** `not` takes a whole comparison, as in Python and SQL; `!` only the operand next to it, as in C. */
  #not(): Node {
    if (this.#next.kind === "word" && this.#next.value === "not") {
      this.#advance();
      return this.#nested(() => ({ kind: "not", operand: this.#not() }));
    }
    return this.#comparison();
  }

  #comparison(): Node {
    const first = this.#sum();
    if (this.#accept("~=")) return this.#call("matches", [first, this.#sum()], this.#previous);
    const negated = this.#next.value === "not" && this.#peek(1).value === "in";
    if (negated) this.#advance();
    if (this.#accept("in")) return { kind: "membership", negated, item: first, list: this.#memberList() };

    const rest: Comparison[] = [];
    while (this.#next.kind === "symbol" && relations.has(this.#next.value)) {
      const operator = this.#advance().value as Relation;
      rest.push({ operator, operand: this.#sum() });
    }
    return rest.length === 0 ? first : { kind: "compare", first, rest };
  }

  /** After `in`, brackets around a single value still make a list: `x in ('a')`. */
  #memberList(): Node {
    const open = this.#next;
    const node = this.#sum();
    if (node.kind === "literal" && open.value !== "(") {
      throw this.#error(open, "`in` needs a list", "write `in ('a', 'b')`, or `contains(text, part)`");
    }
    return node.kind === "literal" ? { kind: "list", items: [node] } : node;
  }

  #sum(): Node {
    return this.#arithmetic(sums, () => this.#arithmetic(products, () => this.#unary()));
  }

  #arithmetic(operators: ReadonlySet<string>, operand: () => Node): Node {
    let left = operand();
    while (this.#next.kind !== "text" && operators.has(this.#next.value)) {
      const operator = this.#advance().value as Arithmetic;
      left = { kind: "arithmetic", operator, left, right: operand() };
    }
    return left;
  }

  #unary(): Node {
    if (this.#accept("!")) return this.#nested(() => ({ kind: "not", operand: this.#unary() }));
    if (this.#accept("-")) return this.#nested(() => negative(this.#unary()));
    const base = this.#primary();
    if (!this.#accept("^")) return base;
    return this.#nested(() => ({ kind: "arithmetic", operator: "^", left: base, right: this.#unary() }));
  }

  #primary(): Node {
    const token = this.#advance();
    switch (token.kind) {
      case "number":
        return { kind: "literal", value: Number(token.value) };
      case "text":
        return { kind: "literal", value: token.value };
      case "path":
        return this.#next.value === "(" && this.#next.kind === "symbol"
          ? this.#arguments(token)
          : this.#path(token);
      case "word":
        if (token.value === "true" || token.value === "false")
          return { kind: "literal", value: token.value === "true" };
        if (token.value === "null") return { kind: "literal", value: null };
        break;
      case "symbol":
        if (token.value === "(") return this.#brackets(")");
        if (token.value === "[") return { kind: "list", items: this.#items("]") };
        break;
      case "end":
        break;
    }
    this.#position--;
    throw this.#unexpected("a value");
  }

  #path(token: Token): Node {
    const segments = token.value.split(".");
    const bad = segments.find(isForbiddenKey);
    if (bad !== undefined) throw this.#error(token, `\`${bad}\` is not a key that can be read`);
    return { kind: "path", segments };
  }

  #arguments(name: Token): Node {
    this.#expect("(");
    return this.#call(name.value, this.#items(")"), name);
  }

  #call(name: string, args: readonly Node[], token: Token): Node {
    const fault = faultOfCall(name, args);
    if (fault !== undefined) throw this.#error(token, fault.message, fault.hint);
    return { kind: "call", name, args };
  }

  #brackets(close: string): Node {
    const items = this.#items(close);
    const [only] = items;
    if (only === undefined) throw this.#error(this.#previous, "these brackets are empty");
    return items.length === 1 ? only : { kind: "list", items };
  }

  #items(close: string): readonly Node[] {
    const items: Node[] = [];
    if (this.#accept(close)) return items;
    do items.push(this.#expression());
    while (this.#accept(","));
    this.#expect(close);
    return items;
  }

  #nested(read: () => Node): Node {
    if (++this.#depth > deepestNesting) {
      throw this.#error(this.#next, `an expression is nested at most ${deepestNesting} deep`);
    }
    const node = read();
    this.#depth--;
    return node;
  }

  get #next(): Token {
    return this.#peek(0);
  }

  get #previous(): Token {
    return this.#peek(-1);
  }

  #peek(distance: number): Token {
    return (
      this.#tokens[this.#position + distance] ?? { kind: "end", value: "", at: this.#text.length, length: 0 }
    );
  }

  #advance(): Token {
    const token = this.#next;
    this.#position++;
    return token;
  }

  #accept(value: string): boolean {
    const { kind } = this.#next;
    if (this.#next.value !== value || (kind !== "word" && kind !== "symbol")) return false;
    this.#position++;
    return true;
  }

  #expect(value: string): void {
    if (!this.#accept(value)) throw this.#unexpected(`\`${value}\``);
  }

  #unexpected(expected: string): DecisionError {
    const token = this.#next;
    if (token.kind === "end") return this.#error(token, `the expression ends where ${expected} was expected`);
    const written = this.#text.slice(token.at, token.at + token.length);
    return this.#error(token, `expected ${expected}, got \`${written}\``);
  }

  #error(token: Token, message: string, hint?: string): DecisionError {
    return expressionError(this.#text, token.at, message, hint);
  }
}

function negative(operand: Node): Node {
  if (operand.kind === "literal" && typeof operand.value === "number")
    return { kind: "literal", value: -operand.value };
  return { kind: "negative", operand };
}
