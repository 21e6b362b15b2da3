import { requireBoolean, isMember, operators, literalPattern } from "./compile.js";
import { Failure, fail } from "./failure.js";
import { withArgumentChecks, functionTable } from "./function-table.js";
import { pathGetter } from "./path.js";
import type { Node, Relation } from "./syntax.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/**
 * The value of a tree by walking it, with the operators and functions that filtrex is given. For what runs
 * once: making a program of it takes longer than running it. The tests hold the two to the same answers.
 */
export function walk(tree: Node, scope: Scope): Json | Failure {
  try {
    return valueOf(tree, scope);
  } catch (error) {
    if (error instanceof Failure) return error;
    return new Failure((error as Error).message);
  }
}

function valueOf(node: Node, scope: Scope): Json {
  switch (node.kind) {
    case "literal":
      return node.value;
    case "path":
      return read(node.segments, scope);
    case "list":
      return node.items.map((item) => valueOf(item, scope));
    case "call":
      return call(node.name, node.args, scope);
    case "negative":
      return operators["-"](valueOf(node.operand, scope));
    case "not":
      return !requireBoolean(valueOf(node.operand, scope));
    case "arithmetic":
      return operators[node.operator](valueOf(node.left, scope), valueOf(node.right, scope));
    case "compare":
      return compare(valueOf(node.first, scope), node.rest, scope);
    case "membership":
      return isMember(valueOf(node.item, scope), valueOf(node.list, scope)) !== node.negated;
    case "logic":
      return logic(node.operator, node.operands, scope);
    case "choice":
      return valueOf(requireBoolean(valueOf(node.condition, scope)) ? node.then : node.otherwise, scope);
  }
}

function read(segments: readonly string[], scope: Scope): Json {
  const value = pathGetter(segments)(scope);
  return value === undefined ? fail(missingMessage(segments.join("."))) : value;
}

export const missingMessage = (path: string): string => `\`${path}\` is missing`;

type Comparisons = Extract<Node, { readonly kind: "compare" }>["rest"];

/** Each operand is compared with the one before; the first that does not fit ends it. */
function compare(first: Json, rest: Comparisons, scope: Scope): boolean {
  let left = first;
  for (const { operator, operand } of rest) {
    const right = valueOf(operand, scope);
    if (!holds(operator, left, right)) return false;
    left = right;
  }
  return true;
}

const holds = (operator: Relation, left: Json, right: Json): boolean => operators[operator](left, right);

function logic(operator: "and" | "or", operands: readonly Node[], scope: Scope): boolean {
  const ending = operator === "or";
  return operands.some((operand) => requireBoolean(valueOf(operand, scope)) === ending) === ending;
}

function call(name: string, args: readonly Node[], scope: Scope): Json {
  const [first, second] = args;
  if (name === "matches" && first && second?.kind === "literal" && typeof second.value === "string") {
    return literalPattern(second.value)(valueOf(first, scope));
  }
  const entry = functionTable.get(name);
  if (entry === undefined) throw new Error(`the parser let \`${name}\` through`);
  const values = args.map((arg) => {
    const lenient = entry.acceptsMissing && arg.kind === "path";
    return lenient ? pathGetter(arg.segments)(scope) : valueOf(arg, scope);
  });
  return withArgumentChecks(entry)(...(values as never[]));
}
