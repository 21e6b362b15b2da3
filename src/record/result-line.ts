import type { Result } from "../model/result.js";
import { detailsJson, jsonOf, listJson, quoted } from "./json-text.js";
import { outcomeJson, proposedJson } from "./outcome-json.js";

/**
 * What `JSON.stringify` gives, in half the time: a batch spends most of its time on writing answers, and
 * most of an answer is the same from one to the next. A test holds the two to the same text.
 */
export function resultLine(result: Result): string {
  const { record_id: id, decision_name: name, decision_version: version, rules_total: total } = result;
  const { fetched } = result;
  return (
    `{${id === undefined ? "" : `"record_id":"${id}",`}"decision_id":${quoted(result.decision_id)}` +
    (name === undefined ? "" : `,"decision_name":${quoted(name)}`) +
    (version === undefined ? "" : `,"decision_version":${quoted(version)}`) +
    `,"definition_hash":"${result.definition_hash}","environment_hash":"${result.environment_hash}"` +
    `,"type":"${result.type}","selected_targets":${listJson(result.selected_targets)}` +
    `,"selected_labels":${listJson(result.selected_labels)},"input_value":${jsonOf(result.input_value)}` +
    `,"evaluation_details":${detailsJson(result.evaluation_details)}` +
    (total === undefined ? "" : `,"rules_total":${total}`) +
    `,"because":${listJson(result.because)},"failed_conditions":${listJson(result.failed_conditions)}` +
    `,"warnings":${listJson(result.warnings)},"guardrails":${JSON.stringify(result.guardrails)}` +
    `,"blocked":${result.blocked},"escalated":${result.escalated}${proposedJson(result)}` +
    (fetched === undefined ? "" : `,"fetched":${JSON.stringify(fetched)}`) +
    `,"cached":${result.cached}` +
    `,"dry_run":${result.dry_run},"timestamp":"${result.timestamp}"` +
    `,"deterministic_hash":"${result.deterministic_hash}"${outcomeJson(result)}${followedJson(result)}}`
  );
}

function followedJson({ followed, final_targets }: Result): string {
  if (followed === undefined) return "";
  return `,${JSON.stringify({ followed, final_targets }).slice(1, -1)}`;
}
