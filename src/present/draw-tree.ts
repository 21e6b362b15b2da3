import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import type { Style } from "./format.js";
import { treeLine } from "./tree-line.js";

/** Deeper than this, a tree goes on as one that begins anew further down. */
const deepest = 24;

interface Step {
  readonly node: DrawnNode;
  readonly edge?: DrawnEdge;
  readonly depth: number;
  /** What stands before it, and before what is under it. */
  readonly before: string;
  readonly below: string;
}

/** The drawing as a tree for people: each node once in full, each edge on a line of its own. */
export function drawTree({ nodes, edges, roots }: Drawing, style: Style): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const leaving = edgesByStart(edges);
  const shown = new Set<string>();
  const lines: string[] = [];
  const waiting = [...roots, ...byId.keys()].reverse();
  for (let root = waiting.pop(); root !== undefined; root = waiting.pop()) {
    const node = byId.get(root);
    if (node === undefined || shown.has(root)) continue;
    const putOff: string[] = [];
    const path: string[] = [];
    const steps: Step[] = [{ node, depth: 0, before: "", below: "" }];
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      const { id } = step.node;
      path.length = step.depth;
      const isParent = leaving.has(id);
      const mark = markOf({
        isParent,
        isShown: shown.has(id),
        isOnPath: path.includes(id),
        depth: step.depth,
      });
      const isFull = !shown.has(id) && mark === "";
      lines.push(treeLine({ ...step, isParent, isFull, mark }, style));
      if (mark === later) putOff.push(id);
      if (!isFull) continue;
      shown.add(id);
      path.push(id);
      for (const child of childrenOf(step, leaving.get(id) ?? [], byId).reverse()) steps.push(child);
    }
    for (const id of putOff.reverse()) waiting.push(id);
  }
  return lines.join("\n");
}

const later = "(further down)";

interface Met {
  readonly isParent: boolean;
  readonly isShown: boolean;
  readonly isOnPath: boolean;
  readonly depth: number;
}

/** Why nothing is under it, where something could be. */
function markOf({ isParent, isShown, isOnPath, depth }: Met): string {
  if (isOnPath) return "(cycle)";
  if (!isParent) return "";
  if (isShown) return "(again)";
  return depth === deepest ? later : "";
}

function edgesByStart(edges: readonly DrawnEdge[]): ReadonlyMap<string, readonly DrawnEdge[]> {
  const byStart = new Map<string, DrawnEdge[]>();
  for (const edge of edges) {
    const others = byStart.get(edge.from);
    if (others === undefined) byStart.set(edge.from, [edge]);
    else others.push(edge);
  }
  return byStart;
}

function childrenOf(
  { depth, below }: Step,
  edges: readonly DrawnEdge[],
  byId: ReadonlyMap<string, DrawnNode>,
): Step[] {
  return edges.flatMap((edge, index) => {
    const node = byId.get(edge.to);
    const isLast = index === edges.length - 1;
    const before = `${below}${isLast ? "└─ " : "├─ "}`;
    return node === undefined
      ? []
      : [{ node, edge, depth: depth + 1, before, below: `${below}${isLast ? "   " : "│  "}` }];
  });
}
