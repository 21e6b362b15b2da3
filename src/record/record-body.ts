import type { JsonObject } from "../model/json.js";
import type { InputSource, Lineage } from "../model/lineage.js";
import type { NoteRecord, Provenance, ToolResultRecord } from "../model/record.js";
import type { Logging } from "../model/definition.js";
import type { Result } from "../model/result.js";
import { detailsJson, jsonOf, listJson, quoted, sharedListJson } from "./json-text.js";
import { outcomeJson, proposedJson } from "./outcome-json.js";

/** What a record holds beside the result. */
export interface About {
  readonly provenance: Provenance;
  readonly lineage: Lineage;
  readonly context: JsonObject;
  readonly facts: JsonObject;
  readonly feedback?: JsonObject | undefined;
  readonly cacheKey?: string | undefined;
  readonly cachedFrom?: string | undefined;
}

/**
 * The fields of a decision's record as JSON text. What the index reads comes first and in this order, up to
 * the beginning of the lineage, so that it never has to take a line apart.
 */
export function decisionBody(result: Result, about: About, logging: Logging = {}): string {
  const { include_inputs: inputs = true, include_evaluation: evaluation = true } = logging;
  const { decision_name: name, decision_version: version, rules_total: total } = result;
  return (
    `"kind":"decision","record_id":"${result.record_id ?? ""}","timestamp":"${result.timestamp}"` +
    `,"deterministic_hash":"${result.deterministic_hash}","definition_hash":"${result.definition_hash}"` +
    `,"decision_id":${quoted(result.decision_id)},"selected_labels":${listJson(result.selected_labels)}` +
    `,"cached":${result.cached}` +
    (about.cacheKey === undefined ? "" : `,"cache_key":"${about.cacheKey}"`) +
    (about.cachedFrom === undefined ? "" : `,"cached_from":"${about.cachedFrom}"`) +
    `,"selected_targets":${listJson(result.selected_targets)},"type":"${result.type}"` +
    (name === undefined ? "" : `,"decision_name":${quoted(name)}`) +
    (version === undefined ? "" : `,"decision_version":${quoted(version)}`) +
    `,"environment_hash":"${result.environment_hash}"` +
    provenanceJson(about.provenance) +
    `,"lineage":${lineageJson(about.lineage, evaluation)}` +
    (inputs ? `,"input_value":${jsonOf(result.input_value)}` : "") +
    `,"evaluation_details":${evaluation ? keptDetails(result, inputs) : "{}"}` +
    (total === undefined ? "" : `,"rules_total":${total}`) +
    `,"because":${listJson(result.because)},"failed_conditions":${listJson(result.failed_conditions)}` +
    `,"warnings":${listJson(result.warnings)},"guardrails":${rareJson(result.guardrails)}` +
    `,"blocked":${result.blocked},"escalated":${result.escalated}${proposedJson(result)},"dry_run":false` +
    outcomeJson(result, { inputs, recorded: true }) +
    (inputs ? `,"context":${jsonOf(about.context)}` : "") +
    `,"facts":${JSON.stringify(about.facts)}` +
    (about.feedback === undefined ? "" : `,"feedback":${JSON.stringify(about.feedback)}`)
  );
}

/** In the order in which a lineage is made. */
function lineageJson(lineage: Lineage, evaluation: boolean): string {
  const { entities, artifacts, inputs, conditions, policies, override, params_digest, precedents } = lineage;
  return (
    `{"entities":${rareJson(entities)},"artifacts":${rareJson(artifacts)},"inputs":${inputsJson(inputs)}` +
    `,"conditions":${evaluation ? sharedListJson(conditions) : "[]"},"policies":${rareJson(policies)}` +
    `,"override":${JSON.stringify(override)}` +
    `,"params_digest":${JSON.stringify(params_digest)}` +
    `,"precedents":${rareJson(precedents)}}`
  );
}

const rareJson = (list: readonly unknown[]): string => (list.length === 0 ? "[]" : JSON.stringify(list));

function inputsJson(inputs: readonly InputSource[]): string {
  let json = "[";
  for (const { source, keys, digest } of inputs) {
    json += `${json === "[" ? "" : ","}{"source":${quoted(source)},"keys":${listJson(keys)},"digest":${JSON.stringify(digest)}}`;
  }
  return `${json}]`;
}

/** What the rules of evaluators read is an input, too. */
function keptDetails({ type, evaluation_details: details }: Result, inputs: boolean): string {
  if (inputs || type !== "scored") return detailsJson(details);
  return JSON.stringify(details, (key, value: unknown) => (key === "actual" ? undefined : value));
}

function provenanceJson(provenance: Provenance): string {
  let json = "";
  for (const name of provenanceFields) {
    const value = provenance[name];
    if (value !== undefined) json += `,"${name}":${quoted(value)}`;
  }
  return json;
}

export const provenanceFields = [
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "parent_record_id",
  "check_id",
] as const;

export function toolResultBody(
  result: Omit<ToolResultRecord, "kind" | "seq" | "prev_hash" | "hash" | "counted">,
): string {
  const { record_id, timestamp, tool, ok, decision_records } = result;
  const known = { kind: "tool_result", record_id, timestamp, tool, ok, decision_records };
  return JSON.stringify(known).slice(1, -1) + provenanceJson(result);
}

export function noteBody({
  record_id,
  timestamp,
  note,
  details,
}: Omit<NoteRecord, "kind" | "seq" | "prev_hash" | "hash">): string {
  return JSON.stringify({ kind: "note", record_id, timestamp, note, details }).slice(1, -1);
}
