import { parser } from "lezer-feel";
import { inexactMessage, isExactNumber } from "../digest/parse-json.js";
import type { Segments } from "../expression/column-path.js";
import { parseInstant } from "../expression/instant.js";
import type { Literal } from "../expression/syntax.js";
import type { ColumnType } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Bound, Call, Cell, Instant, Order, Test } from "./cell.js";
import { equals, InvalidCell, toCell } from "./cell.js";
import { maxCellLength } from "./table.js";

type SyntaxNode = ReturnType<typeof parser.parse>["topNode"];

const unaryTests = parser.configure({ top: "UnaryTests" });
const expressions = parser.configure({ top: "Expression" });

/** A part of a FEEL text. */
interface Part {
  readonly node: SyntaxNode;
  readonly text: string;
}

/** A cell with the types of the dates in it, which are texts here. */
export interface FeelCell {
  readonly cell: Cell | undefined;
  readonly types: readonly ColumnType[];
}

/** Reads unary tests; undefined: any value. Throws `InvalidCell` for what cannot be a cell. */
export function readUnaryTests(text: string): FeelCell {
  if (text.trim() === "") return { cell: undefined, types: [] };
  const [first, ...others] = partsOf(parseFeel(text, unaryTests));
  if (first?.node.name === "Wildcard" && others.length === 0) return { cell: undefined, types: [] };
  const negated = first?.node.name === "not";
  const list = negated ? others.find(({ node }) => node.name === "PositiveUnaryTests") : first;
  if (list?.node.name !== "PositiveUnaryTests") throw unmappable(text);
  const types: ColumnType[] = [];
  const tests = partsOf(list).map((part) => readTest(part, types));
  const [only] = tests;
  if (tests.length === 1 && only !== undefined && "unequal" in only) {
    if (negated) throw unmappable(text);
    return { cell: toCell([equals(only.unequal)], true), types };
  }
  const positive = tests.map((test): Test => {
    if (!("unequal" in test)) return test;
    // With other tests, `? != null` can only mean that there is a value.
    if (test.unequal === null) return { kind: "call", name: "exists", negated: false, args: [] };
    throw unmappable(text);
  });
  return { cell: toFeelCell(positive, negated), types };
}

/** `not(null)` requires a value. */
function toFeelCell(tests: readonly Test[], negated: boolean): Cell {
  const [only, ...others] = tests;
  return negated && others.length === 0 && only?.kind === "call"
    ? toCell([{ ...only, negated: !only.negated }])
    : toCell(tests, negated);
}

/** Parses a text. The tree of a malformed one contains error nodes. */
function parseFeel(text: string, top: typeof parser): Part {
  if (text.length > maxCellLength)
    throw new InvalidCell(`the expression is longer than ${maxCellLength} characters`);
  const tree = top.parse(text);
  tree.iterate({
    enter({ type }) {
      if (type.isError) throw new InvalidCell(`\`${shorten(text)}\` is not a FEEL expression`);
    },
  });
  return { node: tree.topNode, text };
}

/** Returns the parts of a node without comments. */
function partsOf({ node, text }: Part): readonly Part[] {
  const parts: Part[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (!child.name.endsWith("Comment")) parts.push({ node: child, text });
  }
  return parts;
}

const textOf = ({ node, text }: Part): string => text.slice(node.from, node.to);

const unmappable = (text: string): InvalidCell =>
  new InvalidCell(
    `\`${shorten(text)}\` cannot be converted`,
    "cells can have literals, comparisons, intervals, lists of them, not(…) and -",
  );

const shorten = (text: string): string => {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};

/** A test, or a value that the input must not have. */
type ReadTest = Test | { readonly unequal: Literal | Instant };

function readTest(part: Part, types: ColumnType[]): ReadTest {
  const children = partsOf(part);
  const [first, second, third] = children;
  switch (part.node.name) {
    case "PositiveUnaryTest":
    case "SimplePositiveUnaryTest":
      if (first !== undefined && children.length === 1) return readTest(first, types);
      if (first?.node.name === "CompareOp" && second !== undefined && children.length === 2)
        return toComparison(textOf(first), second, types);
      throw unmappable(textOf(part));
    case "Interval":
      return readInterval(part, types);
    case "Comparison":
      if (first === undefined || second === undefined || third === undefined || children.length > 3)
        throw unmappable(textOf(part));
      return readComparison(textOf(part), [first, second, third], types);
    case "ParenthesizedExpression":
      if (second === undefined || children.length !== 3) throw unmappable(textOf(part));
      return readTest(second, types);
    case "FunctionInvocation":
      return readInvocation(part);
    case "null":
      return { kind: "call", name: "exists", negated: true, args: [] };
    default:
      return equals(readScalar(part, types));
  }
}

/** Reads `? < 5`, `5 > ?` and `? in [1..5]`; unlike `null` alone, `? = null` is an equality. */
function readComparison(
  text: string,
  [left, operator, right]: readonly [Part, Part, Part],
  types: ColumnType[],
): ReadTest {
  const relation = textOf(operator);
  if (left.node.name === "?" && relation === "in") return readTest(right, types);
  if (left.node.name === "?") return toComparison(relation, right, types);
  const mirrored = mirrors[relation];
  if (right.node.name === "?" && mirrored !== undefined) return toComparison(mirrored, left, types);
  throw unmappable(text);
}

const mirrors: Readonly<Partial<Record<string, string>>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "=": "=",
  "!=": "!=",
};

const orders: ReadonlySet<string> = new Set<Order>(["<", "<=", ">", ">="]);

function toComparison(operator: string, operand: Part, types: ColumnType[]): ReadTest {
  if (operator === "=") return equals(readScalar(operand, types));
  if (operator === "!=") return { unequal: readScalar(operand, types) };
  if (!orders.has(operator)) throw unmappable(`${operator} ${textOf(operand)}`);
  return { kind: "order", operator: operator as Order, bound: readBound(operand, types) };
}

function readInterval(part: Part, types: ColumnType[]): Test {
  const [open, from, , to, close] = partsOf(part);
  if (open === undefined || from === undefined || to === undefined || close === undefined)
    throw unmappable(textOf(part));
  return {
    kind: "range",
    from: readBound(from, types),
    fromOpen: textOf(open) !== "[",
    to: readBound(to, types),
    toOpen: textOf(close) !== "]",
  };
}

function readBound(part: Part, types: ColumnType[]): Bound {
  const value = readScalar(part, types);
  if (value === null || typeof value === "boolean") throw unmappable(textOf(part));
  return value;
}

/** The functions that are the same here. */
const functions: Readonly<Partial<Record<string, string>>> = {
  contains: "contains",
  "starts with": "starts_with",
  "ends with": "ends_with",
};

/** Reads a call on the input, such as `starts with(?, "a")`. */
function readInvocation(part: Part): Call {
  const [name, , parameters] = partsOf(part);
  const known = name && functions[nameOf(name)];
  const [only, ...more] = parameters === undefined ? [] : partsOf(parameters);
  if (
    name !== undefined &&
    nameOf(name) === "not" &&
    only?.node.name === "FunctionInvocation" &&
    more.length === 0
  ) {
    const negated = readInvocation(only);
    return { ...negated, negated: !negated.negated };
  }
  const [input, arg, ...others] = parameters === undefined ? [] : partsOf(parameters);
  if (
    known === undefined ||
    input?.node.name !== "?" ||
    arg?.node.name !== "StringLiteral" ||
    others.length > 0
  )
    throw unmappable(textOf(part));
  return { kind: "call", name: known, negated: false, args: [readString(arg)] };
}

/** Reads a literal of a test. */
function readScalar(part: Part, types: ColumnType[]): Literal | Instant {
  switch (part.node.name) {
    case "NumericLiteral":
      return readNumber(part);
    case "StringLiteral":
      types.push("string");
      return readString(part);
    case "BooleanLiteral":
      return textOf(part) === "true";
    case "null":
      return null;
    case "DateTimeLiteral": {
      const { type, text } = readDateTime(part);
      types.push(type);
      return type === "dateTime" ? { instant: text } : text;
    }
    case "ParenthesizedExpression": {
      const [, inner, ...others] = partsOf(part);
      if (inner !== undefined && others.length === 1) return readScalar(inner, types);
      break;
    }
  }
  throw unmappable(textOf(part));
}

function readNumber(part: Part): number {
  const written = textOf(part).replace(/\s+/g, "");
  const value = Number(written);
  if (!Number.isFinite(value)) throw unmappable(written);
  if (!isExactNumber(written)) throw new InvalidCell(inexactMessage(written));
  return value === 0 ? 0 : value;
}

const escapes: Readonly<Partial<Record<string, string>>> = { n: "\n", r: "\r", t: "\t" };

function readString(part: Part): string {
  return textOf(part)
    .slice(1, -1)
    .replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{6}|.)/gs, (_, escaped: string) =>
      escaped.length > 1
        ? String.fromCodePoint(Number.parseInt(escaped.slice(1), 16))
        : (escapes[escaped] ?? escaped),
    );
}

interface DateTime {
  readonly type: "date" | "time" | "dateTime";
  readonly text: string;
}

/** The types of the functions that make dates. */
const constructors: Readonly<Partial<Record<string, DateTime["type"]>>> = {
  date: "date",
  time: "time",
  "date and time": "dateTime",
};

/** Reads `date("…")`, `time("…")`, `date and time("…")` or `@"…"`. */
function readDateTime(part: Part): DateTime {
  const [first, , parameters] = partsOf(part);
  const isAt = first?.node.name === "AtLiteral";
  const [literal, ...others] = isAt ? partsOf(first) : parameters === undefined ? [] : partsOf(parameters);
  const text = literal?.node.name === "StringLiteral" && others.length === 0 ? readString(literal) : "";
  const type = dateType(text);
  if (type !== undefined && (isAt || (first && constructors[nameOf(first)]) === type)) return { type, text };
  throw new InvalidCell(
    `\`${shorten(textOf(part))}\` cannot be converted`,
    "dates are YYYY-MM-DD, times have no zone, and dates with a time have one, such as Z or +02:00",
  );
}

export function dateType(text: string): DateTime["type"] | undefined {
  if (/^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text)) return "time";
  if (!/^\d{4}-\d{2}-\d{2}(?:T|$)/.test(text) || parseInstant(text) === undefined) return undefined;
  return text.includes("T") ? "dateTime" : "date";
}

/** Returns the name that a node writes, with single spaces. */
const nameOf = (part: Part): string => {
  const words = partsOf(part).map(textOf);
  return (words.length === 0 ? textOf(part) : words.join(" ")).replace(/\s+/g, " ");
};

/** Reads an input expression that is a path. `names` are names of the model, which may contain operators. */
export function readPath(text: string, names: readonly string[]): Segments {
  const trimmed = text.trim().replace(/\s+/g, " ");
  const root = names.find((name) => trimmed === name || trimmed.startsWith(`${name}.`));
  if (root === trimmed) return [root];
  if (root !== undefined) return [root, ...pathSegments(trimmed.slice(root.length + 1))];
  return pathSegments(trimmed);
}

function pathSegments(text: string): Segments {
  const [part] = partsOf(parseFeel(text, expressions));
  const segments = part && segmentsOf(part);
  if (segments !== undefined) return segments;
  throw new InvalidCell(
    `\`${shorten(text)}\` is not a path`,
    "an input expression is a path, such as customer.tier",
  );
}

function segmentsOf(part: Part): Segments | undefined {
  if (part.node.name === "VariableName" || part.node.name === "PathName") return [nameOf(part)];
  if (part.node.name !== "PathExpression") return undefined;
  const [object, , name] = partsOf(part);
  const path = object && segmentsOf(object);
  return path && name && [...path, nameOf(name)];
}

/** The value of an output, with the type of a date. */
export interface FeelValue {
  readonly value: Json;
  readonly type?: ColumnType;
}

/** Reads an output entry, which is a literal, or a list or context of literals. */
export function readFeelValue(text: string): FeelValue {
  const [part, ...others] = partsOf(parseFeel(text, expressions));
  if (part === undefined || others.length > 0) throw unmappableValue(text);
  if (part.node.name !== "DateTimeLiteral") return { value: readValue(part) };
  const { type, text: value } = readDateTime(part);
  return { value, type };
}

const unmappableValue = (text: string): InvalidCell =>
  new InvalidCell(
    `\`${shorten(text)}\` cannot be converted`,
    "outputs are literals, or lists and contexts of literals",
  );

function readValue(part: Part): Json {
  switch (part.node.name) {
    case "NumericLiteral":
      return readNumber(part);
    case "StringLiteral":
      return readString(part);
    case "BooleanLiteral":
      return textOf(part) === "true";
    case "null":
      return null;
    case "List":
      return partsOf(part).filter(isNotBracket).map(readValue);
    case "Context":
      return Object.fromEntries(partsOf(part).filter(isNotBracket).map(readEntry));
    default:
      throw unmappableValue(textOf(part));
  }
}

const isNotBracket = ({ node }: Part): boolean => !["[", "]", "{", "}", ","].includes(node.name);

function readEntry(part: Part): readonly [key: string, value: Json] {
  const [key, value] = partsOf(part);
  if (part.node.name !== "ContextEntry" || key === undefined || value === undefined)
    throw unmappableValue(textOf(part));
  const [name] = partsOf(key);
  const text = name?.node.name === "StringLiteral" ? readString(name) : nameOf(name ?? key);
  if (text === "__proto__") throw unmappableValue(textOf(part));
  return [text, readValue(value)];
}

/** Reads the allowed values of an output, in their order. */
export function readFeelValues(text: string): readonly Json[] {
  const [list, ...others] = partsOf(parseFeel(text, unaryTests));
  if (list?.node.name !== "PositiveUnaryTests" || others.length > 0) throw unmappableValue(text);
  return partsOf(list).map((part) => {
    const [value, ...more] = partsOf(part);
    if (value === undefined || more.length > 0) throw unmappableValue(text);
    return value.node.name === "DateTimeLiteral" ? readDateTime(value).text : readValue(value);
  });
}
