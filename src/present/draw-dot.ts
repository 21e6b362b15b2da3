import type { Drawing } from "../model/drawing.js";
import type { Shape } from "./drawing-text.js";
import { edgeText, isDashed, nodeNames, nodeText, shapeOf } from "./drawing-text.js";

const dotShapes: Readonly<Record<Shape, string>> = {
  box: "shape=box",
  diamond: "shape=diamond",
  frame: "shape=box, peripheries=2",
  hexagon: "shape=hexagon",
  rounded: "shape=box, style=rounded",
};

/** The drawing as a digraph for Graphviz. */
export function drawDot({ nodes, edges }: Drawing): string {
  const nameOf = nodeNames(nodes);
  const lines = nodes.map(
    (node) => `${nameOf(node.id)} [label=${quoted(nodeText(node))}, ${dotShapes[shapeOf(node)]}];`,
  );
  const arrows = edges.map((edge) => {
    const text = edgeText(edge);
    const attributes = [
      ...(text === "" ? [] : [`label=${quoted(text)}`]),
      ...(isDashed(edge) ? ["style=dashed"] : []),
    ];
    const list = attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
    return `${nameOf(edge.from)} -> ${nameOf(edge.to)}${list};`;
  });
  return ["digraph decisions {", ...[...lines, ...arrows].map((line) => `  ${line}`), "}"].join("\n") + "\n";
}

/** Backslashes speak to Graphviz, and so do the entities of HTML; a line without anything has crashed it. */
function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("&", "&amp;");
  const lines = escaped.split("\n").map((line) => line || " ");
  return `"${lines.join("\\n")}"`;
}
