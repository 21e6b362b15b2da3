import type { Pattern } from "./pattern.js";

/** The syntax tree of an expression. */
export type Node =
  | LiteralNode
  | { readonly kind: "path"; readonly segments: readonly string[] }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | CallNode
  | { readonly kind: "negative"; readonly operand: Node }
  | { readonly kind: "not"; readonly operand: Node }
  | { readonly kind: "arithmetic"; readonly operator: Arithmetic; readonly left: Node; readonly right: Node }
  | { readonly kind: "compare"; readonly first: Node; readonly rest: readonly Comparison[] }
  | { readonly kind: "membership"; readonly negated: boolean; readonly item: Node; readonly list: Node }
  | { readonly kind: "logic"; readonly operator: "and" | "or"; readonly operands: readonly Node[] }
  | { readonly kind: "choice"; readonly condition: Node; readonly then: Node; readonly otherwise: Node };

export interface LiteralNode {
  readonly kind: "literal";
  readonly value: Literal;
  /** The spelling and position of an integer that the value does not represent exactly. */
  readonly inexact?: { readonly written: string; readonly at: number };
}

export interface CallNode {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Node[];
  /** The compiled pattern of `matches` or `~=`, if it is a literal. */
  readonly pattern?: Pattern;
}

export type Literal = null | boolean | number | string;
export type Arithmetic = "+" | "-" | "*" | "/" | "mod" | "^";
export type Relation = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** `a < b <= c` is one node: each operand is compared with the one before it. */
export interface Comparison {
  readonly operator: Relation;
  readonly operand: Node;
}

export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case "literal":
    case "path":
      return [];
    case "list":
      return node.items;
    case "call":
      return node.args;
    case "negative":
    case "not":
      return [node.operand];
    case "arithmetic":
      return [node.left, node.right];
    case "compare":
      return [node.first, ...node.rest.map((comparison) => comparison.operand)];
    case "membership":
      return [node.item, node.list];
    case "logic":
      return node.operands;
    case "choice":
      return [node.condition, node.then, node.otherwise];
  }
}

/** Returns the paths that a tree reads, each once, in the order of their first mention. */
export function readsOf(tree: Node): readonly string[] {
  const found = new Set<string>();
  collect(tree, found);
  return [...found];
}

function collect(node: Node, found: Set<string>): void {
  if (node.kind === "path") found.add(node.segments.join("."));
  for (const child of children(node)) collect(child, found);
}

/**
 * Returns the paths whose values a tree reads, as `readsOf` does, but with the keys of `get(a, 'key')`: `a.key`. These
 * are for the lineage only; hashes and caches depend on `readsOf`.
 */
export function inputsOf(tree: Node, reads: readonly string[]): readonly string[] {
  if (!hasGet(tree)) return reads;
  const found = new Set<string>();
  collectInputs(tree, found);
  return [...found];
}

const hasGet = (node: Node): boolean =>
  (node.kind === "call" && node.name === "get") || children(node).some(hasGet);

function collectInputs(node: Node, found: Set<string>): void {
  const segments = segmentsOf(node);
  if (segments !== undefined) found.add(pathText(segments));
  const rest = segments === undefined ? children(node) : node.kind === "call" ? node.args.slice(2) : [];
  for (const child of rest) collectInputs(child, found);
}

/** Returns the steps of a path, or of `get` on a path with a literal key; undefined for anything else. */
export function segmentsOf(node: Node): readonly string[] | undefined {
  if (node.kind === "path") return node.segments;
  if (node.kind !== "call" || node.name !== "get") return undefined;
  const [from, key] = node.args;
  const segments = from && segmentsOf(from);
  if (segments === undefined || key?.kind !== "literal") return undefined;
  const { value } = key;
  return typeof value === "string" || typeof value === "number" ? [...segments, String(value)] : undefined;
}

/** Writes a path; a step that is not a plain key is written as `['a.b']`. */
export const pathText = (segments: readonly string[]): string =>
  segments
    .map((step, index) => {
      if (step === "" || /[.[\]'\\]/.test(step)) return `[${quote(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");

/** Writes a text as a literal. */
export const quote = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;

/** Returns the steps of a path that `pathText` wrote. */
export function splitPath(text: string): readonly string[] {
  if (!text.includes("[")) return text.split(".");
  const steps = text.matchAll(/\['((?:\\.|[^'\\])*)'\]|([^.[]+)/g);
  return Array.from(steps, ([, quoted, plain = ""]) => quoted?.replace(/\\(.)/g, "$1") ?? plain);
}

/** `path == literal` or `path in (literals)`: the path must have one of these values. */
interface Equality {
  readonly segments: readonly string[];
  readonly values: readonly Literal[];
}

/** Returns the operands of the top-level `and`, or the tree itself if there is none. */
export function conjunctsOf(tree: Node): readonly Node[] {
  if (tree.kind !== "logic" || tree.operator !== "and") return [tree];
  return tree.operands.flatMap(conjunctsOf);
}

export function equalityOf(node: Node): Equality | undefined {
  if (node.kind === "membership") return membershipOf(node);
  if (node.kind !== "compare" || node.rest.length !== 1) return undefined;
  const [comparison] = node.rest;
  if (comparison?.operator !== "==") return undefined;
  return equalityBetween(node.first, comparison.operand) ?? equalityBetween(comparison.operand, node.first);
}

/**
 * Returns the equality that a condition evaluates first. If it is false, nothing after it is evaluated: the
 * condition is not matched, and cannot be errored.
 */
export function leadingEquality(tree: Node): Equality | undefined {
  const [first] = conjunctsOf(tree);
  return first === undefined ? undefined : equalityOf(first);
}

function membershipOf(node: Node & { kind: "membership" }): Equality | undefined {
  if (node.negated || node.item.kind !== "path" || node.list.kind !== "list") return undefined;
  const values: Literal[] = [];
  for (const item of node.list.items) {
    if (item.kind !== "literal") return undefined;
    values.push(item.value);
  }
  return { segments: node.item.segments, values };
}

function equalityBetween(path: Node, literal: Node): Equality | undefined {
  if (path.kind !== "path" || literal.kind !== "literal") return undefined;
  return { segments: path.segments, values: [literal.value] };
}
