import type { CheckResult } from "../decide/check.js";
import { defaultLabel } from "../definition/branches.js";
import { isObject } from "../expression/equal.js";
import type { Json } from "../model/json.js";
import type { Result, RollDetails } from "../model/result.js";
import type { ConditionResult } from "../record/condition-results.js";
import { conditionResults, isRollDetails, takenLabels } from "../record/condition-results.js";
import { maskMarker } from "../record/mask.js";
import type { Style } from "./format.js";
import { fieldLine, headline } from "./format.js";
import { answerText } from "./answer-line.js";
import type { CheckOptions, ResultOptions, ScopeValues } from "./result-view.js";
import { readValueTexts } from "./record-text.js";
import { answerColour, answerDetail, fetchRows, precedentRows, resultRows } from "./result-rows.js";
import { truncateWords } from "./text-width.js";
import { formatCount, formatPercent, shareBar } from "./text.js";
import { oneLine } from "../text.js";

export async function describeResult(result: Result, options: ResultOptions, style: Style): Promise<string> {
  const { explain } = options;
  const { paint } = style;
  const answer = paint(answerColour(result), paint("bold", answerText(result)));
  const lines = [headline(answer, paint("dim", answerDetail(result)), style), ""];
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
    const answer = selected_labels.length === 0 ? "blocked" : selected_labels.join(", ");
    lines.push(field("followed", `${decision_id} (${answer})`, style));
  }
  if (result.dry_run) lines.push(field("dry run", "nothing was recorded", style));
  if (result.record_id !== undefined) {
    lines.push(field("record", `${result.record_id}${result.cached ? " (from the cache)" : ""}`, style));
  }
  if (explain) lines.push("", await explanationTables(result, options, style));
  return lines.join("\n");
}

export async function describeCheck(
  result: CheckResult,
  options: CheckOptions,
  style: Style,
): Promise<string> {
  const { explain } = options;
  const { paint } = style;
  const colour = result.allowed ? (result.outcome === "allowed" ? "green" : "yellow") : "red";
  const answer = paint(colour, paint("bold", result.outcome));
  const lines = [
    headline(answer, paint("dim", oneLine(result.reason)), style),
    "",
    field("tool", result.tool, style),
  ];
  const params = hideMasked(
    result.params,
    result.decisions.map((each) => each.params),
  );
  lines.push(field("params", JSON.stringify(params), style));
  for (const each of result.decisions) {
    const outcome = paint(answerColour(each), each.outcome);
    lines.push(fieldLine("decision", `${each.decision_id} ${outcome}`, style));
    const more = explain ? [...precedentRows(each), ...fetchRows(each.fetched)] : [];
    for (const { name, text } of [...resultRows(each), ...more]) {
      if (name !== "tool" && name !== "params") lines.push(field(name, text, style));
    }
    if (each.record_id !== undefined) lines.push(field("record", each.record_id, style));
  }
  if (explain) lines.push("", await decisionTables(result, options, style));
  return lines.join("\n");
}

/** Hides values that a decision masks. The caller needs the real params, so only people do not see them. */
function hideMasked(value: Json, shown: readonly (Json | undefined)[]): Json {
  const masked = shown.find((each) => typeof each === "string" && each.includes(maskMarker));
  if (masked !== undefined) return masked;
  if (Array.isArray(value))
    return value.map((item: Json, index) =>
      hideMasked(
        item,
        shown.map((each) => (Array.isArray(each) ? (each as Json[])[index] : undefined)),
      ),
    );
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      hideMasked(
        item,
        shown.map((each) => (isObject(each) ? each[key] : undefined)),
      ),
    ]),
  );
}

async function decisionTables(
  { decisions }: CheckResult,
  { valuesOf }: CheckOptions,
  style: Style,
): Promise<string> {
  const tables = await Promise.all(
    decisions.map((each) => explanationTables(each, valuesOf?.(each.decision_id) ?? {}, style)),
  );
  return tables.join("\n");
}

const field = (name: string, value: string, style: Style): string => fieldLine(name, oneLine(value), style);

const truncatedJson = (value: unknown, columns: number): string =>
  truncateWords(oneLine(JSON.stringify(value)), Math.max(20, columns));

async function explanationTables(result: Result, options: ConditionOptions, style: Style): Promise<string> {
  const conditions = await conditionTables(result, options, style);
  const tables = conditions ?? `  ${style.paint("dim", "no condition was evaluated")}`;
  return result.guardrails.length === 0 ? tables : `${tables}\n${await checkTable(result, style)}`;
}

async function checkTable({ guardrails }: Result, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const { paint } = style;
  const rows = guardrails.map(({ check_name, passed, message, on_fail = "block" }) => [
    oneLine(check_name),
    passed ? paint("green", "✓ passed") : paint(on_fail === "block" ? "red" : "yellow", `✗ ${on_fail}`),
    oneLine(message),
  ]);
  const columns = [{ title: "guardrail" }, { title: "result" }, { title: "message", flexible: true }];
  return grid(columns, rows, style);
}

interface ConditionOptions extends Pick<ResultOptions, "cases">, Partial<ScopeValues> {
  /** Absent: those in the details of the result. */
  readonly conditions?: readonly ConditionResult[];
}

/** Returns tables of the roll and of the conditions; undefined where there is neither. */
export async function conditionTables(
  result: Result,
  options: ConditionOptions,
  style: Style,
): Promise<string | undefined> {
  const details = result.evaluation_details;
  const parts = [
    ...(isRollDetails(details) ? [await rollTable(details, result.selected_labels, style)] : []),
    ...(await conditionTable(result, options, style)),
  ];
  return parts.length === 0 ? undefined : parts.join("\n");
}

async function conditionTable(
  result: Result,
  { conditions = conditionResults(result), cases = [], ...scopeValues }: ConditionOptions,
  style: Style,
): Promise<readonly string[]> {
  const { grid } = await import("./grid.js");
  const taken = takenLabels(result);
  const rows = conditions.map((each) => [
    caseCell(each.label, taken, style),
    conditionVerdict(each, style),
    oneLine(each.condition),
    oneLine(conditionDetail(each, scopeValues)),
  ]);
  const total = result.rules_total;
  const rest =
    total === undefined
      ? []
      : [`${formatCount(total - rows.length)} of ${formatCount(total)} rules did not match`];
  if (total === undefined) rows.push(...unevaluatedRows(cases, result.evaluation_details, style));
  if (isRoutingResult(result) && taken.has(defaultLabel))
    rows.push([caseCell(defaultLabel, taken, style), style.paint("green", "✓ taken"), "", noneMatched]);
  if (rows.length === 0) return rest;
  const columns = [
    { title: "  case", flexible: true },
    { title: "result" },
    { title: "condition", flexible: true },
    { title: "why", flexible: true },
  ];
  return [grid(columns, rows, style), ...rest];
}

const noneMatched = "no condition matched";

const isRoutingResult = ({ type }: Result): boolean =>
  type === "binary" || type === "switch" || type === "weighted" || type === "rule_table";

/** Marks the cases that led to the answer. */
function caseCell(label: string, taken: ReadonlySet<string>, { paint }: Style): string {
  return taken.has(label) ? paint("green", `→ ${oneLine(label)}`) : `  ${oneLine(label)}`;
}

function unevaluatedRows(
  cases: NonNullable<ResultOptions["cases"]>,
  details: object,
  { paint }: Style,
): readonly string[][] {
  const rest = cases.filter(({ label, condition }) => condition !== "" && !Object.hasOwn(details, label));
  return rest.map(({ label, condition }) => [
    `  ${oneLine(label)}`,
    paint("dim", "– not evaluated"),
    oneLine(condition),
    "an earlier case matched",
  ]);
}

function conditionVerdict({ result, error, values }: ConditionResult, { paint }: Style): string {
  if (error !== undefined && values === undefined) return paint("yellow", "! errored");
  return result ? paint("green", "✓ matched") : paint("dim", "✗ not matched");
}

/** Returns the error of a condition and the values it read; of a limit, how much of it was used. */
function conditionDetail(
  { label, condition, error, values }: ConditionResult,
  { readValues = () => ({ values: {} }), limits }: Partial<ScopeValues>,
): string {
  const limit = limits?.get(label);
  const read =
    values === undefined ? readValues(limit === undefined ? condition : (limit.of ?? "")) : { values };
  if (error !== undefined && values !== undefined) return error;
  const found = [...(limit === undefined ? [] : [limit.text]), ...readValueTexts(read)];
  // The error of a missing value names it.
  return (error === undefined ? found : [error, ...found.filter((text) => !text.endsWith(": missing"))]).join(
    ", ",
  );
}

/** Shows which part of the total weight each case has. */
async function rollTable(
  { weights, total_weight: total }: RollDetails,
  selected: readonly string[],
  style: Style,
): Promise<string> {
  const { grid } = await import("./grid.js");
  let from = 0;
  const rows = Object.entries(weights).map(([label, weight]) => {
    const range = `${from} – ${(from += weight)}`;
    const name = oneLine(label);
    const mark = selected.includes(label) ? style.paint("green", `✓ ${name}`) : `  ${name}`;
    return [mark, range, formatPercent(weight / total), shareBar(weight / total)];
  });
  const columns = ["  case", "range", "share", ""].map((title) => ({ title }));
  return grid(columns, rows, style);
}
