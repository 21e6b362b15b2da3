import type { Account, Step } from "../lineage/account.js";
import type { DecisionRecord, ToolResultRecord } from "../model/record.js";
import type { Kept } from "../record/session-records.js";
import { count } from "./amounts.js";
import type { Branch } from "./branches.js";
import { drawBranches } from "./branches.js";
import type { Explained } from "./explain-view.js";
import { explainedValue } from "./explain-view.js";
import type { View } from "./format.js";
import { authorityText, decidedText, decisions, methodology, nameOf } from "./methodology.js";
import { oneLine } from "./one-line.js";
import { answerColour } from "./outcome-rows.js";
import { recordText } from "./record-rows.js";
import { answerOf, readableTime, toolResultSentence } from "./record-text.js";

/** All that was decided in a session, oldest first. */
export interface ExplainedSession {
  readonly session: string;
  readonly explained: readonly Explained[];
  readonly results: readonly Kept<ToolResultRecord>[];
  readonly account: Account;
  /** How many more can no longer be read. */
  readonly damaged: number;
}

export function sessionView(session: ExplainedSession): View {
  const { explained, results } = session;
  const tool_results = results.map(({ record }) => record);
  const values = explained.map(explainedValue);
  return {
    value: { session_id: session.session, decisions: values, tool_results },
    items: inOrder(explained, values, tool_results),
    plain: () => session.account.steps.map(plainLine).join("\n"),
    table: (style) => (explained.length + results.length === 0 ? "" : drawBranches(treeOf(session), style)),
  };
}

/** As they stand in the log. */
function inOrder(
  explained: readonly Explained[],
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
function plainLine(step: Step): string {
  const { record } = step;
  const cells = [String(record.seq), record.timestamp, nameOf(record), answerOf(record), decidedText(step)];
  return [...cells, authorityText(step), record.record_id].map(oneLine).join("\t");
}

function treeOf(session: ExplainedSession): Branch {
  const { account, explained } = session;
  const isIntact = new Map(explained.map(({ record, intact }) => [record.record_id, intact]));
  return {
    name: `session ${session.session}`,
    colour: "bold",
    sentence: `${decisions(account.steps.length)}${spanOf(session)}`,
    under: [
      ...account.steps.map((step) => stepBranch(step, isIntact.get(step.record.record_id) ?? true)),
      ...account.unasked.map((result): Branch => ({
        mark: result.ok ? "✓" : "✗",
        sentence: toolResultSentence(result),
        under: [{ name: "record", id: recordText(result, true) }],
      })),
    ],
  };
}

function stepBranch(step: Step, intact: boolean): Branch {
  const { record, isDone } = step;
  const decided = decidedText(step);
  const answer = answerOf(record);
  return {
    mark: isDone ? "✓" : "✗",
    name: `${nameOf(record)} ${record.type === "policy" ? answer : ""}`.trimEnd(),
    colour: answerColour(record),
    sentence: decided,
    under: [{ sentence: authorityText(step) }, { name: "record", id: recordText(record, intact) }],
  };
}

/** From the first to the last, without what the two have in common. */
function spanOf({ explained }: ExplainedSession): string {
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
    ...(changed === 0 ? [] : [`${count(changed)} of them changed since`]),
    ...(damaged === 0 ? [] : [`${count(damaged)} more can no longer be read`]),
  ];
  return methodology({
    account,
    heading: `Session ${session.session}${spanOf(session)}`,
    ending: ending.join(", "),
  });
}

/** The block for one decision. */
export function recordMethodology({ record, intact }: Kept<DecisionRecord>, account: Account): string {
  const time = `${readableTime(record.timestamp).slice(0, 19)} UTC`;
  return methodology({
    account,
    heading: `Record ${record.record_id}, ${time}`,
    ending: intact ? "" : ", changed since it was written",
  });
}
