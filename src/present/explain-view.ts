import type { DecisionRecord, NoteRecord, ToolResultRecord } from "../model/record.js";
import { printable } from "../printable.js";
import type { ExplainedCondition, ExplainedConditions, Explanation } from "../record/explain.js";
import type { ExplainedCall } from "../record/explain-call.js";
import { soundRecord } from "../record/sound-record.js";
import { count } from "./amounts.js";
import { drawBranches, uncut } from "./branches.js";
import { explainTables } from "./explain-tables.js";
import { fetchedRows } from "./fetched-rows.js";
import type { Style, View } from "./format.js";
import { answerColour, besideAnswer, outcomeRows } from "./outcome-rows.js";
import { oneLine } from "./one-line.js";
import { policyTree } from "./policy-tree.js";
import type { Row } from "./record-rows.js";
import {
  cachedText,
  checkText,
  decisionText,
  definitionText,
  everythingElse,
  identityOf,
  lineageRows,
  passedRows,
  provenanceOf,
} from "./record-rows.js";
import { noteSentence, readingTexts, toolResultSentence } from "./record-text.js";
import { cut } from "./text-width.js";

export interface Explained {
  readonly record: DecisionRecord;
  readonly explanation: Explanation;
  /** Whether the record's line is what was written. */
  readonly intact: boolean;
  /** Every condition, where all that there is to know is wanted. */
  readonly all?: ExplainedConditions | undefined;
  /** What policies made of a call, where it is about one. */
  readonly call?: ExplainedCall | undefined;
}

export function explainView(given: Explained): View {
  const { record, explanation, all } = given;
  const explained = { ...given, record: soundRecord(record) };
  const answer: Row = { name: "answer", text: explanation.answer, under: record.selected_labels };
  return {
    value: explainedValue(given),
    plain: () => plain([answer, ...rowsOf(explained), ...(all === undefined ? [] : conditionRows(all))]),
    table: (style) => describe(explained, style),
  };
}

/** The record as it is, with the explanation beside what it explains. */
export const explainedValue = ({ record, explanation, intact, all }: Explained): object => ({
  ...record,
  explanation: { ...explanation, ...all, intact },
});

/** What happened to the log explains itself. */
export function noteView(record: NoteRecord, intact: boolean): View {
  const details = { name: "details", text: JSON.stringify(record.details) };
  return sentenceView(record, noteSentence(record), [...identityOf(record, intact), details], intact);
}

/** How a call went, and which decisions had allowed it. */
export function toolResultView(record: ToolResultRecord, intact: boolean): View {
  const decisions = record.decision_records.map((text) => ({ name: "allowed by", text }));
  const rows = [...identityOf(record, intact), ...provenanceOf(record), ...decisions];
  return sentenceView(record, toolResultSentence(record), rows, intact);
}

function sentenceView(
  record: NoteRecord | ToolResultRecord,
  sentence: string,
  rows: readonly Row[],
  intact: boolean,
): View {
  return {
    value: { ...record, explanation: { answer: sentence, because: [], failed: [], intact } },
    plain: () => plain([{ name: "answer", text: sentence }, ...rows]),
    table: (style) => [style.paint("bold", printable(sentence)), "", ...tableRows(rows, style)].join("\n"),
  };
}

function plain(rows: readonly Row[]): string {
  return rows.map(({ name, text, under = [] }) => [name, text, ...under].map(oneLine).join("\t")).join("\n");
}

/** What the tables show of every condition. */
function conditionRows({ conditions, not_asked }: ExplainedConditions): readonly Row[] {
  const verdict = ({ result, error }: ExplainedCondition): string =>
    error !== undefined ? "errored" : result ? "matched" : "not matched";
  return [
    ...conditions.map((each) => ({
      name: "condition",
      text: each.label,
      under: [verdict(each), each.condition, ...readingTexts(each)],
    })),
    ...not_asked.map(({ label, condition }) => ({
      name: "condition",
      text: label,
      under: ["not asked", condition],
    })),
  ];
}

async function describe(explained: Explained, style: Style): Promise<string> {
  const { record, explanation, all, call } = explained;
  const { paint } = style;
  if (record.type === "policy" && call !== undefined)
    return describeCall({ ...explained, record, call }, style);
  const answer = paint(answerColour(record), paint("bold", oneLine(explanation.answer)));
  const lines = [`${answer}  ${paint("dim", oneLine(besideAnswer(record)))}`, ""];
  const rows = rowsOf(explained);
  if (all === undefined) return [...lines, ...tableRows(shortened(rows, style), style)].join("\n");
  const tables = await explainTables(record, all, style);
  lines.push(...tableRows(rows.filter(isNoFailed), style), ...(tables === undefined ? [] : ["", tables]));
  return lines.join("\n");
}

type ExplainedPolicy = Explained & Pick<Parameters<typeof policyTree>[0], "record" | "call">;

function describeCall(explained: ExplainedPolicy, style: Style): string {
  const { record, intact, all } = explained;
  const verbose = all !== undefined;
  const tree = policyTree({ ...explained, verbose });
  if (!verbose) return drawBranches(tree, style);
  const rows = [inputRow(record), ...everythingElse(record, intact)];
  return [drawBranches(uncut(tree), style), "", ...tableRows(rows, style)].join("\n");
}

/** The tables have these too. */
const isNoFailed = ({ name }: Row): boolean => name !== "failed";

const nameWidth = 13;

function tableRows(rows: readonly Row[], { paint }: Style): readonly string[] {
  return rows.flatMap(({ name, text, under = [] }) => [
    `  ${paint("dim", name.padEnd(nameWidth))} ${oneLine(text)}`,
    ...under.map((each) => `${" ".repeat(nameWidth + 5)}${oneLine(each)}`),
  ]);
}

const mostFailed = 10;

/** For one glance: a few of the conditions, and of long values the beginning. */
function shortened(rows: readonly Row[], { columns }: Style): readonly Row[] {
  const failed = rows.filter((row) => !isNoFailed(row));
  const left = failed.length - mostFailed;
  const last = failed[mostFailed - 1];
  return rows
    .filter((row) => !failed.slice(mostFailed).includes(row))
    .map((row) => {
      const text = row.name === "input" ? cut(oneLine(row.text), columns - nameWidth - 3) : row.text;
      const under = (row.under ?? []).map((each) => cut(oneLine(each), columns - nameWidth - 5));
      const more = row === last && left > 0 ? [`and ${count(left)} more; --verbose shows them all`] : [];
      return { ...row, text, under: [...under, ...more] };
    });
}

function rowsOf({ record, explanation, intact, all }: Explained): readonly Row[] {
  const { because, failed } = explanation;
  const warnings = all !== undefined || failed.length === 0 ? record.warnings : [];
  return [
    { name: "decision", text: decisionText(record) },
    ...identityOf(record, intact),
    ...provenanceOf(record),
    inputRow(record),
    ...because.map((text) => ({ name: "because", text })),
    ...outcomeRows(record),
    ...(all === undefined ? passedRows(record) : []),
    ...lineageRows(record),
    ...fetchedRows(record.facts["fetched"]),
    ...failed.map(failedRow),
    ...warnings.map((text) => ({ name: "warning", text })),
    { name: "cached", text: cachedText(record) },
    { name: "definition", text: definitionText(explanation, all === undefined) },
    ...(all === undefined ? [] : [...checkRows(record), ...everythingElse(record, intact)]),
  ];
}

function inputRow({ context, input_value: input }: DecisionRecord): Row {
  return { name: "input", text: context === undefined ? "not recorded" : JSON.stringify(input ?? null) };
}

const checkRows = ({ guardrails }: DecisionRecord): readonly Row[] =>
  guardrails.map((check) => ({ name: "guardrail", text: checkText(check) }));

function failedRow(condition: ExplainedCondition): Row {
  const { label, condition: text } = condition;
  return { name: "failed", text: label === "" ? text : `${label}: ${text}`, under: readingTexts(condition) };
}
