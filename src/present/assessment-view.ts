import type { Assessment, Deviation } from "../lineage/deviations.js";
import type { Style, View } from "./format.js";
import { oneLine } from "./one-line.js";

/** How well decisions kept to precedent. */
export function assessmentView(assessment: Assessment): View {
  return {
    value: assessment,
    plain: () => [summaryLine(assessment), ...assessment.deviations.map(plainLine)].join("\n"),
    table: (style) => describe(assessment, style),
  };
}

const summaryLine = ({ severity, summary }: Assessment): string => `${severity}\t${summary}`;

const plainLine = (each: Deviation): string =>
  [each.deviation_type, each.record_id, each.precedent_id, each.decision_id, each.explanation]
    .map(oneLine)
    .join("\t");

/** Two ids and a reason are too much for one line. */
function describe({ severity, summary, suggestions, deviations }: Assessment, { paint }: Style): string {
  const colour = severity === "caution" ? "yellow" : "green";
  const lines = [`${paint(colour, paint("bold", severity))}  ${summary}`];
  for (const { record_id, precedent_id, decision_id, deviation_type, explanation } of deviations) {
    const what = deviation_type.replace("_", " ");
    lines.push(
      "",
      `  ${record_id}  ${oneLine(decision_id)}  ${paint(deviation_type === "outcome_differs" ? "yellow" : "cyan", what)}`,
      `  ${paint("dim", "from")} ${precedent_id}`,
      `  ${oneLine(explanation)}`,
    );
  }
  if (suggestions.length > 0) lines.push("", ...suggestions.map((each) => `  → ${each}`));
  return lines.join("\n");
}
