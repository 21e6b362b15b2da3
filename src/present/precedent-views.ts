import type { Assessment, Deviation } from "../lineage/deviations.js";
import type { ComparedPrecedent, PrecedentComparison } from "../lineage/precedents.js";
import type { Style, View } from "./format.js";
import { fieldLine, hangingText } from "./format.js";
import { oneLine } from "../text.js";

/** Compares a decision with its precedents. */
export function comparisonView(compared: PrecedentComparison): View {
  const { precedents } = compared;
  return {
    value: compared,
    items: precedents,
    plain: () => precedents.map((each) => precedentCells(each).map(oneLine).join("\t")).join("\n"),
    table: (style) => describeComparison(compared, style),
  };
}

/** Similarity, outcome, whether it matched, record, sequence number, time, match reason. */
const precedentCells = (each: ComparedPrecedent): readonly string[] => [
  String(each.similarity),
  each.outcome,
  each.outcome_matched ? "matched" : "deviated",
  each.record_id,
  String(each.seq),
  each.timestamp,
  each.match_reason,
];

async function describeComparison(compared: PrecedentComparison, style: Style): Promise<string> {
  const { decision_id, record_id, tool, outcome, entities, sources, param_names, precedents } = compared;
  const { paint } = style;
  const field = (name: string, text: string): string => fieldLine(name, oneLine(text), style);
  const lines = [
    `${paint("bold", oneLine(outcome))}  ${paint("dim", oneLine(decision_id))}`,
    "",
    ...(record_id === undefined ? [] : [field("record", record_id)]),
    ...(tool === undefined ? [] : [field("tool", tool)]),
    field("entities", entities.map(({ type, id }) => `${type}:${id}`).join(", ") || "none"),
    field("sources", sources.join(", ") || "none"),
    ...(tool === undefined ? [] : [field("params", param_names.join(", ") || "none")]),
  ];
  if (precedents.length === 0) return lines.join("\n");
  const { grid } = await import("./grid.js");
  const rows = precedents.map((each) => [
    each.similarity.toFixed(2),
    oneLine(each.outcome),
    each.outcome_matched ? paint("green", "✓ matched") : paint("yellow", "✗ deviated"),
    each.record_id,
    oneLine(each.match_reason),
  ]);
  const titles = ["similarity", "outcome", "", "record"].map((title) => ({ title }));
  return [...lines, "", grid([...titles, { title: "why", flexible: true }], rows, style)].join("\n");
}

/** Reports how far decisions deviate from precedents. */
export function assessmentView(assessment: Assessment): View {
  return {
    value: assessment,
    plain: () => [summaryLine(assessment), ...assessment.deviations.map(deviationLine)].join("\n"),
    table: (style) => describeAssessment(assessment, style),
  };
}

const summaryLine = ({ severity, summary }: Assessment): string => `${severity}\t${summary}`;

const deviationLine = (each: Deviation): string =>
  [each.deviation_type, each.record_id, each.precedent_id, each.decision_id, each.explanation]
    .map(oneLine)
    .join("\t");

/** Shows each decision once, and below it each difference with the precedents that it is a difference from. */
function describeAssessment(
  { severity, summary, suggestions, deviations }: Assessment,
  style: Style,
): string {
  const { paint } = style;
  const colour = severity === "caution" ? "yellow" : "green";
  const lines = [`${paint(colour, paint("bold", severity))}  ${summary}`];
  for (const ofRecord of groupsOf(deviations, ({ record_id }) => record_id)) {
    const [{ record_id, decision_id }] = ofRecord;
    lines.push("", `  ${record_id}  ${oneLine(decision_id)}`);
    for (const same of groupsOf(
      ofRecord,
      ({ deviation_type: type, explanation }) => `${type} ${explanation}`,
    )) {
      const [{ deviation_type, explanation }] = same;
      const typeColour = deviation_type === "outcome_differs" ? "yellow" : "cyan";
      const type = deviation_type.replace("_", " ");
      const text = hangingText(oneLine(explanation), style, { start: type.length + 4, indent: 4 });
      lines.push(
        `  ${paint(typeColour, type)}: ${text}`,
        ...same.map(({ precedent_id: id }) => `    ${paint("dim", "precedent")} ${id}`),
      );
    }
  }
  if (suggestions.length > 0) lines.push("", ...suggestions.map((each) => `  → ${each}`));
  return lines.join("\n");
}

type Group<Item> = readonly [Item, ...Item[]];

/** Returns the items with equal keys together, in the order of the first of each. */
function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Group<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
