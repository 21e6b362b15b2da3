import type { Drawing } from "../model/drawing.js";
import { drawTree } from "./draw-tree.js";
import type { View } from "./format.js";
import { edgeText } from "./drawing-text.js";
import { oneLine } from "./one-line.js";

/** A drawing in the formats that every answer has; its table is a tree. */
export function drawingView(drawing: Drawing): View {
  const { nodes, edges } = drawing;
  return {
    value: { nodes, edges },
    plain: () => plainLines(drawing).join("\n"),
    table: (style) => drawTree(drawing, style),
  };
}

/** One line an edge, and one for each node without any. */
function plainLines({ nodes, edges }: Drawing): readonly string[] {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const alone = nodes.filter(({ id }) => !joined.has(id)).map(({ id }) => [id]);
  const rows = edges.map((edge) => [edge.from, edgeText(edge), edge.to, edge.kind ?? ""]);
  return [...rows, ...alone].map((row) => row.map(oneLine).join("\t"));
}
