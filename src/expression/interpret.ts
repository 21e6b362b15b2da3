/*
 * A second evaluator besides filtrex, because loading filtrex and compiling a condition takes longer than
 * evaluating it once: without it, the bench row `evaluate, warm` is 6 % slower (28.1 instead of 26.5 ms of
 * CPU time) and `check` 6 %. Both use the same parser, operators and functions; the tests evaluate every
 * expression with both and compare the values.
 */
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { fail, Failure, missingMessage } from "./failure.js";
import { toCallable } from "./function-table.js";
import { isMember, operators, requireBoolean } from "./operators.js";
import { pathGetter } from "./path.js";
import type { CallNode, Comparison, Node, Relation } from "./syntax.js";

/** Evaluates a tree without compiling it. Never throws. */
export function interpret(tree: Node, scope: Scope): Json | Failure {
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
      return call(node, scope);
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

/** Compares each operand with the one before it; stops at the first comparison that is false. */
function compare(first: Json, rest: readonly Comparison[], scope: Scope): boolean {
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

function call(node: CallNode, scope: Scope): Json {
  const { run, acceptsMissing } = toCallable(node);
  const values = node.args.map((arg) =>
    acceptsMissing && arg.kind === "path" ? pathGetter(arg.segments)(scope) : valueOf(arg, scope),
  );
  return run(...values);
}
