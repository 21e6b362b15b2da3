import { drawBranches, uncut } from "./branches.js";
import type { Style, View } from "./format.js";
import { policyTree } from "./policy-tree.js";
import type { RecordRow } from "./record-text.js";
import {
  cachedText,
  guardrailCheckText,
  decisionText,
  definitionText,
  verboseRows,
  identityRows,
  lineageRows,
  passedGuardrailRows,
  provenanceRows,
  noteSentence,
  readValueTexts,
  toolResultSentence,
} from "./record-text.js";
import { fetchRows, answerColour, answerDetail, resultRows } from "./result-rows.js";
import { shareBar } from "./result-view.js";
import { truncate } from "./text-width.js";
import { formatCount, oneLine } from "./text.js";
import type { DecisionRecord, NoteRecord, ToolResultRecord } from "../model/record.js";
import type { RollDetails } from "../model/result.js";
import { isRollDetails } from "../record/condition-results.js";
import type { ExplainedCall } from "../record/explain-call.js";
import type { ExplainedCondition, ExplainedConditions, Explanation } from "../record/explain.js";
import { sanitizeRecord } from "../record/sanitize-record.js";
import { printable } from "../text.js";

export interface ExplainedRecord {
  readonly record: DecisionRecord;
  readonly explanation: Explanation;
  /** Whether the record's line is what was written. */
  readonly intact: boolean;
  /** Every condition, where all that there is to know is wanted. */
  readonly all?: ExplainedConditions | undefined;
  /** What policies made of a call, where it is about one. */
  readonly call?: ExplainedCall | undefined;
}

export function explainView(given: ExplainedRecord): View {
  const { record, explanation, all } = given;
  const explained = { ...given, record: sanitizeRecord(record) };
  const answer: RecordRow = { name: "answer", text: explanation.answer, under: record.selected_labels };
  return {
    value: explainedDocument(given),
    plain: () => plainRows([answer, ...rowsOf(explained), ...(all === undefined ? [] : conditionRows(all))]),
    table: (style) => describeExplanation(explained, style),
  };
}

/** The record as it is, with the explanation beside what it explains. */
export const explainedDocument = ({ record, explanation, intact, all }: ExplainedRecord): object => ({
  ...record,
  explanation: { ...explanation, ...all, intact },
});

/** What happened to the log explains itself. */
export function noteView(record: NoteRecord, intact: boolean): View {
  const details = { name: "details", text: JSON.stringify(record.details) };
  return sentenceView(record, noteSentence(record), [...identityRows(record, intact), details], intact);
}

/** How a call went, and which decisions had allowed it. */
export function toolResultView(record: ToolResultRecord, intact: boolean): View {
  const decisions = record.decision_records.map((text) => ({ name: "allowed by", text }));
  const rows = [...identityRows(record, intact), ...provenanceRows(record), ...decisions];
  return sentenceView(record, toolResultSentence(record), rows, intact);
}

function sentenceView(
  record: NoteRecord | ToolResultRecord,
  sentence: string,
  rows: readonly RecordRow[],
  intact: boolean,
): View {
  return {
    value: { ...record, explanation: { answer: sentence, because: [], failed: [], intact } },
    plain: () => plainRows([{ name: "answer", text: sentence }, ...rows]),
    table: (style) => [style.paint("bold", printable(sentence)), "", ...tableRows(rows, style)].join("\n"),
  };
}

function plainRows(rows: readonly RecordRow[]): string {
  return rows.map(({ name, text, under = [] }) => [name, text, ...under].map(oneLine).join("\t")).join("\n");
}

/** What the tables show of every condition. */
function conditionRows({ conditions, not_asked }: ExplainedConditions): readonly RecordRow[] {
  const verdict = ({ result, error }: ExplainedCondition): string =>
    error !== undefined ? "errored" : result ? "matched" : "not matched";
  return [
    ...conditions.map((each) => ({
      name: "condition",
      text: each.label,
      under: [verdict(each), each.condition, ...readValueTexts(each)],
    })),
    ...not_asked.map(({ label, condition }) => ({
      name: "condition",
      text: label,
      under: ["not asked", condition],
    })),
  ];
}

async function describeExplanation(explained: ExplainedRecord, style: Style): Promise<string> {
  const { record, explanation, all, call } = explained;
  const { paint } = style;
  if (record.type === "policy" && call !== undefined)
    return describeCall({ ...explained, record, call }, style);
  const answer = paint(answerColour(record), paint("bold", oneLine(explanation.answer)));
  const lines = [`${answer}  ${paint("dim", oneLine(answerDetail(record)))}`, ""];
  const rows = rowsOf(explained);
  if (all === undefined) return [...lines, ...tableRows(shortened(rows, style), style)].join("\n");
  const tables = await conditionTables(record, all, style);
  lines.push(...tableRows(rows.filter(isNotFailedRow), style), ...(tables === undefined ? [] : ["", tables]));
  return lines.join("\n");
}

type ExplainedPolicyRecord = ExplainedRecord & Pick<Parameters<typeof policyTree>[0], "record" | "call">;

function describeCall(explained: ExplainedPolicyRecord, style: Style): string {
  const { record, intact, all } = explained;
  const verbose = all !== undefined;
  const tree = policyTree({ ...explained, verbose });
  if (!verbose) return drawBranches(tree, style);
  const rows = [inputRow(record), ...verboseRows(record, intact)];
  return [drawBranches(uncut(tree), style), "", ...tableRows(rows, style)].join("\n");
}

/** The tables have these too. */
const isNotFailedRow = ({ name }: RecordRow): boolean => name !== "failed";

const nameWidth = 13;

function tableRows(rows: readonly RecordRow[], { paint }: Style): readonly string[] {
  return rows.flatMap(({ name, text, under = [] }) => [
    `  ${paint("dim", name.padEnd(nameWidth))} ${oneLine(text)}`,
    ...under.map((each) => `${" ".repeat(nameWidth + 5)}${oneLine(each)}`),
  ]);
}

const maxFailedRows = 10;

/** For one glance: a few of the conditions, and of long values the beginning. */
function shortened(rows: readonly RecordRow[], { columns }: Style): readonly RecordRow[] {
  const failed = rows.filter((row) => !isNotFailedRow(row));
  const left = failed.length - maxFailedRows;
  const last = failed[maxFailedRows - 1];
  return rows
    .filter((row) => !failed.slice(maxFailedRows).includes(row))
    .map((row) => {
      const text = row.name === "input" ? truncate(oneLine(row.text), columns - nameWidth - 3) : row.text;
      const under = (row.under ?? []).map((each) => truncate(oneLine(each), columns - nameWidth - 5));
      const more =
        row === last && left > 0 ? [`and ${formatCount(left)} more; --verbose shows them all`] : [];
      return { ...row, text, under: [...under, ...more] };
    });
}

function rowsOf({ record, explanation, intact, all }: ExplainedRecord): readonly RecordRow[] {
  const { because, failed } = explanation;
  const warnings = all !== undefined || failed.length === 0 ? record.warnings : [];
  return [
    { name: "decision", text: decisionText(record) },
    ...identityRows(record, intact),
    ...provenanceRows(record),
    inputRow(record),
    ...because.map((text) => ({ name: "because", text })),
    ...resultRows(record),
    ...(all === undefined ? passedGuardrailRows(record) : []),
    ...lineageRows(record),
    ...fetchRows(record.facts["fetched"]),
    ...failed.map(failedRow),
    ...warnings.map((text) => ({ name: "warning", text })),
    { name: "cached", text: cachedText(record) },
    { name: "definition", text: definitionText(explanation, all === undefined) },
    ...(all === undefined ? [] : [...guardrailRows(record), ...verboseRows(record, intact)]),
  ];
}

function inputRow({ context, input_value: input }: DecisionRecord): RecordRow {
  return { name: "input", text: context === undefined ? "not recorded" : JSON.stringify(input ?? null) };
}

const guardrailRows = ({ guardrails }: DecisionRecord): readonly RecordRow[] =>
  guardrails.map((check) => ({ name: "guardrail", text: guardrailCheckText(check) }));

function failedRow(condition: ExplainedCondition): RecordRow {
  const { label, condition: text } = condition;
  return {
    name: "failed",
    text: label === "" ? text : `${label}: ${text}`,
    under: readValueTexts(condition),
  };
}

/** What came of every condition, and of the roll where there was one; undefined where there was neither. */
async function conditionTables(
  record: DecisionRecord,
  all: ExplainedConditions,
  style: Style,
): Promise<string | undefined> {
  const { grid } = await import("./grid.js");
  const details = record.evaluation_details;
  const parts: string[] = [];
  if (isRollDetails(details)) {
    const columns = ["  case", "takes", "share", ""].map((title) => ({ title }));
    parts.push(grid(columns, rollRows(details, record, style), style), `  rolled ${details.roll}`);
  }
  const rows = conditionCells(all, style);
  const columns = [
    { title: "case" },
    { title: "result" },
    { title: "condition", flexible: true as const },
    { title: "read", flexible: true as const },
  ];
  if (rows.length > 0) parts.push(grid(columns, rows, style));
  if (record.rules_total !== undefined) {
    parts.push(
      `${formatCount(record.rules_total - rows.length)} of ${formatCount(record.rules_total)} rules did not match`,
    );
  }
  return parts.length === 0 ? undefined : parts.join("\n");
}

function conditionCells({ conditions, not_asked }: ExplainedConditions, style: Style): readonly string[][] {
  const asked = conditions.map((each) => [
    oneLine(each.label),
    conditionVerdict(each, style),
    oneLine(each.condition),
    readValueTexts(each).map(oneLine).join(", "),
  ]);
  const others = not_asked.map(({ label, condition }) => [
    oneLine(label),
    style.paint("dim", "– not asked"),
    oneLine(condition),
    "",
  ]);
  return [...asked, ...others];
}

function conditionVerdict({ result, error }: ExplainedCondition, { paint }: Style): string {
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
    return [shown, takes, `${(share * 100).toFixed(1)} %`, shareBar(share)];
  });
}
