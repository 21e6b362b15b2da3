import type { Branch } from "./branches.js";
import { drawBranches } from "./branches.js";
import type { ExplainedRecord } from "./explain-view.js";
import { explainedDocument } from "./explain-view.js";
import type { View } from "./format.js";
import { recordText, answerOf, readableTime, toolResultSentence } from "./record-text.js";
import { answerColour } from "./result-rows.js";
import { truncate, displayWidth } from "./text-width.js";
import { formatCount, oneLine } from "./text.js";
import { isObject } from "../expression/equal.js";
import type { Methodology, MethodologyStep, Authority } from "../lineage/methodology.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { PolicyRecord } from "../record/explain-call.js";
import type { StoredRecord } from "../record/find-records.js";
import { maskMarker } from "../record/mask.js";

/** All that was decided in a session, oldest first. */
export interface ExplainedSession {
  readonly session: string;
  readonly explained: readonly ExplainedRecord[];
  readonly results: readonly StoredRecord<ToolResultRecord>[];
  readonly account: Methodology;
  /** How many more can no longer be read. */
  readonly damaged: number;
}

export function sessionView(session: ExplainedSession): View {
  const { explained, results } = session;
  const tool_results = results.map(({ record }) => record);
  const values = explained.map(explainedDocument);
  return {
    value: { session_id: session.session, decisions: values, tool_results },
    items: inLogOrder(explained, values, tool_results),
    plain: () => session.account.steps.map(plainStep).join("\n"),
    table: (style) =>
      explained.length + results.length === 0 ? "" : drawBranches(sessionTree(session), style),
  };
}

/** As they stand in the log. */
function inLogOrder(
  explained: readonly ExplainedRecord[],
  values: readonly object[],
  results: readonly ToolResultRecord[],
): readonly object[] {
  const items = [
    ...explained.map(({ record }, index) => ({ seq: record.seq, item: values[index] ?? record })),
    ...results.map((record) => ({ seq: record.seq, item: record })),
  ];
  return items.sort((a, b) => a.seq - b.seq).map(({ item }) => item);
}

/** Sequence number, time, what it is about, answer, reason, whose word it was, record. */
function plainStep(step: MethodologyStep): string {
  const { record } = step;
  const cells = [String(record.seq), record.timestamp, subjectName(record), answerOf(record), stepText(step)];
  return [...cells, authorityText(step), record.record_id].map(oneLine).join("\t");
}

function sessionTree(session: ExplainedSession): Branch {
  const { account, explained } = session;
  const isIntact = new Map(explained.map(({ record, intact }) => [record.record_id, intact]));
  return {
    name: `session ${session.session}`,
    colour: "bold",
    sentence: `${decisionCount(account.steps.length)}${timeSpan(session)}`,
    under: [
      ...account.steps.map((step) => stepBranch(step, isIntact.get(step.record.record_id) ?? true)),
      ...account.unauthorizedResults.map((result): Branch => ({
        mark: result.ok ? "✓" : "✗",
        sentence: toolResultSentence(result),
        under: [{ name: "record", id: recordText(result, true) }],
      })),
    ],
  };
}

function stepBranch(step: MethodologyStep, intact: boolean): Branch {
  const { record, isDone } = step;
  const decided = stepText(step);
  const answer = answerOf(record);
  return {
    mark: isDone ? "✓" : "✗",
    name: `${subjectName(record)} ${record.type === "policy" ? answer : ""}`.trimEnd(),
    colour: answerColour(record),
    sentence: decided,
    under: [{ sentence: authorityText(step) }, { name: "record", id: recordText(record, intact) }],
  };
}

/** From the first to the last, without what the two have in common. */
function timeSpan({ explained }: ExplainedSession): string {
  const [first, last] = [explained.at(0), explained.at(-1)].map((each) =>
    each === undefined ? "" : readableTime(each.record.timestamp).slice(0, 19),
  );
  if (first === undefined || first === "" || last === undefined) return "";
  const end = first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last;
  return first === last ? `, ${first} UTC` : `, ${first} to ${end} UTC`;
}

/** The same as a block for a report. */
export function sessionMethodology(session: ExplainedSession): string {
  const { explained, damaged, account } = session;
  const changed = explained.filter(({ intact }) => !intact).length;
  const ending = [
    " in session",
    ...(changed === 0 ? [] : [`${formatCount(changed)} of them changed since`]),
    ...(damaged === 0 ? [] : [`${formatCount(damaged)} more can no longer be read`]),
  ];
  return methodology({
    account,
    heading: `Session ${session.session}${timeSpan(session)}`,
    ending: ending.join(", "),
  });
}

/** The block for one decision. */
export function recordMethodology(
  { record, intact }: StoredRecord<DecisionRecord>,
  account: Methodology,
): string {
  const time = `${readableTime(record.timestamp).slice(0, 19)} UTC`;
  return methodology({
    account,
    heading: `Record ${record.record_id}, ${time}`,
    ending: intact ? "" : ", changed since it was written",
  });
}

interface MethodologyOptions {
  readonly account: Methodology;
  readonly heading: string;
  /** What the last line says beside how many decisions there are. */
  readonly ending: string;
}

/** How something was found out, as a block for a report: the same whatever the terminal. */
function methodology({ account, heading, ending }: MethodologyOptions): string {
  const { steps, unauthorizedResults: unasked } = account;
  const done = steps.filter(({ isDone }) => isDone);
  const notDone = steps.filter(({ isDone }) => !isDone);
  const parts = [
    [oneLine(heading)],
    ["Methodology:", ...(done.length === 0 ? ["- nothing was decided that was done"] : done.flatMap(bullet))],
    section("Not done:", notDone.filter(isRefused).flatMap(bullet)),
    section(
      "Without a decision:",
      unasked.map((each) => `- ${oneLine(toolResultSentence(each))}`),
    ),
    sourceLines(account),
    [`[${decisionCount(steps.length)} recorded${ending}]`],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

const decisionCount = (number: number): string => `${formatCount(number)} decision${number === 1 ? "" : "s"}`;

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines];

/** Of several decisions on one call, those that would have allowed it did not stop it. */
const isRefused = ({ record }: MethodologyStep): boolean => record.type !== "policy" || !record.allowed;

const maxWidth = 80;

/** In one line, or with whose word it was on a second one. */
function bullet(step: MethodologyStep): readonly string[] {
  const { record } = step;
  const said = `- ${oneLine(subjectName(record))}: ${oneLine(stepText(step))}`;
  const per = `(${oneLine(authorityText(step))})`;
  return displayWidth(said) + 1 + displayWidth(per) <= maxWidth ? [`${said} ${per}`] : [said, `  ${per}`];
}

/** What it is about: the tool, or what the decision is called. */
const subjectName = (record: DecisionRecord): string =>
  record.type === "policy" ? record.tool : (record.decision_name ?? record.decision_id);

/** What was decided, in words. */
function stepText({ record, per, set }: MethodologyStep): string {
  switch (record.type) {
    case "policy": {
      const changed = Object.keys(set).length === 0 ? "" : `; sets ${valuesText(set)}`;
      return `${callText(record, per)}${changed}`;
    }
    case "scored":
      return `${answerOf(record)}, confidence ${record.confidence}`;
    default:
      return [answerOf(record), record.because.join("; ")].filter((text) => text !== "").join(", as ");
  }
}

/** Where nobody said why it is allowed, what is allowed tells more than who allowed it. */
function callText(record: PolicyRecord, [first]: readonly Authority[]): string {
  const { allowed, reason, params } = record;
  const usual = first === undefined ? "No policy constraints" : `Allowed by ${nameAndVersion(first)}`;
  if (!allowed || reason !== usual || !isObject(params)) return reason;
  return Object.keys(params).length === 0 ? "as asked" : valuesText(params);
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

/** On whose word, in keeping with what, and how the call went. */
function authorityText(step: MethodologyStep): string {
  const { per, consistentWith, differsFrom, results } = step;
  const whose = per.length === 0 ? "no policy was in effect" : `per ${per.map(nameAndVersion).join(", ")}`;
  const said = [
    whose,
    ...(consistentWith === undefined ? [] : [`consistent with ${consistentWith}`]),
    ...(differsFrom === undefined ? [] : [`differs from ${differsFrom}`]),
  ];
  return [said.join(", "), ...results.map((ok) => `call ${ok ? "succeeded" : "failed"}`)].join("; ");
}

const nameAndVersion = ({ name, version }: Authority): string =>
  version === undefined ? name : `${name} v${version}`;

function sourceLines({ sources, artifacts }: Methodology): readonly string[] {
  const read = sources.map(({ source, keys }) =>
    keys.length === 0 ? source : `${source} (${keys.join(", ")})`,
  );
  const named = artifacts.length === 0 ? [] : [`artifacts: ${artifacts.join(", ")}`];
  const all = [...(read.length === 0 ? [] : [read.join(", ")]), ...named];
  return all.length === 0 ? [] : [`Sources: ${oneLine(all.join("; "))}`];
}
