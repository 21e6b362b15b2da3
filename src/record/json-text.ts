import type { ConditionDetail, EvaluationDetails } from "../model/result.js";
import type { Json } from "../model/json.js";

const mostRemembered = 5000;
const remembered = new Map<string, string>();

/** Labels, targets and conditions come again and again. */
export function quoted(text: string): string {
  let json = remembered.get(text);
  if (json === undefined) {
    json = JSON.stringify(text);
    if (remembered.size < mostRemembered && text.length < 500) remembered.set(text, json);
  }
  return json;
}

export function listJson(texts: readonly string[]): string {
  let json = "[";
  for (let index = 0; index < texts.length; index++)
    json += (index === 0 ? "" : ",") + quoted(texts[index] ?? "");
  return `${json}]`;
}

export function detailsJson(all: EvaluationDetails): string {
  let json = "{";
  for (const [label, detail] of Object.entries(all) as [string, ConditionDetail | number][]) {
    const value = typeof detail === "object" ? conditionJson(detail) : JSON.stringify(detail);
    json += `${json === "{" ? "" : ","}${quoted(label)}:${value}`;
  }
  return `${json}}`;
}

/** A branch answers with one of two frozen details, time and again. */
const known = new WeakMap<object, string>();

function conditionJson(detail: ConditionDetail): string {
  let json = known.get(detail);
  if (json === undefined) {
    json = JSON.stringify(detail);
    known.set(detail, json);
  }
  return json;
}

let lastValue: object | undefined;
let lastText = "";

/** The input of a decision is often its whole context, and both are written. */
export function jsonOf(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value !== lastValue) {
    lastText = JSON.stringify(value);
    lastValue = value;
  }
  return lastText;
}
