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
    const value = typeof detail === "object" ? sharedJson(detail) : JSON.stringify(detail);
    json += `${json === "{" ? "" : ","}${quoted(label)}:${value}`;
  }
  return `${json}}`;
}

const known = new WeakMap<object, string>();

/** Of a part that many answers share: a branch answers with one of two frozen details, time and again. */
export function sharedJson(part: object): string {
  let json = known.get(part);
  if (json === undefined) {
    json = JSON.stringify(part);
    if (Object.isFrozen(part)) known.set(part, json);
  }
  return json;
}

/** Of a list of such parts. */
export function sharedListJson(parts: readonly object[]): string {
  let json = "[";
  for (let index = 0; index < parts.length; index++)
    json += (index === 0 ? "" : ",") + sharedJson(parts[index] ?? {});
  return `${json}]`;
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
