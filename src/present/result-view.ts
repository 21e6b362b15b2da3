import type { Style, View } from "./format.js";
import {
  fetchRows,
  answerColour,
  answerText,
  answerDetail,
  resultRows,
  precedentRows,
} from "./result-rows.js";
import { oneLine } from "./text.js";
import { ruleTracesOf } from "../evaluate/scored/rule-traces.js";
import type { EvaluatorDetail, Result, RollDetails } from "../model/result.js";
import type { ConditionResult } from "../record/condition-results.js";
import { isRollDetails } from "../record/condition-results.js";
import { printable } from "../text.js";

export interface ResultOptions {
  readonly explain: boolean;
  /** With the traces of the rules, where there are any. */
  readonly verbose?: boolean;
  /** Every case with its condition, so that those which were not asked are shown too. */
  readonly cases?: readonly { readonly label: string; readonly condition: string }[];
}

export function resultView(result: Result, options: ResultOptions): View {
  return {
    value: options.verbose ? withTraces(result) : result,
    plain: () => plainResult(result),
    table: (style) => describeResult(result, options, style),
  };
}

/** All that came of the rules, where they are traced. */
function withTraces(result: Result): Result {
  if (result.type !== "scored") return result;
  const details = result.evaluation_details as Readonly<Record<string, EvaluatorDetail>>;
  return { ...result, explainability: { ...result.explainability, rule_traces: ruleTracesOf(details) } };
}

/** The audit payload alone, for `replay --payload`. */
export function auditText(result: Result, indent?: number): string {
  return result.type === "scored" ? `${JSON.stringify(result.audit_payload, null, indent)}\n` : "";
}

export function plainResult(result: Result): string {
  const { decision_id, type, selected_labels, because } = result;
  return [answerText(result), selected_labels.join(", "), decision_id, type, because.join("; ")].join("\t");
}

async function describeResult(
  result: Result,
  { explain, cases = [] }: ResultOptions,
  style: Style,
): Promise<string> {
  const { paint } = style;
  const answer = paint(answerColour(result), paint("bold", answerText(result)));
  const lines = [`${answer}  ${paint("dim", answerDetail(result))}`, ""];
  const name = result.decision_name === undefined ? "" : ` (${result.decision_name})`;
  lines.push(
    field(
      "decision",
      `${result.decision_id}${name}${result.decision_version ? ` ${result.decision_version}` : ""}`,
      style,
    ),
  );
  lines.push(field("input", truncatedJson(result.input_value, style.columns - 12), style));
  for (const reason of result.because) lines.push(field("because", reason, style));
  const more = explain ? [...precedentRows(result), ...fetchRows(result.fetched)] : [];
  const rows = [...resultRows(result), ...more];
  for (const { name, text } of rows) lines.push(field(name, text, style));
  const others = (result.followed ?? []).filter(({ record_id, decision_id }) =>
    record_id === undefined ? decision_id !== result.decision_id : record_id !== result.record_id,
  );
  for (const { decision_id, selected_labels } of others) {
    const said = selected_labels.length === 0 ? "blocked" : selected_labels.join(", ");
    lines.push(field("followed", `${decision_id} (${said})`, style));
  }
  if (result.dry_run) lines.push(field("dry run", "nothing was kept", style));
  if (result.record_id !== undefined) {
    lines.push(field("record", `${result.record_id}${result.cached ? " (from the cache)" : ""}`, style));
  }
  if (explain) lines.push("", await explanationTables(result, cases, style));
  return lines.join("\n");
}

function field(name: string, value: string, { paint }: Style): string {
  return `  ${paint("dim", name.padEnd(9))} ${oneLine(value)}`;
}

function truncatedJson(value: unknown, length: number): string {
  const text = JSON.stringify(value);
  const most = Math.max(20, length);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

async function explanationTables(
  result: Result,
  cases: NonNullable<ResultOptions["cases"]>,
  style: Style,
): Promise<string> {
  const details = result.evaluation_details;
  const shown = isRollDetails(details)
    ? await rollTable(details, result, style)
    : await conditionTable(result, style, cases);
  return result.guardrails.length === 0 ? shown : `${shown}\n${await checkTable(result, style)}`;
}

/** What came of every guardrail. */
export async function checkTable({ guardrails }: Result, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const { paint } = style;
  const rows = guardrails.map(({ check_name, passed, message, on_fail = "block" }) => [
    check_name,
    passed ? paint("green", "✓ passed") : paint(on_fail === "block" ? "red" : "yellow", `✗ ${on_fail}`),
    printable(message),
  ]);
  const columns = [{ title: "guardrail" }, { title: "result" }, { title: "what", flexible: true as const }];
  return grid(columns, rows, style);
}

/** What came of every condition. */
export async function conditionTable(
  result: Result,
  style: Style,
  cases: NonNullable<ResultOptions["cases"]> = [],
): Promise<string> {
  const { grid } = await import("./grid.js");
  const { conditionResults: knownConditions } = await import("../record/condition-results.js");
  const rows = knownConditions(result).map((known) => [
    known.label,
    conditionVerdict(known, style),
    printable(known.condition),
    printable(conditionDetail(known)),
  ]);
  const total = result.rules_total;
  if (total === undefined) rows.push(...unevaluatedRows(cases, result.evaluation_details, style));
  const rest = total === undefined ? "" : `${total - rows.length} of ${total} rules did not match`;
  if (rows.length === 0) return `  ${style.paint("dim", rest || "no condition was evaluated")}`;
  const titles = [{ title: "case" }, { title: "result" }];
  const columns = [
    ...titles,
    { title: "condition", flexible: true as const },
    { title: "why", flexible: true as const },
  ];
  return grid(columns, rows, style) + (rest === "" ? "" : `\n${rest}`);
}

function unevaluatedRows(
  cases: NonNullable<ResultOptions["cases"]>,
  details: object,
  { paint }: Style,
): readonly string[][] {
  const left = cases.filter(({ label }) => !Object.hasOwn(details, label));
  return left.map(({ label, condition }) => [label, paint("dim", "– not asked"), printable(condition), ""]);
}

function conditionVerdict({ result, error, values }: ConditionResult, { paint }: Style): string {
  if (error !== undefined && values === undefined) return paint("yellow", "! errored");
  return result ? paint("green", "✓ matched") : paint("dim", "✗ not matched");
}

/** Why there was no answer, or what was read. */
function conditionDetail({ error, values = {} }: ConditionResult): string {
  return (
    error ??
    Object.entries(values)
      .map(([path, value]) => `${path} = ${JSON.stringify(value)}`)
      .join(", ")
  );
}

async function rollTable(details: RollDetails, result: Result, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  let from = 0;
  const rows = Object.entries(details.weights).map(([label, weight]) => {
    const share = weight / details.total_weight;
    const range = `${from} – ${(from += weight)}`;
    const chosen = result.selected_labels.includes(label);
    return [
      chosen ? style.paint("green", `✓ ${label}`) : `  ${label}`,
      range,
      `${(share * 100).toFixed(1)} %`,
      shareBar(share),
    ];
  });
  const columns = [{ title: "  case" }, { title: "takes" }, { title: "share" }, { title: "" }];
  return grid(columns, rows, style);
}

export function shareBar(share: number, width = 24): string {
  // A damaged record may hold any shares.
  const filled = Math.min(width, Math.max(0, Math.round(share * width)));
  return "█".repeat(filled) + "░".repeat(width - filled);
}
