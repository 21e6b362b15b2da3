import { compileExpression } from "filtrex";
import { equal, isList } from "./equal.js";
import { expressionError, Failure, fail, typeName } from "./failure.js";
import { withArgumentChecks, functionTable } from "./function-table.js";
import { textTooLongMessage } from "./functions/texts.js";
import { parse } from "./parse.js";
import type { PathGetter } from "./path.js";
import { pathGetter } from "./path.js";
import { compilePattern } from "./pattern.js";
import type { Node, Literal } from "./syntax.js";
import { readsOf } from "./syntax.js";
import { missingMessage, walk } from "./walk.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** An expression ready to run. */
export interface Expression {
  readonly text: string;
  /** The paths it refers to, in the order of their first mention. */
  readonly reads: readonly string[];
  readonly tree: Node;
  /** Its value, or why it has none. Never throws. */
  evaluate(scope: Scope): Json | Failure;
}

/** Checks an expression at once; hands it to filtrex when it runs for the second time. */
export function compile(text: string): Expression {
  const tree = parse(text);
  let run: Run | undefined;
  let runs = 0;
  return {
    text,
    tree,
    reads: readsOf(tree),
    evaluate(scope) {
      if (run !== undefined) return run(scope);
      if (tree.kind !== "path" && runs++ === 0) return walk(tree, scope);
      run = tree.kind === "path" ? readPath(tree.segments) : compileTree(text, tree);
      return run(scope);
    },
  };
}

type Run = (scope: Scope) => Json | Failure;

/** Most inputs are a path alone, which filtrex could only hand back to us. */
function readPath(segments: readonly string[]): Run {
  const get = pathGetter(segments);
  return (scope) => {
    const value = get(scope);
    return value === undefined ? new Failure(missingMessage(segments.join("."))) : value;
  };
}

/** Exported for the tests, which hold it and `walk` to the same answers. */
function compileTree(text: string, tree: Node): Run {
  const { source, constants, functions, paths } = toFiltrexProgram(tree);
  const run = compileWithFiltrex(text, source, {
    constants,
    extraFunctions: functions,
    operators,
    customProp: (symbol: string, _get: unknown, scope: Scope, type: string) => {
      const path = paths.get(symbol);
      const value = path?.get(scope);
      if (value === undefined && type === "unescaped") fail(missingMessage(path?.name ?? symbol));
      return value;
    },
  });
  return (scope) => toValue(run(scope));
}

function compileWithFiltrex(text: string, source: string, options: object): (scope: Scope) => unknown {
  try {
    return compileExpression(source, options) as (scope: Scope) => unknown;
  } catch (error) {
    throw expressionError(text, 0, `the expression cannot be compiled: ${String(error)}`);
  }
}

/** filtrex returns what was thrown, and an Error is truthy: nothing of it may pass for a value. */
function toValue(value: unknown): Json | Failure {
  if (value instanceof Failure) return value;
  if (value instanceof Error) return new Failure(value.message);
  if (value === undefined) return new Failure("the expression has no value");
  return value as Json;
}

type Callable = (...args: never[]) => Json;

/** An expression as filtrex is given it: its text, and what the names in it stand for. */
interface Program {
  readonly source: string;
  readonly paths: ReadonlyMap<string, { readonly name: string; readonly get: PathGetter }>;
  readonly constants: Readonly<Record<string, Json>>;
  readonly functions: Readonly<Record<string, Callable>>;
}

/**
 * Writes a tree so that filtrex's own spellings, precedences and coercions never matter: everything is
 * bracketed, and values have the names `p0` (a path; quoted, it may be missing), `c0` (a constant) and
 * `f0` (a function).
 */
function toFiltrexProgram(tree: Node): Program {
  const names = new SymbolTable();
  return {
    source: print(tree, names),
    paths: names.paths,
    constants: names.constants,
    functions: names.functions,
  };
}

class SymbolTable {
  readonly paths = new Map<string, { readonly name: string; readonly get: PathGetter }>();
  readonly constants: Record<string, Json> = {};
  readonly functions: Record<string, Callable> = {};
  #count = 0;

  constant(value: Json): string {
    const name = `c${this.#count++}`;
    this.constants[name] = value;
    return name;
  }

  path(segments: readonly string[]): string {
    const name = `p${this.#count++}`;
    this.paths.set(name, { name: segments.join("."), get: pathGetter(segments) });
    return name;
  }

  call(run: Callable, args: readonly string[]): string {
    const name = `f${this.#count++}`;
    this.functions[name] = run;
    return `${name}(${args.join(", ")})`;
  }
}

function print(node: Node, program: SymbolTable): string {
  const inner = (child: Node): string => print(child, program);
  switch (node.kind) {
    case "literal":
      return printLiteral(node.value, program);
    case "path":
      return program.path(node.segments);
    case "list":
      return program.call((...items: Json[]) => items, node.items.map(inner));
    case "call":
      return printCall(node.name, node.args, program);
    case "negative":
      return `(- ${inner(node.operand)})`;
    case "not":
      return `(not ${printBoolean(node.operand, program)})`;
    case "arithmetic":
      return `(${inner(node.left)} ${node.operator} ${inner(node.right)})`;
    case "compare":
      return `(${inner(node.first)}${node.rest.map((each) => ` ${each.operator} ${inner(each.operand)}`).join("")})`;
    case "membership": {
      const test = program.call(isMember, [inner(node.item), inner(node.list)]);
      return node.negated ? `(not ${test})` : test;
    }
    case "logic":
      return printBalanced(
        node.operands.map((each) => printBoolean(each, program)),
        node.operator,
      );
    case "choice":
      return `(if ${printBoolean(node.condition, program)} then ${inner(node.then)} else ${inner(node.otherwise)})`;
  }
}

/** As filtrex reads it, where it can; it knows no exponents, and no true, false or null. */
function printLiteral(value: Literal, program: SymbolTable): string {
  if (typeof value === "string") return `"${value.replace(/["\\]/g, "\\$&")}"`;
  const text = String(value);
  return /^\d+(?:\.\d+)?$/.test(text) ? text : program.constant(value);
}

function printCall(name: string, args: readonly Node[], program: SymbolTable): string {
  const [first, second] = args;
  if (name === "matches" && first && second?.kind === "literal" && typeof second.value === "string") {
    return program.call(literalPattern(second.value), [print(first, program)]);
  }
  const entry = functionTable.get(name);
  if (entry === undefined) throw new Error(`the parser let \`${name}\` through`);
  const printed = args.map((arg) => {
    const lenient = entry.acceptsMissing && arg.kind === "path";
    return lenient ? `'${program.path(arg.segments)}'` : print(arg, program);
  });
  return program.call(withArgumentChecks(entry), printed);
}

export function literalPattern(source: string): (text: Json) => boolean {
  const pattern = compilePattern(source);
  return (text: Json) => {
    if (typeof text !== "string" || typeof pattern === "string") fail("`matches` needs text");
    return pattern.test(text) ?? fail(textTooLongMessage);
  };
}

/** filtrex would take `[true]` for true; only its own operators need no check. */
function printBoolean(node: Node, program: SymbolTable): string {
  const printed = print(node, program);
  return isBoolean(node) ? printed : program.call(requireBoolean, [printed]);
}

function isBoolean(node: Node): boolean {
  if (node.kind === "literal") return typeof node.value === "boolean";
  if (node.kind === "call") return functionTable.get(node.name)?.returns === "boolean";
  return (
    node.kind === "compare" || node.kind === "not" || node.kind === "logic" || node.kind === "membership"
  );
}

/** Long chains become a shallow tree: a deep one could exhaust the stack of the JavaScript compiler. */
function printBalanced(parts: readonly string[], operator: string): string {
  if (parts.length === 1) return parts[0] ?? "";
  const half = parts.length >> 1;
  return `(${printBalanced(parts.slice(0, half), operator)} ${operator} ${printBalanced(parts.slice(half), operator)})`;
}

/** The infix operators as filtrex calls them, with our answers for wrong types. */
export const operators = {
  "+": add,
  "-": (a: Json, b?: Json) =>
    b === undefined
      ? 0 - requireNumber("-", a)
      : requireFinite("-", requireNumber("-", a) - requireNumber("-", b)),
  "*": (a: Json, b: Json) => requireFinite("*", requireNumber("*", a) * requireNumber("*", b)),
  "/": (a: Json, b: Json) => requireFinite("/", requireNumber("/", a) / requireNumber("/", b)),
  "^": (a: Json, b: Json) => requireFinite("^", requireNumber("^", a) ** requireNumber("^", b)),
  mod: modulo,
  "==": equal,
  "!=": (a: Json, b: Json) => !equal(a, b),
  "<": (a: Json, b: Json) => (requireOrdered("<", a, b), a as number) < (b as number),
  "<=": (a: Json, b: Json) => (requireOrdered("<=", a, b), a as number) <= (b as number),
  ">": (a: Json, b: Json) => (requireOrdered(">", a, b), a as number) > (b as number),
  ">=": (a: Json, b: Json) => (requireOrdered(">=", a, b), a as number) >= (b as number),
};

export function isMember(item: Json, list: Json): boolean {
  if (!isList(list)) fail(`\`in\` needs a list, got ${typeName(list)}`);
  return list.some((candidate) => equal(candidate, item));
}

/** For `and`, `or`, `not` and `if`: nothing but true and false counts, or an error could pass for a yes. */
export function requireBoolean(value: Json): boolean {
  if (typeof value !== "boolean") fail(`expected true or false, got ${typeName(value)}`);
  return value;
}

function requireOrdered(operator: string, a: Json, b: Json): void {
  if (typeof a === "number" && typeof b === "number") return;
  if (typeof a === "string" && typeof b === "string") return;
  fail(`\`${operator}\` needs two numbers or two texts, got ${typeName(a)} and ${typeName(b)}`);
}

function requireNumber(operator: string, value: Json): number {
  if (typeof value !== "number") fail(`\`${operator}\` needs numbers, got ${typeName(value)}`);
  return value;
}

const maxTextLength = 4_000_000;

function add(a: Json, b: Json): Json {
  if (typeof a === "string" && typeof b === "string") {
    if (a.length + b.length > maxTextLength)
      fail(`\`+\` makes no text of more than ${maxTextLength} characters`);
    return a + b;
  }
  if (typeof a !== "number" || typeof b !== "number") {
    fail(`\`+\` needs two numbers or two texts, got ${typeName(a)} and ${typeName(b)}`);
  }
  return requireFinite("+", a + b);
}

/** The sign of the answer is that of the divisor, so `n mod 7` is a weekday also for negative n. */
function modulo(a: Json, b: Json): number {
  const divisor = requireNumber("%", b);
  const rest = requireFinite("%", requireNumber("%", a) % divisor);
  return rest !== 0 && rest < 0 !== divisor < 0 ? rest + divisor : rest;
}

function requireFinite(operator: string, value: number): number {
  if (!Number.isFinite(value)) fail(`\`${operator}\` gave no number (division by zero, or too large)`);
  return value;
}
