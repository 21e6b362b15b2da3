import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, LogRecord, NoteRecord, ToolResultRecord } from "../model/record.js";
import type { ExplainedCondition } from "../record/explain.js";
import { masked } from "../record/mask.js";

import { count } from "./amounts.js";

/** The same moment, easier on the eye; still UTC. */
export function readableTime(timestamp: string): string {
  return timestamp.replace("T", " ").replace("Z", "");
}

/** On whose behalf, from the outermost to the innermost. */
export function originOf({
  workflow_id,
  stage_id,
  session_id,
}: DecisionRecord | ToolResultRecord): readonly string[] {
  return [workflow_id, stage_id, session_id].filter((each) => each !== undefined);
}

/** Whether no branch was taken for its own sake. */
export function isDefaultRoute({ selected_labels }: DecisionRecord): boolean {
  return selected_labels[0] === "default";
}

/** What a record says, in a few words. */
export function answerOf(record: LogRecord): string {
  if (record.kind === "note") return record.note.replace("_", " ");
  if (record.kind === "tool_result") return record.ok ? "ok" : "failed";
  const targets = record.selected_targets.join(" ");
  const labels = record.selected_labels.join(", ");
  if (record.blocked && labels === "") return "blocked";
  if (targets === "" || targets === labels) return labels;
  return `${targets} (${labels})`;
}

/** The same with the label only where it matters most. */
export function targetOf(record: LogRecord): string {
  if (record.kind !== "decision" || isDefaultRoute(record)) return answerOf(record);
  return record.selected_targets.join(" ") || answerOf(record);
}

/** What the record is about. */
export function subjectOf(record: LogRecord): string {
  switch (record.kind) {
    case "note":
      return "(the log)";
    case "tool_result":
      return record.tool;
    case "decision":
      return record.decision_id;
  }
}

/** Why, in one line. */
export function reasonOf(record: LogRecord): string {
  switch (record.kind) {
    case "note":
      return noteSentence(record);
    case "tool_result":
      return toolResultSentence(record);
    case "decision":
      return record.because.join("; ");
  }
}

/** How a call went, as a person would say it. */
export function toolResultSentence({
  tool,
  ok,
  decision_records: [first, ...others],
}: Pick<ToolResultRecord, "tool" | "ok" | "decision_records">): string {
  const how = `${tool} ${ok ? "succeeded" : "failed"}`;
  if (first === undefined) return `${how}; no decision allowed it`;
  return `${how}; allowed by record ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

/** What happened to the log, as a person would say it. */
export function noteSentence({ note, details }: NoteRecord): string {
  switch (note) {
    case "tail_repaired":
      return `a crash had torn the end of the log; ${amount(details, "bytes", "byte")} cut off and kept in \`${word(details, "file")}\``;
    case "tail_lost":
      return `records ${word(details, "from")} to ${word(details, "to")} were lost in a power cut, as the disk was not waited for`;
    case "pruned":
      return `the oldest ${amount(details, "records", "record")} removed, up to number ${word(details, "through")}${bound(details)}`;
  }
}

const amount = (details: JsonObject, name: string, noun: string): string =>
  `${word(details, name)} ${noun}${details[name] === 1 ? " was" : "s were"}`;

function bound(details: JsonObject): string {
  const asked = ["before", "keep"].find((name) => Object.hasOwn(details, name));
  return asked === undefined ? "" : ` (prune --${asked} ${word(details, asked)})`;
}

function word(details: JsonObject, name: string): string {
  const value = details[name];
  if (typeof value === "number") return count(value);
  return typeof value === "string" ? value : "?";
}

/** Why a condition had no answer, and what it read: one text for each path. */
export function readingTexts(condition: ExplainedCondition): readonly string[] {
  const { error, values, missing = [], not_recorded = [] } = condition;
  const isSaidBelow = missing.length > 0 && error?.endsWith(" is missing");
  return [
    ...(error === undefined || isSaidBelow ? [] : [`! ${error}`]),
    ...Object.entries(values).map(
      ([path, value]) => `${path} = ${value === masked ? masked : JSON.stringify(value)}`,
    ),
    ...missing.map((path) => `${path}: missing`),
    ...not_recorded.map((path) => `${path}: not recorded`),
  ];
}
