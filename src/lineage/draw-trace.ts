import type { Drawing, DrawnEdge, DrawnNode } from "../model/drawing.js";
import type { Sketch } from "./draw-downwards.js";
import { drawDownwards, edgeTo, withoutRepeats } from "./draw-downwards.js";
import { centralNode, recordNodeId } from "./lineage-nodes.js";
import type { Trace } from "./trace.js";
import type { Twig } from "./twigs.js";
import { parentLinks, proposedTwigs, restedOnTwigs, sameCheckTwigs, targetTwigs } from "./twigs.js";

/** A record amid what it rested on and what rests on it, each edge leading to what came of something. */
export function drawTrace(trace: Trace): Drawing {
  const center = centralNode(trace.record, trace.ledTo.proposed);
  const sources = restedOnTwigs(trace);
  const links = parentLinks(trace);
  const above: Sketch = {
    nodes: [center, ...[...sources, ...links.map(({ parent }) => parent)].map(({ node }) => node)],
    edges: [
      ...sources.map((twig) => edgeFrom(twig, center.id)),
      ...links.map(({ child, parent }) => edgeFrom(parent, recordNodeId(child.record_id))),
    ],
  };
  const beside = [...ledToTwigs(trace), ...sameCheckTwigs(trace)];
  const around: Sketch = {
    nodes: beside.map(({ node }) => node),
    edges: beside.map((twig) => edgeTo(center.id, twig)),
  };
  const sketch = withoutRepeats(above, around, drawDownwards(trace.ledTo.steps, center));
  return { ...sketch, roots: [center.id] };
}

const ledToTwigs = (trace: Trace): readonly Twig[] => [...targetTwigs(trace.record), ...proposedTwigs(trace)];

const edgeFrom = ({ node, kind, label }: Twig, to: string): DrawnEdge => ({
  from: node.id,
  to,
  ...(label !== undefined && { label }),
  kind,
});

/** The same as a tree with the record as its root; there it leads to what it rested on, too. */
export function drawTraceAsTree(trace: Trace): Drawing {
  const center = centralNode(trace.record, trace.ledTo.proposed);
  const below = drawDownwards(trace.ledTo.steps, center);
  const edges = below.edges.map((edge) => (edge.from === center.id ? { ...edge, from: ledTo.id } : edge));
  const links = parentLinks(trace);
  const sketch = withoutRepeats(
    { nodes: [center], edges: [] },
    grouped(center, restedOn, restedOnTwigs(trace).map(upwards)),
    {
      nodes: links.map(({ parent }) => parent.node),
      edges: links.map(({ child, parent }) => edgeTo(recordNodeId(child.record_id), upwards(parent))),
    },
    grouped(center, together, sameCheckTwigs(trace).map(upwards)),
    grouped(center, ledTo, ledToTwigs(trace), trace.ledTo.steps.length > 0),
    { nodes: below.nodes, edges },
  );
  return { ...sketch, roots: [center.id] };
}

const restedOn: DrawnNode = { id: "rested_on", name: "rested on", kind: "" };
const together: DrawnNode = { id: "same_check", name: "decided together with", kind: "" };
const ledTo: DrawnNode = { id: "led_to", name: "led to", kind: "" };

function grouped(center: DrawnNode, group: DrawnNode, twigs: readonly Twig[], hasMore = false): Sketch {
  if (twigs.length === 0 && !hasMore) return { nodes: [], edges: [] };
  return {
    nodes: [group, ...twigs.map(({ node }) => node)],
    edges: [{ from: center.id, to: group.id, label: "" }, ...twigs.map((twig) => edgeTo(group.id, twig))],
  };
}

/** Seen from what came of it. A thing says itself what it is. */
function upwards(twig: Twig): Twig {
  const isThing = twig.node.kind === "artifact";
  return { ...twig, label: twig.label ?? (isThing ? "" : (seenFromBelow[twig.kind] ?? "")) };
}

const seenFromBelow: Readonly<Record<string, string>> = {
  input_of: "artifact",
  child: "parent",
  result: "allowed by",
  cached_answer: "cached from",
};
