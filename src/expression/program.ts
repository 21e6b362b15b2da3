import type { Json } from "../model/json.js";
import { checked } from "./arguments.js";
import { fail } from "./failure.js";
import { functionTable } from "./function-table.js";
import { tooLongToMatch } from "./functions/texts.js";
import { boolean, memberOf } from "./operators.js";
import type { Getter } from "./path.js";
import { pathGetter } from "./path.js";
import { compilePattern } from "./pattern.js";
import type { Literal, Node } from "./syntax.js";

type Callable = (...args: never[]) => Json;

/** An expression as filtrex is given it: its text, and what the names in it stand for. */
export interface Program {
  readonly source: string;
  readonly paths: ReadonlyMap<string, { readonly name: string; readonly get: Getter }>;
  readonly constants: Readonly<Record<string, Json>>;
  readonly functions: Readonly<Record<string, Callable>>;
}

/**
 * Writes a tree so that filtrex's own spellings, precedences and coercions never matter: everything is
 * bracketed, and values have the names `p0` (a path; quoted, it may be missing), `c0` (a constant) and
 * `f0` (a function).
 */
export function writeProgram(tree: Node): Program {
  const names = new Names();
  return {
    source: print(tree, names),
    paths: names.paths,
    constants: names.constants,
    functions: names.functions,
  };
}

class Names {
  readonly paths = new Map<string, { readonly name: string; readonly get: Getter }>();
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

function print(node: Node, program: Names): string {
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
      const test = program.call(memberOf, [inner(node.item), inner(node.list)]);
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
function printLiteral(value: Literal, program: Names): string {
  if (typeof value === "string") return `"${value.replace(/["\\]/g, "\\$&")}"`;
  const text = String(value);
  return /^\d+(?:\.\d+)?$/.test(text) ? text : program.constant(value);
}

function printCall(name: string, args: readonly Node[], program: Names): string {
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
  return program.call(checked(entry), printed);
}

export function literalPattern(source: string): (text: Json) => boolean {
  const pattern = compilePattern(source);
  return (text: Json) => {
    if (typeof text !== "string" || typeof pattern === "string") fail("`matches` needs text");
    return pattern.test(text) ?? fail(tooLongToMatch);
  };
}

/** filtrex would take `[true]` for true; only its own operators need no check. */
function printBoolean(node: Node, program: Names): string {
  const printed = print(node, program);
  return isBoolean(node) ? printed : program.call(boolean, [printed]);
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
