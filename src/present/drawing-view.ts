import { drawTraceAsTree } from "../lineage/draw-lineage.js";
import type { DecisionSummary, ResultSummary } from "../lineage/record-summary.js";
import type { Impact, LineageStep, LineageTrace } from "../lineage/trace.js";
import type { Drawing } from "../model/drawing.js";
import { edgeText } from "./diagrams.js";
import type { View } from "./format.js";
import { drawTree } from "./tree.js";
import { oneLine } from "../text.js";

/** Shows a drawing. Its table is a tree. */
export function drawingView(drawing: Drawing): View {
  const { nodes, edges } = drawing;
  return {
    value: { nodes, edges },
    plain: () => plainLines(drawing).join("\n"),
    table: (style) => drawTree(drawing, style),
  };
}

/** Writes one line per edge, and one per node without edges. */
function plainLines({ nodes, edges }: Drawing): readonly string[] {
  const connected = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const isolated = nodes.filter(({ id }) => !connected.has(id)).map(({ id }) => [id]);
  const rows = edges.map((edge) => [edge.from, edgeText(edge), edge.to, edge.kind ?? ""]);
  return [...rows, ...isolated].map((row) => row.map(oneLine).join("\t"));
}

/** Shows the lineage of a record. Its table is a tree of the trace instead of the drawing. */
export function traceView(trace: LineageTrace, { nodes, edges, roots }: Drawing): View {
  const { record, restedOn, ledTo, sameCheck, complete } = trace;
  const { record_id, ...summary } = record;
  return {
    ...drawingView({ nodes, edges, roots }),
    value: {
      record_id,
      ...summary,
      rested_on: restedOn,
      led_to: { branches: ledTo.branches, proposed: ledTo.proposed, ...reachedBy(ledTo.steps) },
      same_check: sameCheck,
      complete,
      nodes,
      edges,
    },
    table: (style) => drawTree(drawTraceAsTree(trace), style),
  };
}

export function impactView({ artifact, complete, steps }: Impact, drawing: Drawing): View {
  const { nodes, edges } = drawing;
  const { decisions, tool_results } = reachedBy(steps);
  const targets = [...new Set(decisions.flatMap(({ selected_targets }) => selected_targets))];
  return {
    ...drawingView(drawing),
    value: { artifact, decisions, tool_results, targets, complete, nodes, edges },
  };
}

type Reached<T> = T & Pick<LineageStep, "relation" | "from">;

interface ReachedRecords {
  readonly decisions: readonly Reached<DecisionSummary>[];
  readonly tool_results: readonly Reached<ResultSummary>[];
}

/** Returns each record once, with the first step that reached it. */
function reachedBy(steps: readonly LineageStep[]): ReachedRecords {
  const decisions = new Map<string, Reached<DecisionSummary>>();
  const results = new Map<string, Reached<ResultSummary>>();
  for (const { relation, from, record } of steps) {
    const id = record.record_id;
    if (record.kind === "decision") {
      if (!decisions.has(id)) decisions.set(id, { relation, from, ...record });
    } else if (!results.has(id)) results.set(id, { relation, from, ...record });
  }
  return { decisions: [...decisions.values()], tool_results: [...results.values()] };
}
