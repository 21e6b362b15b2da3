import type { DecisionRecord, LogRecord, NoteRecord, ToolResultRecord } from "../model/record.js";
import { printable } from "../printable.js";
import type { ExplainedCondition, ExplainedConditions, Explanation } from "../record/explain.js";
import { count } from "./amounts.js";
import { explainTables } from "./explain-tables.js";
import type { Style, View } from "./format.js";
import { answerColour, besideAnswer, outcomeRows } from "./outcome-rows.js";
import { oneLine } from "./one-line.js";
import { noteSentence, readableTime, readingTexts, toolResultSentence } from "./record-text.js";
import { cut } from "./text-width.js";

export interface Explained {
  readonly record: DecisionRecord;
  readonly explanation: Explanation;
  /** Whether the record's line is what was written. */
  readonly intact: boolean;
  /** Every condition, where all that there is to know is wanted. */
  readonly all?: ExplainedConditions | undefined;
}

export function explainView(explained: Explained): View {
  const { record, explanation, intact, all } = explained;
  const answer: Row = { name: "answer", text: explanation.answer, under: record.selected_labels };
  return {
    value: { ...record, explanation: { ...explanation, ...all, intact } },
    plain: () => plain([answer, ...rowsOf(explained), ...(all === undefined ? [] : conditionRows(all))]),
    table: (style) => describe(explained, style),
  };
}

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

interface Row {
  readonly name: string;
  readonly text: string;
  /** What belongs to it. */
  readonly under?: readonly string[];
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
  const { record, explanation, all } = explained;
  const { paint } = style;
  const answer = paint(answerColour(record), paint("bold", oneLine(explanation.answer)));
  const lines = [`${answer}  ${paint("dim", oneLine(besideAnswer(record)))}`, ""];
  const rows = rowsOf(explained);
  if (all === undefined) return [...lines, ...tableRows(shortened(rows, style), style)].join("\n");
  const tables = await explainTables(record, all, style);
  lines.push(...tableRows(rows.filter(isNoFailed), style), ...(tables === undefined ? [] : ["", tables]));
  return lines.join("\n");
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
    {
      name: "input",
      text: record.context === undefined ? "not recorded" : JSON.stringify(record.input_value),
    },
    ...because.map((text) => ({ name: "because", text })),
    ...outcomeRows(record),
    ...failed.map(failedRow),
    ...warnings.map((text) => ({ name: "warning", text })),
    { name: "cached", text: cachedText(record) },
    { name: "definition", text: definitionText(explanation, all === undefined) },
    ...(all === undefined ? [] : everythingElse(record, intact)),
  ];
}

function decisionText(record: DecisionRecord): string {
  const { decision_id, decision_name: name, decision_version: version } = record;
  return `${decision_id}${name === undefined ? "" : ` (${name})`}${version === undefined ? "" : ` ${version}`}`;
}

function identityOf({ timestamp, record_id, seq }: LogRecord, intact: boolean): readonly Row[] {
  const change = intact ? "" : ", changed since it was written";
  return [
    { name: "when", text: `${readableTime(timestamp)} UTC` },
    { name: "record", text: `${record_id}, number ${count(seq)}${change}` },
  ];
}

function provenanceOf(record: DecisionRecord | ToolResultRecord): readonly Row[] {
  return present({
    workflow: record.workflow_id,
    stage: record.stage_id,
    session: record.session_id,
    correlation: record.correlation_id,
    parent: record.parent_record_id,
    check: record.check_id,
  });
}

const present = (texts: Readonly<Record<string, string | undefined>>): readonly Row[] =>
  Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }]));

function failedRow(condition: ExplainedCondition): Row {
  const { label, condition: text } = condition;
  return { name: "failed", text: label === "" ? text : `${label}: ${text}`, under: readingTexts(condition) };
}

function cachedText({ cached, cached_from, cache_key }: DecisionRecord): string {
  if (cached) return cached_from === undefined ? "yes" : `yes, from record ${cached_from}`;
  return cache_key === undefined ? "no" : "no, it was not in the cache";
}

function definitionText({ definition }: Explanation, isShort: boolean): string {
  const { version, hash, available } = definition;
  const name = isShort ? hash.slice(0, 12) : hash;
  return `${version === undefined ? "" : `${version}, `}${name}${available ? "" : " (no longer kept as it was)"}`;
}

function everythingElse(record: DecisionRecord, intact: boolean): readonly Row[] {
  const { facts, context, guardrails, feedback } = record;
  const checks = guardrails.map(({ check_name, passed, message }) => ({
    name: "guardrail",
    text: `${check_name}: ${passed ? "passed" : "failed"}, ${message}`,
  }));
  return [
    ...checks,
    ...present({
      facts: JSON.stringify(facts),
      context: context && JSON.stringify(context),
      feedback: feedback && JSON.stringify(feedback),
      environment: record.environment_hash,
      deterministic: record.deterministic_hash,
      "cache key": record.cache_key,
      previous: record.prev_hash,
      hash: record.hash,
      line: intact ? "intact" : "not what was written",
    }),
  ];
}
