import type { Expression } from "./compile.js";
import { compile } from "./compile.js";
import { Failure, expressionError, expressionLocation, typeName } from "./failure.js";
import type { Node } from "./syntax.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** A compiled text that contains `{{ expression }}` or `${ expression }`. */
export interface Template {
  /** Set if the text is a single expression. */
  readonly tree?: Node;
  readonly text: string;
  readonly reads: readonly string[];
  /** The same for the lineage: with the keys of `get(a, 'key')`. */
  readonly inputs: readonly string[];
  evaluate(scope: Scope): Json | Failure;
}

type Part = string | Expression;

/** Compiles a template. A single expression keeps the type of its value; within text it is rendered. */
export function compileTemplate(text: string): Template {
  const parts = splitParts(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string") return { ...only, text };
  const reads = readsOfParts(parts, "reads");
  return { text, reads, inputs: readsOfParts(parts, "inputs"), evaluate: (scope) => render(parts, scope) };
}

function readsOfParts(parts: readonly Part[], key: "reads" | "inputs"): readonly string[] {
  return [...new Set(parts.flatMap((part) => (typeof part === "string" ? [] : part[key])))];
}

/** A compiled text for people, such as a reason. */
export interface TextTemplate {
  readonly reads: readonly string[];
  /** Returns the text, with a placeholder for every expression that has no value. */
  render(scope: Scope): string;
}

/** Compiles a text for people; `placeholder` replaces an expression without a value. */
export function compileText(
  text: string,
  placeholder: (failure: Failure) => string = ({ message }) => `(${message})`,
): TextTemplate {
  const parts = splitParts(text);
  const renderAll = (scope: Scope): string =>
    parts.map((part) => renderPart(part, scope, placeholder)).join("");
  return { reads: readsOfParts(parts, "reads"), render: renderAll };
}

/** Returns the syntax trees of the expressions within a text. */
export const expressionsIn = (text: string): readonly Node[] =>
  parsedExpressionsIn(text).map(({ tree }) => tree);

/** An expression within a text, and where it starts. */
interface ExpressionWithin {
  readonly tree: Node;
  readonly expression: string;
  readonly offset: number;
}

/** Returns the expressions within a text, between `{{ }}` or `${ }`, with their syntax trees. */
export function parsedExpressionsIn(text: string): readonly ExpressionWithin[] {
  return [...enclosedIn(text)].map(({ from, end }) => ({
    tree: compileWithin(text, from, end).tree,
    expression: text.slice(from, end),
    offset: from,
  }));
}

function renderPart(part: Part, scope: Scope, placeholder: (failure: Failure) => string): string {
  if (typeof part === "string") return part;
  const value = part.evaluate(scope);
  if (value instanceof Failure) return placeholder(value);
  return typeof value === "string" ? value : canonicalJson(value);
}

/** Compiles a condition: a single expression, bare or enclosed in `{{ }}` or `${ }`. */
export function compileCondition(text: string): Template & { readonly tree: Node } {
  const indent = text.length - text.trimStart().length;
  if (openingAt(text, indent) === undefined) return compile(text);
  const { tree, ...template } = compileIndented(text, indent);
  if (tree !== undefined) return { ...template, tree };
  throw expressionError(
    text,
    indent,
    "a condition must be a single expression",
    "remove the `{{ }}` around its parts",
  );
}

/** Evaluates a condition. Only true and false are results; any other value is a failure. */
export function evaluateCondition(condition: Template, scope: Scope): boolean | Failure {
  const value = condition.evaluate(scope);
  if (typeof value === "boolean" || value instanceof Failure) return value;
  return new Failure(`a condition must be true or false, this one is ${typeName(value)}`);
}

/** Compiles an `input`: an expression, bare or enclosed, or text with expressions in it. */
export function compileInput(text: string): Template {
  const indent = text.length - text.trimStart().length;
  if (openingAt(text, indent) !== undefined) return compileIndented(text, indent);
  return hasOpening(text) ? compileTemplate(text) : compile(text);
}

function compileIndented(text: string, indent: number): Template {
  try {
    return compileTemplate(text.trim());
  } catch (error) {
    throw shiftLocation(error, text, indent);
  }
}

/** Tells whether an expression opens outside quotes, where no bare expression contains `{{` or `${`. */
function hasOpening(text: string): boolean {
  return /\{\{|\$\{/.test(text.replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs, ""));
}

function render(parts: readonly Part[], scope: Scope): string | Failure {
  let rendered = "";
  for (const part of parts) {
    const value = typeof part === "string" ? part : part.evaluate(scope);
    if (value instanceof Failure) return value;
    rendered += typeof value === "string" ? value : canonicalJson(value);
  }
  return rendered;
}

function splitParts(text: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { opens, from: start, end, closes } of enclosedIn(text)) {
    if (opens > from) parts.push(text.slice(from, opens));
    parts.push(compileWithin(text, start, end));
    from = closes;
  }
  if (from < text.length || parts.length === 0) parts.push(text.slice(from));
  return parts;
}

/** The place of an expression between `{{` and `}}`, or `${` and `}`. */
interface Enclosed {
  readonly opens: number;
  readonly from: number;
  readonly end: number;
  readonly closes: number;
}

function* enclosedIn(text: string): Generator<Enclosed> {
  let at = 0;
  while (at < text.length) {
    const close = openingAt(text, at);
    if (close === undefined) {
      at++;
      continue;
    }
    const end = closingAt(text, at + 2, close);
    yield { opens: at, from: at + 2, end, closes: end + close.length };
    at = end + close.length;
  }
}

/** An expression within a text, and where it starts. */
interface LocatedExpression {
  readonly text: string;
  readonly at: number;
}

/** Returns the expressions in a condition or an input, which may be bare, or in a template, where they never are. */
export function expressionsWithin(
  text: string,
  kind: "expression" | "template",
): readonly LocatedExpression[] {
  const isBare = openingAt(text, text.length - text.trimStart().length) === undefined && !hasOpening(text);
  if (kind === "expression" && isBare) return [{ text, at: 0 }];
  return [...enclosedIn(text)].map(({ from, end }) => {
    const inner = text.slice(from, end);
    return { text: inner.trim(), at: from + inner.length - inner.trimStart().length };
  });
}

function openingAt(text: string, at: number): "}}" | "}" | undefined {
  if (text.startsWith("{{", at)) return "}}";
  return text.startsWith("${", at) ? "}" : undefined;
}

/** Returns the end of the expression; a bracket within quotes does not end it. */
function closingAt(text: string, from: number, close: string): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== "") {
      if (character === "\\") at++;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if (text.startsWith(close, at)) return at;
  }
  throw expressionError(text, from - 2, `missing closing \`${close}\``);
}

/** Compiles the part between the brackets; errors have positions in the whole text. */
function compileWithin(text: string, from: number, end: number): Expression {
  const inner = text.slice(from, end);
  try {
    return compile(inner.trim());
  } catch (error) {
    throw shiftLocation(error, text, from + inner.length - inner.trimStart().length);
  }
}

function shiftLocation(error: unknown, text: string, by: number): unknown {
  if (!(error instanceof DecisionError)) return error;
  const place = expressionLocation(error);
  return place === undefined ? error : expressionError(text, place.at + by, error.message, error.hint);
}
