import type { Compared, ComparedPrecedent } from "../lineage/compared.js";
import type { Style, View } from "./format.js";
import { oneLine } from "./one-line.js";

/** A decision beside its precedents. */
export function comparedView(compared: Compared): View {
  const { precedents } = compared;
  return {
    value: compared,
    items: precedents,
    plain: () => precedents.map((each) => cells(each).map(oneLine).join("\t")).join("\n"),
    table: (style) => describe(compared, style),
  };
}

/** Similarity, outcome, whether it matched, record, number, time, what both have. */
const cells = (each: ComparedPrecedent): readonly string[] => [
  String(each.similarity),
  each.outcome,
  each.outcome_matched ? "matched" : "deviated",
  each.record_id,
  String(each.seq),
  each.timestamp,
  each.match_reason,
];

async function describe(compared: Compared, style: Style): Promise<string> {
  const { decision_id, record_id, outcome, entities, sources, precedents } = compared;
  const { paint } = style;
  const field = (name: string, text: string): string => `  ${paint("dim", name.padEnd(9))} ${oneLine(text)}`;
  const lines = [
    `${paint("bold", oneLine(outcome))}  ${paint("dim", oneLine(decision_id))}`,
    "",
    ...(record_id === undefined ? [] : [field("record", record_id)]),
    field("about", entities.map(({ type, id }) => `${type}:${id}`).join(", ") || "nothing"),
    field("reads", sources.join(", ") || "nothing"),
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
  const titles = ["similar", "outcome", "", "record"].map((title) => ({ title }));
  return [...lines, "", grid([...titles, { title: "why", flexible: true }], rows, style)].join("\n");
}
