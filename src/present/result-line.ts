import type { ConditionDetail, EvaluationDetails, Result } from "../model/result.js";

/**
 * What `JSON.stringify` gives, in half the time: a batch spends most of its time on writing answers, and
 * most of an answer is the same from one to the next. A test holds the two to the same text.
 */
export function resultLine(result: Result): string {
  const { decision_name: name, decision_version: version, rules_total: total } = result;
  return (
    `{"decision_id":${quoted(result.decision_id)}` +
    (name === undefined ? "" : `,"decision_name":${quoted(name)}`) +
    (version === undefined ? "" : `,"decision_version":${quoted(version)}`) +
    `,"definition_hash":"${result.definition_hash}","environment_hash":"${result.environment_hash}"` +
    `,"type":"${result.type}","selected_targets":${list(result.selected_targets)}` +
    `,"selected_labels":${list(result.selected_labels)},"input_value":${JSON.stringify(result.input_value)}` +
    `,"evaluation_details":${details(result.evaluation_details)}` +
    (total === undefined ? "" : `,"rules_total":${total}`) +
    `,"because":${list(result.because)},"failed_conditions":${list(result.failed_conditions)}` +
    `,"warnings":${list(result.warnings)},"guardrails":${JSON.stringify(result.guardrails)}` +
    `,"blocked":${result.blocked},"escalated":${result.escalated},"cached":${result.cached}` +
    `,"dry_run":${result.dry_run},"timestamp":"${result.timestamp}"` +
    `,"deterministic_hash":"${result.deterministic_hash}"}`
  );
}

const mostRemembered = 5000;
const remembered = new Map<string, string>();

/** Labels, targets and conditions come again and again. */
function quoted(text: string): string {
  let json = remembered.get(text);
  if (json === undefined) {
    json = JSON.stringify(text);
    if (remembered.size < mostRemembered && text.length < 500) remembered.set(text, json);
  }
  return json;
}

function list(texts: readonly string[]): string {
  let json = "[";
  for (let index = 0; index < texts.length; index++)
    json += (index === 0 ? "" : ",") + quoted(texts[index] ?? "");
  return `${json}]`;
}

function details(all: EvaluationDetails): string {
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
