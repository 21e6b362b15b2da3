import { Cursor } from "./tokens.js";
import { expressionError } from "./failure.js";
import { functionTable, signature } from "./function-table.js";
import { isForbiddenKey } from "./path.js";
import { compilePattern } from "./pattern.js";
import type { Arithmetic, Comparison, Node, Relation } from "./syntax.js";
import { children } from "./syntax.js";
import type { Token } from "./tokens.js";
import { isExactNumber } from "../digest/parse-json.js";
import { didYouMean } from "../text.js";

const maxExpressionBytes = 4096;
const maxNesting = 64;
/** Far below the limits of JavaScript engines, so an expression compiles on every machine or on none. */
const maxTreeDepth = 256;

const relations: ReadonlySet<string> = new Set<Relation>(["==", "!=", "<", "<=", ">", ">="]);
const sums: ReadonlySet<string> = new Set<Arithmetic>(["+", "-"]);
const products: ReadonlySet<string> = new Set<Arithmetic>(["*", "/", "mod"]);

/** The positions of nodes and of the comparisons in a chain, where messages about them point to. */
export type NodePositions = Map<Node | Comparison, number>;

/** Parses an expression. Throws `expression_invalid` with the position of the error. Adds to `positions`, if given. */
export function parse(text: string, positions?: NodePositions): Node {
  if (Buffer.byteLength(text) > maxExpressionBytes) {
    throw expressionError(text.slice(0, 60), 0, `the expression is longer than ${maxExpressionBytes} bytes`);
  }
  const tree = new Parser(text, positions).parse();
  if (depthOf(tree) > maxTreeDepth) throw expressionError(text, 0, "too many chained operators");
  return tree;
}

function depthOf(node: Node): number {
  return 1 + children(node).reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0);
}

class Parser {
  readonly #cursor: Cursor;
  readonly #positions: NodePositions | undefined;
  #depth = 0;

  constructor(text: string, positions: NodePositions | undefined) {
    this.#cursor = new Cursor(text);
    this.#positions = positions;
  }

  #placed<Part extends Node | Comparison>(part: Part, { at }: Token): Part {
    this.#positions?.set(part, at);
    return part;
  }

  parse(): Node {
    const first = this.#cursor.peek(0);
    if (first.kind === "end") throw this.#cursor.error(first, "the expression is empty");
    const node = this.#expression();
    const next = this.#cursor.peek(0);
    if (next.kind === "end") return node;
    const named = next.kind === "path" ? functionNamed(next.value) : undefined;
    const hint = named === undefined ? undefined : `\`${named}\` is a function: write \`${named}(…, …)\``;
    throw this.#cursor.unexpected("an operator or the end", hint);
  }

  #expression(): Node {
    return this.#nested(() =>
      this.#cursor.accept("if") ? this.#choice() : this.#logic("or", () => this.#and()),
    );
  }

  #choice(): Node {
    const start = this.#cursor.previous;
    const condition = this.#expression();
    this.#cursor.expect("then");
    const then = this.#expression();
    this.#cursor.expect("else");
    return this.#placed({ kind: "choice", condition, then, otherwise: this.#expression() }, start);
  }

  #and(): Node {
    return this.#logic("and", () => this.#not());
  }

  #logic(operator: "and" | "or", operand: () => Node): Node {
    const start = this.#cursor.next;
    const first = operand();
    const operands = [first];
    while (this.#cursor.accept(operator)) operands.push(operand());
    return operands.length === 1 ? first : this.#placed({ kind: "logic", operator, operands }, start);
  }

  /** `not` applies to a whole comparison, as in Python and SQL; `!` only to the next operand, as in C. */
  #not(): Node {
    if (isWord(this.#cursor.next, "not")) {
      const start = this.#cursor.advance();
      return this.#nested(() => this.#placed({ kind: "not", operand: this.#not() }, start));
    }
    return this.#comparison();
  }

  #comparison(): Node {
    const first = this.#sum();
    const operator = this.#cursor.next;
    if (this.#cursor.accept("~=")) {
      const call = this.#call("matches", [first, this.#sum()], this.#cursor.previous);
      return this.#placed(call, operator);
    }
    const negated = isWord(this.#cursor.next, "not") && isWord(this.#cursor.peek(1), "in");
    if (negated) this.#cursor.advance();
    if (this.#cursor.accept("in")) {
      return this.#placed({ kind: "membership", negated, item: first, list: this.#memberList() }, operator);
    }
    const rest: Comparison[] = [];
    while (this.#cursor.next.kind === "symbol" && relations.has(this.#cursor.next.value)) {
      const token = this.#cursor.advance();
      rest.push(this.#placed({ operator: token.value as Relation, operand: this.#sum() }, token));
    }
    return rest.length === 0 ? first : this.#placed({ kind: "compare", first, rest }, operator);
  }

  /** After `in`, brackets around a single value still make a list: `x in ('a')`. */
  #memberList(): Node {
    const open = this.#cursor.next;
    const node = this.#sum();
    const bracketed = open.kind === "symbol" && open.value === "(";
    if (node.kind === "literal" && !bracketed) {
      throw this.#cursor.error(open, "`in` needs a list", "write `in ('a', 'b')`, or `contains(text, part)`");
    }
    return node.kind === "literal" ? { kind: "list", items: [node] } : node;
  }

  #sum(): Node {
    return this.#arithmetic(sums, () => this.#arithmetic(products, () => this.#unary()));
  }

  #arithmetic(operators: ReadonlySet<string>, operand: () => Node): Node {
    let left = operand();
    while (this.#cursor.next.kind !== "text" && operators.has(this.#cursor.next.value)) {
      const token = this.#cursor.advance();
      const operator = token.value as Arithmetic;
      left = this.#placed({ kind: "arithmetic", operator, left, right: operand() }, token);
    }
    return left;
  }

  #unary(): Node {
    const start = this.#cursor.next;
    if (this.#cursor.accept("!"))
      return this.#nested(() => this.#placed({ kind: "not", operand: this.#unary() }, start));
    if (this.#cursor.accept("-")) return this.#nested(() => this.#placed(negative(this.#unary()), start));
    const base = this.#primary();
    const power = this.#cursor.next;
    if (!this.#cursor.accept("^")) return base;
    return this.#nested(() =>
      this.#placed({ kind: "arithmetic", operator: "^", left: base, right: this.#unary() }, power),
    );
  }

  #primary(): Node {
    const token = this.#cursor.next;
    const node = this.#value();
    // Brackets do not move what they enclose.
    if (this.#positions?.has(node) === false) this.#placed(node, token);
    return node;
  }

  #value(): Node {
    const token = this.#cursor.advance();
    switch (token.kind) {
      case "number":
        return numberLiteral(token);
      case "text":
        return { kind: "literal", value: token.value };
      case "path":
        return this.#cursor.next.value === "(" && this.#cursor.next.kind === "symbol"
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
    this.#cursor.back();
    throw this.#cursor.unexpected("a value");
  }

  #path(token: Token): Node {
    const segments = token.value.split(".");
    const forbidden = segments.find(isForbiddenKey);
    if (forbidden !== undefined) throw this.#cursor.error(token, `the key \`${forbidden}\` cannot be read`);
    return { kind: "path", segments };
  }

  #arguments(name: Token): Node {
    this.#cursor.expect("(");
    return this.#call(name.value, this.#items(")"), name);
  }

  #call(name: string, args: readonly Node[], token: Token): Node {
    const diagnostic = checkCall(name, args);
    if (diagnostic !== undefined) throw this.#cursor.error(token, diagnostic.message, diagnostic.hint);
    const [, source] = args;
    if (name !== "matches" || source?.kind !== "literal" || typeof source.value !== "string")
      return { kind: "call", name, args };
    const pattern = compilePattern(source.value);
    if (typeof pattern === "string") throw this.#cursor.error(token, `invalid pattern: ${pattern}`);
    return { kind: "call", name, args, pattern };
  }

  #brackets(close: string): Node {
    const items = this.#items(close);
    const [only] = items;
    if (only === undefined) throw this.#cursor.error(this.#cursor.previous, "the brackets are empty");
    return items.length === 1 ? only : { kind: "list", items };
  }

  #items(close: string): readonly Node[] {
    const items: Node[] = [];
    if (this.#cursor.accept(close)) return items;
    do items.push(this.#expression());
    while (this.#cursor.accept(","));
    this.#cursor.expect(close);
    return items;
  }

  #nested(read: () => Node): Node {
    if (++this.#depth > maxNesting) {
      throw this.#cursor.error(
        this.#cursor.next,
        `the expression is nested deeper than ${maxNesting} levels`,
      );
    }
    const node = read();
    this.#depth--;
    return node;
  }
}

const isWord = (token: Token, word: string): boolean => token.kind === "word" && token.value === word;

/** Recorded definitions may contain inexact integers, so they are not refused here but by the checks of definitions. */
function numberLiteral({ value: written, at }: Token): Node {
  const value = Number(written);
  return isExactNumber(written)
    ? { kind: "literal", value }
    : { kind: "literal", value, inexact: { written, at } };
}

function negative(operand: Node): Node {
  if (operand.kind === "literal" && typeof operand.value === "number")
    return { ...operand, value: 0 - operand.value };
  return { kind: "negative", operand };
}

interface CallDiagnostic {
  readonly message: string;
  readonly hint?: string;
}

/** Checks a call before it is evaluated: the name, the number of arguments, and literal keys. */
function checkCall(name: string, args: readonly Node[]): CallDiagnostic | undefined {
  const entry = functionTable().get(name);
  if (entry === undefined) {
    const hint =
      aliasHint(name) ??
      methodHint(name, args) ??
      didYouMean(name, functionTable().keys()) ??
      "see `agent-33 help expressions`";
    return { message: `there is no function \`${name}\``, hint };
  }
  const least = entry.parameters.filter((parameter) => !parameter.optional).length;
  const most = entry.parameters.at(-1)?.rest ? Infinity : entry.parameters.length;
  if (args.length < least || args.length > most) {
    return { message: `\`${signature(entry)}\` got ${args.length} argument${args.length === 1 ? "" : "s"}` };
  }
  const [, second] = args;
  if (name !== "get" || second?.kind !== "literal" || typeof second.value !== "string") return undefined;
  return isForbiddenKey(second.value) ? { message: `the key \`${second.value}\` cannot be read` } : undefined;
}

const aliasHint = (name: string): string | undefined =>
  Object.hasOwn(functionAliases, name) ? functionAliases[name] : undefined;

/** `order.id.startsWith('x')` is the call of a method; functions receive the value as their first argument. */
function methodHint(name: string, args: readonly Node[]): string | undefined {
  const dot = name.lastIndexOf(".");
  const meant = functionNamed(name.slice(dot + 1));
  if (dot === -1 || meant === undefined) return undefined;
  return `write \`${meant}(${name.slice(0, dot)}${args.length === 0 ? "" : ", …"})\``;
}

/** Returns the name of a function, also by its name in another language. */
const functionNamed = (name: string): string | undefined =>
  functionTable().has(name) ? name : /^did you mean `(\w+)`/.exec(aliasHint(name) ?? "")?.[1];

/** Names of functions in other languages, with the hint for each. */
const functionAliases: Readonly<Record<string, string>> = {
  len: "did you mean `length`?",
  size: "did you mean `length`?",
  includes: "did you mean `contains`?",
  now: "the time is `system.request_time`",
  today: "the time is `system.request_time`",
  isEmpty: "did you mean `empty`?",
  startsWith: "did you mean `starts_with`?",
  endsWith: "did you mean `ends_with`?",
  toLowerCase: "did you mean `lower`?",
  toUpperCase: "did you mean `upper`?",
  mean: "did you mean `average`?",
  avg: "did you mean `average`?",
  standard_deviation: "did you mean `stddev`?",
  pow: "did you mean `power`, or `a ^ b`?",
  ln: "did you mean `log`?",
  trunc: "did you mean `truncate`?",
  count: "did you mean `length`?",
  hour_of_day: "did you mean `hour`?",
  day_of_month: "did you mean `day`?",
};
