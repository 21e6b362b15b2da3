import type { Deviation } from "../model/assessment.js";
import type { AssessmentRecord, DecisionRecord, NoteRecord, ToolResultRecord } from "../model/record.js";
import { conditionResults } from "../record/condition-results.js";
import type { ExplainedCall } from "../record/explain-call.js";
import type { ExplainedCondition, ExplainedConditions, Explanation } from "../record/explain.js";
import type { RecordedValues } from "../record/recorded-values.js";
import { sanitizeRecord } from "../record/sanitize-record.js";
import { hasShape, isText, validItems } from "../record/well-formed.js";
import type { Style, View } from "./format.js";
import { fieldLine, hangingText, headline } from "./format.js";
import { policyTree } from "./policy-tree.js";
import type { RecordRow } from "./record-text.js";
import {
  cachedText,
  decisionText,
  definitionText,
  guardrailCheckText,
  identityRows,
  lineageRows,
  noteSentence,
  passedGuardrailRows,
  provenanceRows,
  readValueTexts,
  toolResultSentence,
  verboseRows,
} from "./record-text.js";
import { answerColour, answerDetail, fetchRows, resultRows } from "./result-rows.js";
import { conditionTables } from "./result-tables.js";
import { truncateWords } from "./text-width.js";
import { formatCount } from "./text.js";
import { drawBranches, withFullValues } from "./tree.js";
import { oneLine } from "../text.js";

export interface ExplainedRecord {
  readonly record: DecisionRecord;
  readonly explanation: Explanation;
  /** False if the record was changed after it was written. */
  readonly intact: boolean;
  /** Every condition, for a verbose explanation. */
  readonly all?: ExplainedConditions | undefined;
  /** The policies of a tool call. */
  readonly call?: ExplainedCall | undefined;
}

export function explainView(explained: ExplainedRecord): View {
  const { record, explanation, all } = explained;
  const sanitized = { ...explained, record: sanitizeRecord(record) };
  const answer: RecordRow = { name: "answer", text: explanation.answer, under: record.selected_labels };
  return {
    value: explainedDocument(explained),
    plain: () => plainRows([answer, ...rowsOf(sanitized), ...(all === undefined ? [] : conditionRows(all))]),
    table: (style) => describeExplanation(sanitized, style),
  };
}

/** Returns the record with an added `explanation`. */
export const explainedDocument = ({ record, explanation, intact, all }: ExplainedRecord): object => ({
  ...record,
  explanation: { ...explanation, ...all, intact },
});

export function noteView(record: NoteRecord, intact: boolean): View {
  const details = { name: "details", text: JSON.stringify(record.details) };
  return sentenceView(record, noteSentence(record), [...identityRows(record, intact), details], intact);
}

export function toolResultView(record: ToolResultRecord, intact: boolean): View {
  const decisions = record.decision_records.map((text) => ({ name: "allowed by", text }));
  const { params_digest: digest, value } = record;
  const reported = [
    ...(typeof digest === "string" ? [{ name: "params", text: `SHA-256 ${digest}` }] : []),
    ...(value === undefined ? [] : [{ name: "value", text: JSON.stringify(value) }]),
  ];
  const rows = [...identityRows(record, intact), ...provenanceRows(record), ...decisions, ...reported];
  return sentenceView(record, toolResultSentence(record), rows, intact);
}

export function assessmentRecordView(record: AssessmentRecord, intact: boolean): View {
  const rows = [
    ...identityRows(record, intact),
    ...provenanceRows(record),
    { name: "observer", text: record.observer },
    { name: "severity", text: record.severity },
    ...deviationRows(record),
    ...record.suggestions.map((text) => ({ name: "suggestion", text })),
  ];
  return sentenceView(record, record.summary, rows, intact);
}

/** A damaged record may contain anything. */
const isDeviation = hasShape<Deviation>({
  record_id: isText,
  precedent_id: isText,
  decision_id: isText,
  deviation_type: isText,
  explanation: isText,
});

function deviationRows({ deviations, deviations_omitted: omitted }: AssessmentRecord): readonly RecordRow[] {
  const rows = validItems(deviations, isDeviation).map((each) => ({
    name: "deviation",
    text: `${each.decision_id}, ${each.deviation_type.replace("_", " ")}: ${each.explanation}`,
    under: [`record ${each.record_id}`, `precedent ${each.precedent_id}`],
  }));
  return omitted === undefined
    ? rows
    : [...rows, { name: "deviation", text: `and ${formatCount(omitted)} more` }];
}

function sentenceView(
  record: NoteRecord | ToolResultRecord | AssessmentRecord,
  sentence: string,
  rows: readonly RecordRow[],
  intact: boolean,
): View {
  return {
    value: { ...record, explanation: { answer: sentence, because: [], failed: [], intact } },
    plain: () => plainRows([{ name: "answer", text: sentence }, ...rows]),
    table: (style) => [style.paint("bold", oneLine(sentence)), "", ...tableRows(rows, style)].join("\n"),
  };
}

function plainRows(rows: readonly RecordRow[]): string {
  return rows.map(({ name, text, under = [] }) => [name, text, ...under].map(oneLine).join("\t")).join("\n");
}

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
      under: ["not evaluated", condition],
    })),
  ];
}

async function describeExplanation(explained: ExplainedRecord, style: Style): Promise<string> {
  const { record, explanation, all, call } = explained;
  const { paint } = style;
  if (record.type === "policy" && call !== undefined)
    return describeCall({ ...explained, record, call }, style);
  const answer = paint(answerColour(record), paint("bold", oneLine(explanation.answer)));
  const lines = [headline(answer, paint("dim", oneLine(answerDetail(record))), style), ""];
  const rows = rowsOf(explained);
  if (all === undefined) return [...lines, ...tableRows(shortened(rows, style), style)].join("\n");
  const tables = await recordedTables(record, all, style);
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
  return [drawBranches(withFullValues(tree), style), "", ...tableRows(rows, style)].join("\n");
}

/** A verbose explanation shows failed conditions in its tables. */
const isNotFailedRow = ({ name }: RecordRow): boolean => name !== "failed";

const nameWidth = 13;

function tableRows(rows: readonly RecordRow[], style: Style): readonly string[] {
  return rows.flatMap(({ name, text, under = [] }) => [
    fieldLine(name, oneLine(text), style, nameWidth),
    ...under.map((each) => underLine(each, style)),
  ]);
}

function underLine(text: string, style: Style): string {
  const indent = nameWidth + 5;
  return " ".repeat(indent) + hangingText(oneLine(text), style, { start: indent, indent });
}

const maxFailedRows = 10;

/** Keeps the first failed conditions and truncates long values. */
function shortened(rows: readonly RecordRow[], { columns }: Style): readonly RecordRow[] {
  const failed = rows.filter((row) => !isNotFailedRow(row));
  const left = failed.length - maxFailedRows;
  const last = failed[maxFailedRows - 1];
  return rows
    .filter((row) => !failed.slice(maxFailedRows).includes(row))
    .map((row) => {
      const text =
        row.name === "input" ? truncateWords(oneLine(row.text), columns - nameWidth - 3) : row.text;
      const under = (row.under ?? []).map((each) => truncateWords(oneLine(each), columns - nameWidth - 5));
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

/** Returns the tables that `evaluate --explain` has, from the record; undefined where there are none. */
function recordedTables(
  record: DecisionRecord,
  { conditions, not_asked: cases }: ExplainedConditions,
  style: Style,
): Promise<string | undefined> {
  const recorded = conditionResults(record);
  const known = new Map(conditions.map((each) => [each.condition, withoutError(each)]));
  const options = {
    cases,
    conditions:
      recorded.length > 0
        ? recorded
        : conditions.map(({ label, condition, result }) => ({ label, condition, result })),
    readValues: (condition: string): RecordedValues => known.get(condition) ?? { values: {} },
  };
  return conditionTables(record, options, style);
}

const withoutError = ({ values, missing = [], not_recorded = [] }: ExplainedCondition): RecordedValues => ({
  values,
  missing,
  not_recorded,
});
