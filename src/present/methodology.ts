import type { Account, Authority, Step } from "../lineage/account.js";
import { isObject } from "../expression/equal.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { CallRecord } from "../record/explain-call.js";
import { masked } from "../record/mask.js";
import { count } from "./amounts.js";
import { oneLine } from "./one-line.js";
import { answerOf, toolResultSentence } from "./record-text.js";
import { cut, widthOf } from "./text-width.js";

export interface Reported {
  readonly account: Account;
  readonly heading: string;
  /** What the last line says beside how many decisions there are. */
  readonly ending: string;
}

/** How something was found out, as a block for a report: the same whatever the terminal. */
export function methodology({ account, heading, ending }: Reported): string {
  const { steps, unasked } = account;
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
    [`[${decisions(steps.length)} recorded${ending}]`],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

export const decisions = (number: number): string => `${count(number)} decision${number === 1 ? "" : "s"}`;

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines];

/** Of several decisions on one call, those that would have allowed it did not stop it. */
const isRefused = ({ record }: Step): boolean => record.type !== "policy" || !record.allowed;

const widest = 80;

/** In one line, or with whose word it was on a second one. */
function bullet(step: Step): readonly string[] {
  const { record } = step;
  const said = `- ${oneLine(nameOf(record))}: ${oneLine(decidedText(step))}`;
  const per = `(${oneLine(authorityText(step))})`;
  return widthOf(said) + 1 + widthOf(per) <= widest ? [`${said} ${per}`] : [said, `  ${per}`];
}

/** What it is about: the tool, or what the decision is called. */
export const nameOf = (record: DecisionRecord): string =>
  record.type === "policy" ? record.tool : (record.decision_name ?? record.decision_id);

/** What was decided, in words. */
export function decidedText({ record, per, set }: Step): string {
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
function callText(record: CallRecord, [first]: readonly Authority[]): string {
  const { allowed, reason, params } = record;
  const usual = first === undefined ? "No policy constraints" : `Allowed by ${versioned(first)}`;
  if (!allowed || reason !== usual || !isObject(params)) return reason;
  return Object.keys(params).length === 0 ? "as asked" : valuesText(params);
}

const mostValues = 4;
const longestValue = 60;

function valuesText(values: JsonObject): string {
  const entries = Object.entries(values);
  const left = entries.length - mostValues;
  const shown = entries.slice(0, mostValues).map(([name, value]) => {
    const text = value === masked ? masked : JSON.stringify(value);
    return `${name} = ${cut(oneLine(text), longestValue)}`;
  });
  return `${shown.join(", ")}${left > 0 ? ` and ${count(left)} more` : ""}`;
}

/** On whose word, in keeping with what, and how the call went. */
export function authorityText(step: Step): string {
  const { per, consistentWith, differsFrom, results } = step;
  const whose = per.length === 0 ? "no policy was in effect" : `per ${per.map(versioned).join(", ")}`;
  const said = [
    whose,
    ...(consistentWith === undefined ? [] : [`consistent with ${consistentWith}`]),
    ...(differsFrom === undefined ? [] : [`differs from ${differsFrom}`]),
  ];
  return [said.join(", "), ...results.map((ok) => `call ${ok ? "succeeded" : "failed"}`)].join("; ");
}

const versioned = ({ name, version }: Authority): string =>
  version === undefined ? name : `${name} v${version}`;

function sourceLines({ sources, artifacts }: Account): readonly string[] {
  const read = sources.map(({ source, keys }) =>
    keys.length === 0 ? source : `${source} (${keys.join(", ")})`,
  );
  const named = artifacts.length === 0 ? [] : [`artifacts: ${artifacts.join(", ")}`];
  const all = [...(read.length === 0 ? [] : [read.join(", ")]), ...named];
  return all.length === 0 ? [] : [`Sources: ${oneLine(all.join("; "))}`];
}
