import type { Literal, Node } from "./syntax.js";

/** `path == literal` or `path in (literals)`: the path can only be one of these values. */
export interface Equality {
  readonly segments: readonly string[];
  readonly values: readonly Literal[];
}

/** The parts that must all hold; a tree without a top-level `and` is its own only part. */
export function conjunctsOf(tree: Node): readonly Node[] {
  if (tree.kind !== "logic" || tree.operator !== "and") return [tree];
  return tree.operands.flatMap(conjunctsOf);
}

export function equalityOf(node: Node): Equality | undefined {
  if (node.kind === "membership") return membershipOf(node);
  if (node.kind !== "compare" || node.rest.length !== 1) return undefined;
  const [comparison] = node.rest;
  if (comparison?.operator !== "==") return undefined;
  return pair(node.first, comparison.operand) ?? pair(comparison.operand, node.first);
}

/**
 * What the condition asks first. Where it asks for an equality that does not hold, nothing after it runs,
 * so the condition is not matched and cannot be errored.
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

function pair(path: Node, literal: Node): Equality | undefined {
  if (path.kind !== "path" || literal.kind !== "literal") return undefined;
  return { segments: path.segments, values: [literal.value] };
}
