import type { DrawnEdge, DrawnNode } from "../model/drawing.js";
import type { Origin, Step } from "./downstream.js";
import { artifactNode, recordNode, recordNodeId } from "./lineage-nodes.js";
import type { Twig } from "./twigs.js";
import { targetTwigs } from "./twigs.js";

/** A part of a drawing. */
export interface Sketch {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

/** All that was reached, and where each of the decisions among it led; what we began with is drawn by others. */
export function drawDownwards(steps: readonly Step[], origin: DrawnNode): Sketch {
  const reached = new Map(steps.map(({ record }) => [record.record_id, record]));
  const records = [...reached.values()].filter(({ record_id }) => recordNodeId(record_id) !== origin.id);
  const targets = records.flatMap((record) =>
    targetTwigs(record).map((twig) => ({ from: recordNodeId(record.record_id), twig })),
  );
  return {
    nodes: [...records.map(recordNode), ...targets.map(({ twig }) => twig.node)],
    edges: [...targets.map(({ from, twig }) => edgeTo(from, twig)), ...steps.map(stepEdge)],
  };
}

export const edgeTo = (from: string, { node, kind, label }: Twig): DrawnEdge => ({
  from,
  to: node.id,
  ...(label !== undefined && { label }),
  kind,
});

const stepEdge = ({ from, relation, record }: Step): DrawnEdge => ({
  from: nodeIdOf(from),
  to: recordNodeId(record.record_id),
  kind: relation,
});

const nodeIdOf = (origin: Origin): string =>
  "artifact" in origin ? artifactNode(origin.artifact).id : recordNodeId(origin.record_id);

/** Each node and each edge once, as it was met first. */
export function withoutRepeats(...sketches: readonly Sketch[]): Sketch {
  const nodes = new Map<string, DrawnNode>();
  const edges = new Map<string, DrawnEdge>();
  for (const sketch of sketches) {
    for (const node of sketch.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node);
    for (const edge of sketch.edges) {
      const key = JSON.stringify([edge.from, edge.to, edge.kind, edge.label]);
      if (!edges.has(key)) edges.set(key, edge);
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}
