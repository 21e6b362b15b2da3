import type { Expression } from "./compile.js";
import { compile } from "./compile.js";
import { expressionError, expressionLocation, Failure } from "./failure.js";
import type { Node } from "./syntax.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** Text with `{{ expression }}` or `${ expression }` in it. */
export interface Template {
  /** Where it is one expression and nothing around it. */
  readonly tree?: Node;
  readonly text: string;
  readonly reads: readonly string[];
  evaluate(scope: Scope): Json | Failure;
}

type Part = string | Expression;

/** An expression that stands alone keeps the type of its value; within text it is rendered. */
export function compileTemplate(text: string): Template {
  const parts = splitParts(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string") return { ...only, text };
  const reads = [...new Set(parts.flatMap((part) => (typeof part === "string" ? [] : part.reads)))];
  return { text, reads, evaluate: (scope) => render(parts, scope) };
}

/** A text for people. */
export interface TextTemplate {
  readonly reads: readonly string[];
  /** Always gives one, whatever of it cannot be filled in. */
  render(scope: Scope): string;
}

/** What cannot be filled in is told as nothing: people who read a reason need not know how it is written. */
export const compileText = (text: string): TextTemplate => compileRendered(text, () => "(nothing)");

/** The same with something else in place of what cannot be filled in. */
export function compileRendered(text: string, instead: (part: string) => string): TextTemplate {
  const parts = splitParts(text);
  const reads = [...new Set(parts.flatMap((part) => (typeof part === "string" ? [] : part.reads)))];
  return { reads, render: (scope) => parts.map((part) => renderPart(part, scope, instead)).join("") };
}

function renderPart(part: Part, scope: Scope, instead: (part: string) => string): string {
  if (typeof part === "string") return part;
  const value = part.evaluate(scope);
  if (value instanceof Failure) return instead(part.text);
  return typeof value === "string" ? value : canonicalJson(value);
}

/** A condition is one expression: bare, or wrapped whole in `{{ }}` or `${ }`. */
export function compileCondition(text: string): Template & { readonly tree: Node } {
  const indent = text.length - text.trimStart().length;
  if (openingAt(text, indent) === undefined) return compile(text);
  const { tree, ...template } = compileIndented(text, indent);
  if (tree !== undefined) return { ...template, tree };
  throw expressionError(
    text,
    indent,
    "a condition is one expression",
    "write it whole, without `{{ }}` around its parts",
  );
}

/** An `input` is an expression, bare or wrapped, or text with expressions in it. */
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

/** Outside quotes neither bracket is part of the language, so one that opens there begins an expression in text. */
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
  let at = 0;
  while (at < text.length) {
    const close = openingAt(text, at);
    if (close === undefined) {
      at++;
      continue;
    }
    const end = closingAt(text, at + 2, close);
    if (at > from) parts.push(text.slice(from, at));
    parts.push(compileWithin(text, at + 2, end));
    from = at = end + close.length;
  }
  if (from < text.length || parts.length === 0) parts.push(text.slice(from));
  return parts;
}

function openingAt(text: string, at: number): "}}" | "}" | undefined {
  if (text.startsWith("{{", at)) return "}}";
  return text.startsWith("${", at) ? "}" : undefined;
}

/** The end of the expression; a bracket within quotes does not end it. */
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
  throw expressionError(text, from - 2, `this is never closed with \`${close}\``);
}

/** Errors point into the whole text, not into the part between the brackets. */
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
