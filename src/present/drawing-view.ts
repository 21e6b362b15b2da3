import { oneLine } from "./text.js";
import { drawTree } from "./draw-tree.js";
import { edgeText } from "./diagrams.js";
import type { View } from "./format.js";
import type { Impact } from "../lineage/draw-lineage.js";
import { drawTraceAsTree } from "../lineage/draw-lineage.js";
import type { DecisionSummary, ResultSummary } from "../lineage/record-summary.js";
import type { LineageStep, LineageTrace } from "../lineage/trace.js";
import type { Drawing } from "../model/drawing.js";

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

/** The lineage of a record, of which there is a drawing; as a table it is a tree of its own. */
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

/** Each record once, with the first step that led to it. */
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
