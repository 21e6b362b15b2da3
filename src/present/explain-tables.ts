import type { DecisionRecord } from "../model/record.js";
import type { RollDetails } from "../model/result.js";
import type { ExplainedCondition, ExplainedConditions } from "../record/explain.js";
import { count } from "./amounts.js";
import type { Style } from "./format.js";
import { oneLine } from "./one-line.js";
import { readingTexts } from "./record-text.js";
import { isRoll } from "../record/roll.js";
import { bar } from "./result-view.js";

/** What came of every condition, and of the roll where there was one; undefined where there was neither. */
export async function explainTables(
  record: DecisionRecord,
  all: ExplainedConditions,
  style: Style,
): Promise<string | undefined> {
  const { grid } = await import("./grid.js");
  const details = record.evaluation_details;
  const parts: string[] = [];
  if (isRoll(details)) {
    const columns = ["  case", "takes", "share", ""].map((title) => ({ title }));
    parts.push(grid(columns, rollRows(details, record, style), style), `  rolled ${details.roll}`);
  }
  const rows = conditionRows(all, style);
  const columns = [
    { title: "case" },
    { title: "result" },
    { title: "condition", flexible: true as const },
    { title: "read", flexible: true as const },
  ];
  if (rows.length > 0) parts.push(grid(columns, rows, style));
  if (record.rules_total !== undefined) {
    parts.push(
      `${count(record.rules_total - rows.length)} of ${count(record.rules_total)} rules did not match`,
    );
  }
  return parts.length === 0 ? undefined : parts.join("\n");
}

function conditionRows({ conditions, not_asked }: ExplainedConditions, style: Style): readonly string[][] {
  const asked = conditions.map((each) => [
    oneLine(each.label),
    verdict(each, style),
    oneLine(each.condition),
    readingTexts(each).map(oneLine).join(", "),
  ]);
  const others = not_asked.map(({ label, condition }) => [
    oneLine(label),
    style.paint("dim", "– not asked"),
    oneLine(condition),
    "",
  ]);
  return [...asked, ...others];
}

function verdict({ result, error }: ExplainedCondition, { paint }: Style): string {
  if (error !== undefined) return paint("yellow", "! errored");
  return result ? paint("green", "✓ matched") : paint("dim", "✗ not matched");
}

function rollRows(details: RollDetails, record: DecisionRecord, { paint }: Style): readonly string[][] {
  let from = 0;
  return Object.entries(details.weights).map(([label, weight]) => {
    const share = weight / details.total_weight;
    const takes = `${from} – ${(from += weight)}`;
    const name = oneLine(label);
    const shown = record.selected_labels.includes(label) ? paint("green", `✓ ${name}`) : `  ${name}`;
    return [shown, takes, `${(share * 100).toFixed(1)} %`, bar(share)];
  });
}
