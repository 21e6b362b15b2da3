import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { Failure, typeName } from "./failure.js";
import type { ParameterType } from "./function-table.js";
import { argumentError, describeType, functionTable, signature } from "./function-table.js";
import { interpret } from "./interpret.js";
import type { CallNode, Comparison, Node } from "./syntax.js";
import { children } from "./syntax.js";

/** A part of an expression that cannot be evaluated, whatever the input is. */
export interface CertainError {
  /** The node, or the comparison of a chain. */
  readonly part: Node | Comparison;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Finds the parts of an expression that cannot be evaluated, whatever the input is. A path may have a value of any
 * type, so only errors that no value avoids are reported.
 */
export function certainErrors(tree: Node): readonly CertainError[] {
  const errors: CertainError[] = [];
  typesOf(tree, (part, message, hint) => errors.push({ part, message, ...(hint !== undefined && { hint }) }));
  return errors;
}

/** Whether an expression that can be evaluated is never true or false. */
export function isNeverBoolean(tree: Node): boolean {
  const possible = typesOf(tree, () => undefined);
  return possible !== none && !overlaps(possible, boolean);
}

/** Returns the result of a condition that reads nothing, such as `'a' == 'b'`, but is not just written as `true` or `false`. */
export function constantResult(tree: Node): boolean | undefined {
  if (tree.kind === "literal" || !isConstant(tree)) return undefined;
  const value = interpret(tree, emptyScope);
  return typeof value === "boolean" ? value : undefined;
}

/** A set of types, as bits. An expression without any type can never be evaluated. */
type Types = number;

const none: Types = 0;
const nothing: Types = 1;
const boolean: Types = 2;
const number: Types = 4;
const text: Types = 8;
const list: Types = 16;
const object: Types = 32;
const anything: Types = 63;

const overlaps = (a: Types, b: Types): boolean => (a & b) !== 0;

type Report = (part: Node | Comparison, message: string, hint?: string) => void;

/** Returns the types that the value of a node can have. Reports each error where it arises, not at its parents. */
function typesOf(node: Node, report: Report): Types {
  const inner = innerTypes(node, report);
  if (inner === none || node.kind === "literal" || !isConstant(node)) return inner;
  const value = interpret(node, emptyScope);
  if (!(value instanceof Failure)) return typeOfValue(value);
  report(node, value.message, hintFor(node));
  return none;
}

const emptyScope: Scope = { context: {}, input: undefined, facts: {}, system: {} };

const isConstant = (node: Node): boolean => node.kind !== "path" && children(node).every(isConstant);

function typeOfValue(value: Json): Types {
  if (value === null) return nothing;
  if (Array.isArray(value)) return list;
  switch (typeof value) {
    case "boolean":
      return boolean;
    case "number":
      return number;
    case "string":
      return text;
    default:
      return object;
  }
}

function innerTypes(node: Node, report: Report): Types {
  const types = (child: Node): Types => typesOf(child, report);
  switch (node.kind) {
    case "literal":
      return typeOfValue(node.value);
    case "path":
      return anything;
    case "list":
      return node.items.map(types).includes(none) ? none : list;
    case "call":
      return callTypes(node, report);
    case "negative":
      return needs(node, "-", [types(node.operand)], { accepted: number, report });
    case "not":
      return needs(node, "not", [types(node.operand)], { accepted: boolean, report });
    case "arithmetic":
      return arithmeticTypes(node, report);
    case "compare":
      return comparisonTypes(node, report);
    case "membership": {
      const [item, within] = [types(node.item), types(node.list)];
      if (item === none || within === none) return none;
      if (overlaps(within, list)) return boolean;
      report(
        node,
        `\`in\` needs a list, got ${describe(within)}`,
        "write `in ('a', 'b')`, or `contains(text, part)`",
      );
      return none;
    }
    case "logic":
      return logicTypes(node, report);
    case "choice": {
      const condition = needs(node, "if", [types(node.condition)], { accepted: boolean, report });
      const chosen = types(node.then) | types(node.otherwise);
      return condition === none ? none : chosen;
    }
  }
}

interface Operands {
  readonly accepted: Types;
  readonly report: Report;
}

/** Returns the accepted types, unless an operand has none of them. */
function needs(
  node: Node,
  operator: string,
  operands: readonly Types[],
  { accepted, report }: Operands,
): Types {
  if (operands.includes(none)) return none;
  const wrong = operands.find((each) => !overlaps(each, accepted));
  if (wrong === undefined) return accepted;
  const needed = accepted === number ? "numbers" : "true or false";
  report(node, `\`${operator}\` needs ${needed}, got ${describe(wrong)}`, hintFor(node));
  return none;
}

/** The operators are `+`, which also joins texts, and those of numbers only. */
function arithmeticTypes(node: Extract<Node, { kind: "arithmetic" }>, report: Report): Types {
  const [left, right] = [typesOf(node.left, report), typesOf(node.right, report)];
  const { operator } = node;
  if (operator !== "+") {
    const result = needs(node, operator === "mod" ? "%" : operator, [left, right], {
      accepted: number,
      report,
    });
    const divides = operator === "/" || operator === "mod";
    if (result === none || !divides || !isZero(node.right)) return result;
    report(node, "a division by 0 has no result", "divide by another number");
    return none;
  }
  if (left === none || right === none) return none;
  const common = left & right & (number | text);
  if (common === none) {
    const message = `\`+\` needs two numbers or two texts, got ${describeBoth(left, right)}`;
    report(node, message, numberHint(node.left, node.right));
  }
  return common;
}

const isZero = (node: Node): boolean => node.kind === "literal" && node.value === 0;

/** Only the first comparison of a chain is evaluated for every input. */
function comparisonTypes(node: Extract<Node, { kind: "compare" }>, report: Report): Types {
  let left = { node: node.first, types: typesOf(node.first, report) };
  let result = boolean;
  for (const [index, comparison] of node.rest.entries()) {
    const right = { node: comparison.operand, types: typesOf(comparison.operand, report) };
    const isKnown = left.types !== none && right.types !== none;
    const isOrdered = /[<>]/.test(comparison.operator);
    const fails = isOrdered && isKnown && !overlaps(left.types & right.types, number | text);
    if (fails) {
      const got = describeBoth(left.types, right.types);
      const message = `\`${comparison.operator}\` needs two numbers or two texts, got ${got}`;
      report(comparison, message, orderHint(left, right));
    }
    if (index === 0 && (fails || !isKnown)) result = none;
    left = right;
  }
  return result;
}

interface Operand {
  readonly node: Node;
  readonly types: Types;
}

function orderHint(left: Operand, right: Operand): string {
  if (left.node.kind === "not") return "`!` applies only to the next operand: write `!(a > b)`";
  if (left.types === boolean || right.types === boolean)
    return "one side is already true or false: use it without the comparison";
  return numberHint(left.node, right.node);
}

/** The hint for operands of different types; most often a number is in quotes. */
function numberHint(...nodes: readonly Node[]): string {
  const quoted = nodes.find(
    (each) => each.kind === "literal" && typeof each.value === "string" && isNumeric(each.value),
  );
  return quoted?.kind === "literal"
    ? `write the number without quotes: ${String(quoted.value)}`
    : "use values of one type; only `==` and `!=` accept different ones";
}

const isNumeric = (written: string): boolean => /^\d+(?:\.\d+)?$/.test(written);

/** Only the first operand is evaluated for every input. */
function logicTypes(node: Extract<Node, { kind: "logic" }>, report: Report): Types {
  let result = boolean;
  for (const [index, operand] of node.operands.entries()) {
    const types = typesOf(operand, report);
    const isBoolean = overlaps(types, boolean);
    if (types !== none && !isBoolean) {
      const message = `one side of \`${node.operator}\` is never true or false`;
      report(operand, message, "repeat the comparison, or use `in`");
    }
    if (index === 0 && !isBoolean) result = none;
  }
  return result;
}

function callTypes(node: CallNode, report: Report): Types {
  const { name, args } = node;
  const entry = functionTable().get(name);
  const given = args.map((arg) => typesOf(arg, report));
  if (entry === undefined || given.includes(none)) return entry === undefined ? anything : none;
  const { parameters, returns } = entry;
  for (const [index, arg] of args.entries()) {
    const parameter = parameters[Math.min(index, parameters.length - 1)];
    const types = given[index] ?? anything;
    if (parameter === undefined) continue;
    const error = isConstant(arg)
      ? argumentError(name, parameter, constantValue(arg))
      : overlaps(types, acceptedTypes(parameter.type))
        ? undefined
        : `\`${name}\` needs ${describeType(parameter.type)}, got ${describe(types)}`;
    if (error === undefined) continue;
    report(node, error, hintFor(node));
    return none;
  }
  const error = relationError(name, given);
  if (error !== undefined) report(node, error, hintFor(node));
  return error === undefined ? returnedTypes[returns] : none;
}

/** Errors of constants were found before, so there is a value. */
function constantValue(node: Node): Json {
  const value = interpret(node, emptyScope);
  return value instanceof Failure ? null : value;
}

const returnedTypes = { boolean, text, number, any: anything } as const;

function acceptedTypes(type: ParameterType): Types {
  switch (type) {
    case "any":
      return anything;
    case "text":
    case "date":
    case "duration":
    case "path":
      return text;
    case "number":
      return number;
    case "list":
    case "polygon":
      return list;
    case "text or list":
      return text | list;
    case "number or list":
      return number | list;
    case "place":
      return object | list;
  }
}

/** Finds arguments that do not go together, of functions that accept several types. */
function relationError(
  name: string,
  [first = anything, second = anything, third = anything]: readonly Types[],
): string | undefined {
  if (name === "between" && !overlaps(first & second & third, number | text))
    return "`between` needs three numbers or three texts";
  if (name === "contains" && first === text && !overlaps(second, text))
    return `\`contains\` needs text to look for in text, got ${describe(second)}`;
  if (name === "get" && !overlaps(second, text | number)) return "`get` needs a text or a number as its key";
  return undefined;
}

/** The hint for an operator that got something else than it needs. */
function hintFor(node: Node): string | undefined {
  if (node.kind === "arithmetic") return numberHint(node.left, node.right);
  if (node.kind === "call") {
    const entry = functionTable().get(node.name);
    return entry && `the function is \`${signature(entry)}\`: ${entry.summary}`;
  }
  return undefined;
}

const samples: readonly (readonly [Types, Json])[] = [
  [nothing, null],
  [boolean, true],
  [number, 0],
  [text, ""],
  [list, []],
  [object, {}],
];

const describe = (types: Types): string =>
  samples
    .filter(([type]) => overlaps(types, type))
    .map(([, sample]) => typeName(sample))
    .join(" or ");

/** An operand of any type is not the reason. */
const describeBoth = (left: Types, right: Types): string =>
  [left, right]
    .filter((each) => each !== anything)
    .map(describe)
    .join(" and ");
