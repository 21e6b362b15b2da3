import type { Segments } from "../expression/column-path.js";
import { isSamePath, pathExpression } from "../expression/column-path.js";
import { parse } from "../expression/parse.js";
import { quote } from "../expression/syntax.js";
import type { Literal, Node, Relation } from "../expression/syntax.js";
import { conjunctsOf, segmentsOf } from "../expression/syntax.js";
import { expressionsWithin } from "../expression/template.js";
import { tokenize } from "../expression/tokens.js";
import type { Bound, Cell, Instant, Test } from "./cell.js";
import { equals, InvalidCell, isBound, isCellFunction, isInstant, toCall, toCell } from "./cell.js";

/** One condition of a rule: a column and its cell. */
export interface ColumnCell {
  readonly path: Segments;
  readonly cell: Cell;
}

/** Writes the condition of a rule, its cells in the order of the columns. */
export function conditionText(cells: readonly ColumnCell[]): string {
  if (cells.length === 0) return "true";
  const isAlone = cells.length === 1;
  return cells.map(({ path, cell }) => cellCondition(pathExpression(path), cell, isAlone)).join(" and ");
}

function cellCondition(path: string, { negated, tests }: Cell, isAlone: boolean): string {
  const alternatives = alternativesOf(path, tests, negated);
  if (!negated)
    return alternatives.length > 1 && !isAlone ? `(${alternatives.join(" or ")})` : alternatives.join(" or ");
  const [only = ""] = alternatives;
  if (alternatives.length > 1) return `not (${alternatives.join(" or ")})`;
  // The equality was written as its opposite.
  return tests.every(isLiteralTest) ? only : `not (${only})`;
}

const isLiteralTest = (test: Test): test is Extract<Test, { kind: "equals" }> & { readonly value: Literal } =>
  test.kind === "equals" && !isInstant(test.value);

/** Writes each test, and the equalities as one list. */
function alternativesOf(path: string, tests: readonly Test[], negated: boolean): readonly string[] {
  const literals = tests.filter(isLiteralTest).map(({ value }) => value);
  const opposite = negated && literals.length === tests.length;
  const [first] = literals;
  let isListed = false;
  return tests.flatMap((test): readonly string[] => {
    if (!isLiteralTest(test)) return [testCondition(path, test, tests.length > 1)];
    if (isListed) return [];
    isListed = true;
    return literals.length === 1
      ? [`${path} ${opposite ? "!=" : "=="} ${literalText(first ?? null)}`]
      : [`${path} ${opposite ? "not in" : "in"} (${literals.map(literalText).join(", ")})`];
  });
}

function testCondition(path: string, test: Test, isPart: boolean): string {
  switch (test.kind) {
    case "equals":
      return isInstant(test.value)
        ? comparison(path, "==", test.value)
        : `${path} == ${literalText(test.value)}`;
    case "order":
      return comparison(path, test.operator, test.bound);
    case "range": {
      const low = comparison(path, test.fromOpen ? ">" : ">=", test.from);
      const high = comparison(path, test.toOpen ? "<" : "<=", test.to);
      return isPart ? `(${low} and ${high})` : `${low} and ${high}`;
    }
    case "call": {
      const args = [path, ...test.args.map(literalText)];
      return `${test.negated ? "not " : ""}${test.name}(${args.join(", ")})`;
    }
  }
}

const comparison = (path: string, operator: string, bound: Bound): string =>
  typeof bound === "object"
    ? `date(${path}) ${operator} date(${quote(bound.instant)})`
    : `${path} ${operator} ${literalText(bound)}`;

const literalText = (value: Literal): string => (typeof value === "string" ? quote(value) : String(value));

/** The cells of a condition, in the order in which it tests them. */
interface ConditionCells {
  readonly cells: readonly ColumnCell[];
  /** The parts that cannot be written as cells, as written. */
  readonly rest: readonly string[];
  /** Whether the cells test the same values in another order than the condition. */
  readonly isReordered: boolean;
}

interface SplitOptions {
  /** Whether `flag` is read as `flag == true`, which differs for a value that is neither true nor false. */
  readonly readFlags: boolean;
}

/** Splits a condition into cells, one for each path. Throws if it does not compile. */
export function splitCondition(condition: string, options: SplitOptions): ConditionCells {
  let found: Joined = { cells: [], isReordered: false };
  const rest: string[] = [];
  for (const part of partsOf(condition)) {
    const conjuncts = conjunctsOf(parse(part)).filter((node) => !isTrue(node));
    const joined = addCells(
      found,
      conjuncts.map((node) => readCell(node, options)),
    );
    if (joined === undefined) rest.push(part);
    else found = joined;
  }
  return { ...found, rest };
}

type Joined = Omit<ConditionCells, "rest">;

const isTrue = (node: Node): boolean => node.kind === "literal" && node.value === true;

/** Returns the operands of the outermost `and` as written, or the condition itself if there is none. */
function partsOf(condition: string): readonly string[] {
  const [{ text } = { text: condition }] = expressionsWithin(condition, "expression");
  const tree = parse(text);
  if (tree.kind !== "logic" || tree.operator !== "and") return [text];
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  for (const { kind, value, at, length } of tokenize(text)) {
    if (kind === "symbol" && (value === "(" || value === "[")) depth++;
    if (kind === "symbol" && (value === ")" || value === "]")) depth--;
    const isEnd = kind === "end";
    if (!isEnd && (depth > 0 || kind !== "word" || value !== "and")) continue;
    parts.push(text.slice(from, at).trim());
    from = at + length;
  }
  return parts;
}

/** Adds cells to those of the other columns; two bounds on one path become an interval. */
function addCells(
  { cells, isReordered: wasReordered }: Joined,
  added: readonly (ColumnCell | undefined)[],
): Joined | undefined {
  const all = [...cells];
  let isReordered = wasReordered;
  for (const each of added) {
    if (each === undefined) return undefined;
    const index = all.findIndex(({ path }) => isSamePath(path, each.path));
    const earlier = all[index];
    if (earlier === undefined) {
      all.push(each);
      continue;
    }
    const cell = toInterval(earlier.cell, each.cell);
    if (cell === undefined) return undefined;
    isReordered ||= index < all.length - 1;
    all[index] = { ...earlier, cell };
  }
  return { cells: all, isReordered };
}

/** Returns the interval between two bounds, such as `> 1` and `<= 5`. */
function toInterval(one: Cell, other: Cell): Cell | undefined {
  const [a, b] = [orderOf(one), orderOf(other)];
  if (a === undefined || b === undefined) return undefined;
  const low = [a, b].find(({ operator }) => operator.startsWith(">"));
  const high = [a, b].find(({ operator }) => operator.startsWith("<"));
  return low && high && rangeCell(low.bound, low.operator, high.bound, high.operator);
}

function orderOf({ negated, tests: [test, ...others] }: Cell): OrderTest | undefined {
  return !negated && others.length === 0 && test?.kind === "order" ? test : undefined;
}

type OrderTest = Extract<Test, { kind: "order" }>;

function rangeCell(from: Bound, low: string, to: Bound, high: string): Cell | undefined {
  return cellOf([{ kind: "range", from, fromOpen: low === ">", to, toOpen: high === "<" }]);
}

/** Returns a cell; undefined if `parseCell` would not read its text as the same condition. */
function cellOf(tests: readonly Test[], negated = false): Cell | undefined {
  try {
    const cell = toCell(tests, negated);
    const isSameOrder = tests.every((test, index) => test === cell.tests[index]);
    return isSameOrder || haveOneType(tests) ? cell : undefined;
  } catch (error) {
    if (error instanceof InvalidCell) return undefined;
    throw error;
  }
}

/** Whether the order of the tests does not matter: a value that one cannot be compared with, none can. */
function haveOneType(tests: readonly Test[]): boolean {
  const types = tests.map((test) => {
    switch (test.kind) {
      case "equals":
        return typeof test.value;
      case "order":
        return typeof test.bound;
      case "range":
        return typeof test.from;
      case "call":
        return undefined;
    }
  });
  return types.every((type) => type !== undefined && type !== "object" && type === types[0]);
}

/** Reads a part of a condition that tests one path. */
function readCell(node: Node, { readFlags }: SplitOptions): ColumnCell | undefined {
  const negated = node.kind === "not";
  const flag = readFlags ? pathOf(negated ? node.operand : node) : undefined;
  if (flag !== undefined) return { path: flag, cell: toCell([equals(!negated)]) };
  return readTests(node);
}

function readTests(node: Node): ColumnCell | undefined {
  switch (node.kind) {
    case "compare":
      return node.rest.length === 1 ? readComparison(node) : readChain(node);
    case "membership":
      return readMembership(node);
    case "call":
      return readCall(node);
    case "not": {
      const operand = readTests(node.operand);
      const cell = operand && negate(operand.cell);
      return operand && cell && { path: operand.path, cell };
    }
    case "logic":
      return node.operator === "or" ? readAlternatives(node.operands) : readInterval(node.operands);
    case "literal":
    case "path":
    case "list":
    case "negative":
    case "arithmetic":
    case "choice":
      return undefined;
  }
}

function negate({ negated, tests }: Cell): Cell | undefined {
  const [only, ...others] = tests;
  if (!negated && others.length === 0 && only?.kind === "call")
    return toCell([{ ...only, negated: !only.negated }]);
  return { negated: !negated, tests };
}

/** Returns the path that a node reads, if `pathExpression` writes it in the same way. */
function pathOf(node: Node): Segments | undefined {
  const path = segmentsOf(node);
  if (path === undefined || node.kind === "path") return path;
  return JSON.stringify(parse(pathExpression(path))) === JSON.stringify(node) ? path : undefined;
}

const mirrored: Readonly<Record<Relation, Relation>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "==": "==",
  "!=": "!=",
};

function readComparison({ first, rest }: Extract<Node, { kind: "compare" }>): ColumnCell | undefined {
  const [comparison] = rest;
  if (comparison === undefined) return undefined;
  const { operator, operand } = comparison;
  return readRelation(first, operator, operand) ?? readRelation(operand, mirrored[operator], first);
}

function readRelation(left: Node, operator: Relation, right: Node): ColumnCell | undefined {
  const compared = readOperands(left, right);
  if (compared === undefined) return undefined;
  const { path, value } = compared;
  if (operator === "==" || operator === "!=")
    return { path, cell: { negated: operator === "!=", tests: [equals(value)] } };
  if (!isInstant(value) && !isBound(value)) return undefined;
  return { path, cell: toCell([{ kind: "order", operator, bound: value }]) };
}

/** Reads `path` and a literal, or `date(path)` and `date('…')`. */
function readOperands(
  left: Node,
  right: Node,
): { readonly path: Segments; readonly value: Literal | Instant } | undefined {
  const path = pathOf(left);
  if (path !== undefined && right.kind === "literal") return { path, value: right.value };
  const [dated, date] = [dateArgument(left), dateArgument(right)];
  const datedPath = dated && pathOf(dated);
  if (datedPath === undefined || date?.kind !== "literal" || typeof date.value !== "string") return undefined;
  return { path: datedPath, value: { instant: date.value } };
}

function dateArgument(node: Node): Node | undefined {
  return node.kind === "call" && node.name === "date" ? node.args[0] : undefined;
}

/** Reads `1 <= path < 10`. */
function readChain({ first, rest }: Extract<Node, { kind: "compare" }>): ColumnCell | undefined {
  const [one, two, ...more] = rest;
  if (one === undefined || two === undefined || more.length > 0) return undefined;
  const lower = readRelation(one.operand, mirrored[one.operator], first);
  const upper = readRelation(one.operand, two.operator, two.operand);
  const cell = lower && upper && toInterval(lower.cell, upper.cell);
  return lower && cell && { path: lower.path, cell };
}

function readMembership({
  item,
  list,
  negated,
}: Extract<Node, { kind: "membership" }>): ColumnCell | undefined {
  const path = pathOf(item);
  const values = list.kind === "list" ? list.items.map(literalOf) : [];
  if (path === undefined || values.length === 0 || !values.every((value) => value !== undefined))
    return undefined;
  const cell = cellOf(values.map(equals), negated);
  return cell && { path, cell };
}

const literalOf = (node: Node): Literal | undefined => (node.kind === "literal" ? node.value : undefined);

function readCall({
  name,
  args: [first, ...others],
}: Extract<Node, { kind: "call" }>): ColumnCell | undefined {
  const path = first && pathOf(first);
  const args = others.map(literalOf);
  if (path === undefined || !isCellFunction(name) || !args.every((arg) => arg !== undefined))
    return undefined;
  const cell = cellOf([toCall({ kind: "call", name, negated: false, args })]);
  return cell && { path, cell };
}

function readAlternatives(operands: readonly Node[]): ColumnCell | undefined {
  const cells = operands.map(readTests);
  const [first] = cells;
  if (
    first === undefined ||
    !cells.every((each) => each?.cell.negated === false && isSamePath(each.path, first.path))
  )
    return undefined;
  const cell = cellOf(cells.flatMap((each) => each?.cell.tests ?? []));
  return cell && { path: first.path, cell };
}

function readInterval(operands: readonly Node[]): ColumnCell | undefined {
  const [one, other, ...more] = operands.map(readTests);
  if (one === undefined || other === undefined || more.length > 0 || !isSamePath(one.path, other.path))
    return undefined;
  const cell = toInterval(one.cell, other.cell);
  return cell && { path: one.path, cell };
}
