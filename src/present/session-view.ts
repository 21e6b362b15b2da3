import { isObject } from "../expression/equal.js";
import type { Authority, Methodology, MethodologyStep } from "../lineage/methodology.js";
import type { JsonObject } from "../model/json.js";
import type { AssessmentRecord, DecisionRecord, PolicyRecord, ToolResultRecord } from "../model/record.js";
import type { StoredRecord } from "../record/find-records.js";
import { maskMarker } from "../record/mask.js";
import type { ExplainedRecord } from "./explain-view.js";
import { explainedDocument } from "./explain-view.js";
import type { View } from "./format.js";
import { answerOf, readableSeconds, readableTime, recordText, toolResultSentence } from "./record-text.js";
import { answerColour } from "./result-rows.js";
import { displayWidth, truncate } from "./text-width.js";
import { formatCount, plural } from "./text.js";
import type { Branch } from "./tree.js";
import { drawBranches } from "./tree.js";
import { oneLine } from "../text.js";

/** The decisions, tool results and assessments of a session, oldest first. */
export interface ExplainedSession {
  readonly session: string;
  readonly explained: readonly ExplainedRecord[];
  readonly results: readonly StoredRecord<ToolResultRecord>[];
  readonly assessments: readonly StoredRecord<AssessmentRecord>[];
  readonly methodology: Methodology;
  /** The number of records that can no longer be read. */
  readonly damaged: number;
}

export function sessionView(session: ExplainedSession): View {
  const { explained } = session;
  const tool_results = session.results.map(({ record }) => record);
  const assessments = session.assessments.map(({ record }) => record);
  const values = explained.map(explainedDocument);
  return {
    value: { session_id: session.session, decisions: values, tool_results, assessments },
    items: inLogOrder(explained, values, [...tool_results, ...assessments]),
    plain: () => plainLines(session).join("\n"),
    table: (style) =>
      explained.length + tool_results.length === 0 ? "" : drawBranches(sessionTree(session), style),
  };
}

function inLogOrder(
  explained: readonly ExplainedRecord[],
  values: readonly object[],
  others: readonly (ToolResultRecord | AssessmentRecord)[],
): readonly object[] {
  const items = [
    ...explained.map(({ record }, index) => ({ seq: record.seq, item: values[index] ?? record })),
    ...others.map((record) => ({ seq: record.seq, item: record })),
  ];
  return items.sort((a, b) => a.seq - b.seq).map(({ item }) => item);
}

function plainLines({ methodology, assessments }: ExplainedSession): readonly string[] {
  const lines = [
    ...methodology.steps.map((step) => ({ seq: step.record.seq, line: plainStep(step) })),
    ...assessments.map(({ record }) => ({ seq: record.seq, line: plainAssessment(record) })),
  ];
  return lines.sort((a, b) => a.seq - b.seq).map(({ line }) => line);
}

/** The same columns as a step; an assessment has no authority. */
function plainAssessment({
  seq,
  timestamp,
  observer,
  severity,
  summary,
  record_id,
}: AssessmentRecord): string {
  return [String(seq), timestamp, observer, severity, summary, "", record_id].map(oneLine).join("\t");
}

/** Sequence number, time, subject, answer, reason, authority, record. */
function plainStep(step: MethodologyStep): string {
  const { record } = step;
  const cells = [String(record.seq), record.timestamp, subjectName(record), answerOf(record), stepText(step)];
  return [...cells, authorityText(step), record.record_id].map(oneLine).join("\t");
}

function sessionTree(session: ExplainedSession): Branch {
  const { methodology, explained } = session;
  const isIntact = new Map(explained.map(({ record, intact }) => [record.record_id, intact]));
  return {
    name: `session ${session.session}`,
    colour: "bold",
    sentence: `${plural(methodology.steps.length, "decision")}${timeSpan(session)}`,
    under: [
      ...methodology.steps.map((step) => stepBranch(step, isIntact.get(step.record.record_id) ?? true)),
      ...methodology.unauthorizedResults.map((result): Branch => ({
        mark: result.ok ? "✓" : "✗",
        sentence: toolResultSentence(result),
        under: [{ name: "record", id: recordText(result, true) }],
      })),
      ...session.assessments.map(assessmentBranch),
    ],
  };
}

function stepBranch(step: MethodologyStep, intact: boolean): Branch {
  const { record, isCarriedOut } = step;
  return {
    mark: isCarriedOut ? "✓" : "✗",
    name: `${subjectName(record)} ${record.type === "policy" ? answerOf(record) : ""}`.trimEnd(),
    colour: answerColour(record),
    sentence: stepText(step),
    under: [{ sentence: authorityText(step) }, { name: "record", id: recordText(record, intact) }],
  };
}

function assessmentBranch({ record, intact }: StoredRecord<AssessmentRecord>): Branch {
  const { observer, severity, summary, suggestions } = record;
  return {
    mark: severity === "caution" ? "!" : "–",
    name: `${oneLine(observer)} ${oneLine(severity)}`,
    sentence: summary,
    under: [
      ...suggestions.map((sentence) => ({ sentence })),
      { name: "record", id: recordText(record, intact) },
    ],
  };
}

/** Formats the time from the first to the last decision. Writes a common date once. */
function timeSpan({ explained }: ExplainedSession): string {
  const [first, last] = [explained.at(0), explained.at(-1)].map((each) =>
    each === undefined ? "" : readableTime(each.record.timestamp).slice(0, 19),
  );
  if (first === undefined || first === "" || last === undefined) return "";
  const end = first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last;
  return first === last ? `, ${first} UTC` : `, ${first} to ${end} UTC`;
}

/** Writes the methodology of a session as a block for a report. */
export function sessionMethodology(session: ExplainedSession): string {
  const { explained, damaged, methodology } = session;
  const changed = explained.filter(({ intact }) => !intact).length;
  const ending = [
    " in session",
    ...(changed === 0 ? [] : [`${formatCount(changed)} changed since written`]),
    ...(damaged === 0 ? [] : [`${formatCount(damaged)} more can no longer be read`]),
  ];
  return methodologyText({
    methodology,
    assessments: session.assessments.map(({ record }) => record),
    heading: `Session ${session.session}${timeSpan(session)}`,
    ending: ending.join(", "),
  });
}

/** Writes the methodology of one decision as a block for a report. */
export function recordMethodology(
  { record, intact }: StoredRecord<DecisionRecord>,
  methodology: Methodology,
): string {
  return methodologyText({
    methodology,
    heading: `Record ${record.record_id}, ${readableSeconds(record.timestamp)}`,
    ending: intact ? "" : ", changed since it was written",
  });
}

interface MethodologyOptions {
  readonly methodology: Methodology;
  readonly assessments?: readonly AssessmentRecord[];
  readonly heading: string;
  /** Follows the number of decisions on the last line. */
  readonly ending: string;
}

/** The text does not depend on the terminal. */
function methodologyText({ methodology, assessments = [], heading, ending }: MethodologyOptions): string {
  const { steps, unauthorizedResults } = methodology;
  const done = steps.filter(({ isCarriedOut }) => isCarriedOut);
  const notDone = steps.filter(({ isCarriedOut }) => !isCarriedOut);
  const parts = [
    [oneLine(heading)],
    ["Methodology:", ...(done.length === 0 ? ["- no allowed action"] : done.flatMap(bullet))],
    section("Not done:", notDone.filter(isRefused).flatMap(bullet)),
    section(
      "Without a decision:",
      unauthorizedResults.map((each) => `- ${oneLine(toolResultSentence(each))}`),
    ),
    section(
      "Assessments:",
      assessments.map(({ observer, severity, summary }) =>
        oneLine(`- ${observer}: ${summary} (${severity})`),
      ),
    ),
    sourceLines(methodology),
    [`[${plural(steps.length, "decision")} recorded${ending}]`],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines];

/** Excludes decisions that allowed a call which another decision denied. */
const isRefused = ({ record }: MethodologyStep): boolean => record.type !== "policy" || !record.allowed;

const maxWidth = 80;

/** Puts the authority on a second line where one line is too short. */
function bullet(step: MethodologyStep): readonly string[] {
  const { record } = step;
  const text = `- ${oneLine(subjectName(record))}: ${oneLine(stepText(step))}`;
  const authority = `(${oneLine(authorityText(step))})`;
  return displayWidth(text) + 1 + displayWidth(authority) <= maxWidth
    ? [`${text} ${authority}`]
    : [text, `  ${authority}`];
}

/** Returns the tool, or the name of the decision. */
const subjectName = (record: DecisionRecord): string =>
  record.type === "policy" ? record.tool : (record.decision_name ?? record.decision_id);

/** Describes what was decided. */
function stepText({ record, per, set }: MethodologyStep): string {
  switch (record.type) {
    case "policy": {
      const changed = Object.keys(set).length === 0 ? "" : `; sets ${valuesText(set)}`;
      return `${callText(record, per)}${changed}`;
    }
    case "scored":
      return `${answerOf(record)}, confidence ${record.confidence}`;
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
    case "gate":
      return [answerOf(record), record.because.join("; ")].filter((text) => text !== "").join(", because ");
  }
}

/** Shows the params where the reason is only the default text. */
function callText(record: PolicyRecord, [first]: readonly Authority[]): string {
  const { allowed, reason, params } = record;
  const defaultReason = first === undefined ? "No policy constraints" : `Allowed by ${nameAndVersion(first)}`;
  if (!allowed || reason !== defaultReason || !isObject(params)) return reason;
  return Object.keys(params).length === 0 ? "as requested" : valuesText(params);
}

const maxValues = 4;
const maxValueWidth = 60;

function valuesText(values: JsonObject): string {
  const entries = Object.entries(values);
  const left = entries.length - maxValues;
  const shown = entries.slice(0, maxValues).map(([name, value]) => {
    const text = value === maskMarker ? maskMarker : JSON.stringify(value);
    return `${name} = ${truncate(oneLine(text), maxValueWidth)}`;
  });
  return `${shown.join(", ")}${left > 0 ? ` and ${formatCount(left)} more` : ""}`;
}

/** Names the policies behind a decision, its precedents and the results of the call. */
function authorityText(step: MethodologyStep): string {
  const { per, consistentWith, differsFrom, results } = step;
  const policies = per.length === 0 ? "no policy was in effect" : `per ${per.map(nameAndVersion).join(", ")}`;
  const authority = [
    policies,
    ...(consistentWith === undefined ? [] : [`consistent with ${consistentWith}`]),
    ...(differsFrom === undefined ? [] : [`differs from ${differsFrom}`]),
  ];
  return [authority.join(", "), ...results.map((ok) => `call ${ok ? "succeeded" : "failed"}`)].join("; ");
}

const nameAndVersion = ({ name, version }: Authority): string =>
  version === undefined ? name : version.includes(".") ? `${name} v${version}` : `${name}@${version}`;

function sourceLines({ sources, artifacts }: Methodology): readonly string[] {
  const read = sources.map(({ source, keys }) =>
    keys.length === 0 ? source : `${source} (${keys.join(", ")})`,
  );
  const named = artifacts.length === 0 ? [] : [`artifacts: ${artifacts.join(", ")}`];
  const all = [...(read.length === 0 ? [] : [read.join(", ")]), ...named];
  return all.length === 0 ? [] : [`Sources: ${oneLine(all.join("; "))}`];
}
