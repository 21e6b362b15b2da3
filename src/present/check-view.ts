import type { CheckResult } from "../decide/check.js";
import type { Style, View } from "./format.js";
import { fieldLine } from "./format.js";
import { answerColour, fetchRows, precedentRows, resultRows } from "./result-rows.js";
import { oneLine } from "./text.js";

export function checkView(result: CheckResult, { explain }: { readonly explain: boolean }): View {
  return {
    value: result,
    plain: () => [result.outcome, result.tool, result.reason].map(oneLine).join("\t"),
    table: (style) => describeCheck(result, explain, style),
  };
}

async function describeCheck(result: CheckResult, explain: boolean, style: Style): Promise<string> {
  const { paint } = style;
  const colour = result.allowed ? (result.outcome === "allowed" ? "green" : "yellow") : "red";
  const answer = paint(colour, paint("bold", result.outcome));
  const field = (name: string, text: string): string => fieldLine(name, oneLine(text), style);
  const lines = [`${answer}  ${paint("dim", oneLine(result.reason))}`, "", field("tool", result.tool)];
  lines.push(field("params", JSON.stringify(result.params)));
  for (const each of result.decisions) {
    const outcome = paint(answerColour(each), each.outcome);
    lines.push(fieldLine("decision", `${each.decision_id} ${outcome}`, style));
    const more = explain ? [...precedentRows(each), ...fetchRows(each.fetched)] : [];
    for (const { name, text } of [...resultRows(each), ...more]) {
      if (name !== "tool" && name !== "params") lines.push(field(name, text));
    }
    if (each.record_id !== undefined) lines.push(field("record", each.record_id));
  }
  if (explain) lines.push("", await conditionTables(result, style));
  return lines.join("\n");
}

async function conditionTables({ decisions }: CheckResult, style: Style): Promise<string> {
  const { checkTable, conditionTable } = await import("./result-view.js");
  const tables = await Promise.all(
    decisions.flatMap((each) => [
      conditionTable(each, style),
      ...(each.guardrails.length === 0 ? [] : [checkTable(each, style)]),
    ]),
  );
  return tables.join("\n");
}
