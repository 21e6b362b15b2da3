import { boxesMeet } from "./box.js";
import type { Box } from "./box.js";
import { domainsOf, findUncovered } from "./cover.js";
import type { Formula, WorkLimit } from "./formula.js";
import { product, regionOf } from "./formula.js";
import type { ModelCondition } from "./model-decision.js";
import type { Space } from "./space.js";
import { nodeText } from "../expression/node-text.js";
import type { Node } from "../expression/syntax.js";

/** A part of a condition that must be true for the whole to be true. */
interface Part {
  readonly text: string;
  readonly formula: Formula;
}

/** Explains why a condition that is never true is not. */
export function contradictionText(
  { tree, formula }: Pick<ModelCondition, "tree" | "formula">,
  space: Space,
  limit: WorkLimit,
): string {
  if (tree?.kind === "literal") return `the condition is \`${nodeText(tree)}\``;
  const isPossible = (boxes: readonly Box[]): boolean =>
    boxes.some((box) => findUncovered(domainsOf(box, space), space.impossible, limit) !== undefined);
  const parts = tree === undefined ? [] : partsOf(tree, formula);
  const regions = parts.map((part) => regionOf(part.formula, "true", space, limit));
  for (const [index, { text }] of parts.entries()) {
    if (!isPossible(regions[index] ?? [])) return `\`${text}\` is never true`;
  }
  for (const [index, one] of parts.entries()) {
    for (const [other, two] of parts.entries()) {
      if (other <= index) continue;
      const shared = product(regions[index] ?? [], regions[other] ?? [], limit);
      if (!isPossible(shared.filter((box) => boxesMeet(box, space.bounds))))
        return `\`${one.text}\` and \`${two.text}\` contradict each other`;
    }
  }
  return "its parts contradict each other";
}

function partsOf(node: Node, formula: Formula): readonly Part[] {
  if (node.kind !== "logic" || node.operator !== "and" || formula.type !== "and")
    return [{ text: nodeText(node), formula }];
  return node.operands.flatMap((operand, index) => {
    const part = formula.parts[index];
    return part === undefined ? [] : partsOf(operand, part);
  });
}
