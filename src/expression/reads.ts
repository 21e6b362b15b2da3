import { children } from "./syntax.js";
import type { Node } from "./syntax.js";

/** The paths a tree refers to, each once, in the order of their first mention. */
export function readsOf(tree: Node): readonly string[] {
  const found = new Set<string>();
  collect(tree, found);
  return [...found];
}

function collect(node: Node, found: Set<string>): void {
  if (node.kind === "path") found.add(node.segments.join("."));
  for (const child of children(node)) collect(child, found);
}
