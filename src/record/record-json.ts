import type { Logging } from "../model/definition.js";
import type { JsonObject, Json } from "../model/json.js";
import type { InputSource, Lineage } from "../model/lineage.js";
import type { NoteRecord, Provenance, ToolResultRecord } from "../model/record.js";
import type { Result, GateResult, ConditionDetail, EvaluationDetails } from "../model/result.js";

/** What a record holds beside the result. */
export interface RecordMetadata {
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
export function decisionRecordBody(result: Result, about: RecordMetadata, logging: Logging = {}): string {
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

export function toolResultRecordBody(
  result: Omit<ToolResultRecord, "kind" | "seq" | "prev_hash" | "hash" | "counted">,
): string {
  const { record_id, timestamp, tool, ok, decision_records } = result;
  const known = { kind: "tool_result", record_id, timestamp, tool, ok, decision_records };
  return JSON.stringify(known).slice(1, -1) + provenanceJson(result);
}

export function noteRecordBody({
  record_id,
  timestamp,
  note,
  details,
}: Omit<NoteRecord, "kind" | "seq" | "prev_hash" | "hash">): string {
  return JSON.stringify({ kind: "note", record_id, timestamp, note, details }).slice(1, -1);
}

/**
 * What only one type of decision answers with, as fields of a record or of a printed answer. Without inputs
 * what repeats them is left out: the audit payload of a scored decision, and the params of a call. A record
 * has its lineage elsewhere.
 */
function outcomeJson(
  result: Result,
  { inputs = true, recorded = false }: { readonly inputs?: boolean; readonly recorded?: boolean } = {},
): string {
  if (result.type === "gate") return gateJson(result);
  const fields = outcomeFields(result, inputs, recorded);
  return fields === undefined ? "" : `,${JSON.stringify(fields).slice(1, -1)}`;
}

/** What `decide` answers of a gate's result: its outcome, why, and the record of it where there is one. */
export type GateAnswer = Pick<
  GateResult,
  "status" | "work_frame" | "decision_metadata" | "because" | "warnings" | "record_id"
>;

/** The same as `POST /decide` writes it. */
export function gateAnswerJson(answer: GateAnswer): string {
  const { because, warnings, record_id } = answer;
  const why = `,"because":${listJson(because)},"warnings":${listJson(warnings)}`;
  const fields = gateJson(answer).slice(1) + why;
  return record_id === undefined ? `{${fields}}` : `{${fields},"record_id":"${record_id}"}`;
}

/** Field by field, as most of it is the same in all answers of a gate. */
function gateJson({
  status,
  work_frame,
  decision_metadata,
}: Pick<GateResult, "status" | "work_frame" | "decision_metadata">): string {
  const { matched_rules, suppressed, aggregation, predicate_traces } = decision_metadata;
  const { errored_predicates, request_id, request_time } = decision_metadata;
  const { mode, winner, deciding_rules } = aggregation;
  return (
    `,"status":"${status}","work_frame":${sharedJson(work_frame)}` +
    `,"decision_metadata":{"matched_rules":${listJson(matched_rules)}` +
    `,"suppressed":${suppressed.length === 0 ? "[]" : JSON.stringify(suppressed)}` +
    `,"aggregation":{"mode":"${mode}","winner":${winner === null ? "null" : quoted(winner)}` +
    `,"deciding_rules":${listJson(deciding_rules)}}` +
    `,"predicate_traces":${sharedListJson(predicate_traces)}` +
    `,"errored_predicates":${errored_predicates.length === 0 ? "[]" : JSON.stringify(errored_predicates)}` +
    `,"request_id":"${request_id}","request_time":"${request_time}"}`
  );
}

function outcomeFields(
  result: Exclude<Result, GateResult>,
  inputs: boolean,
  recorded: boolean,
): object | undefined {
  switch (result.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return undefined;
    case "scored": {
      const { decision, confidence, evaluations, explanations } = result;
      const { scoring_strategy, scoring_parameters, explainability, audit_payload } = result;
      const made = { decision, confidence, evaluations, explanations, scoring_strategy, scoring_parameters };
      return { ...made, explainability, ...(inputs && { audit_payload }) };
    }
    case "policy": {
      const { tool, allowed, outcome, reason, params, lineage } = result;
      return { tool, allowed, outcome, reason, ...(inputs && { params }), ...(!recorded && { lineage }) };
    }
  }
}

/** What an answer would have been that was blocked or escalated. */
function proposedJson({
  blocked,
  escalated,
  proposed_targets,
  proposed_labels,
  proposed_outcome,
  proposed_status,
}: Result): string {
  if (!blocked && !escalated) return "";
  const proposed = { proposed_targets, proposed_labels, proposed_outcome, proposed_status };
  return `,${JSON.stringify(proposed).slice(1, -1)}`;
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

function listJson(texts: readonly string[]): string {
  let json = "[";
  for (let index = 0; index < texts.length; index++)
    json += (index === 0 ? "" : ",") + quoted(texts[index] ?? "");
  return `${json}]`;
}

function detailsJson(all: EvaluationDetails): string {
  let json = "{";
  for (const [label, detail] of Object.entries(all) as [string, ConditionDetail | number][]) {
    const value = typeof detail === "object" ? sharedJson(detail) : JSON.stringify(detail);
    json += `${json === "{" ? "" : ","}${quoted(label)}:${value}`;
  }
  return `${json}}`;
}

const known = new WeakMap<object, string>();

/** Of a part that many answers share: a branch answers with one of two frozen details, time and again. */
function sharedJson(part: object): string {
  let json = known.get(part);
  if (json === undefined) {
    json = JSON.stringify(part);
    if (Object.isFrozen(part)) known.set(part, json);
  }
  return json;
}

/** Of a list of such parts. */
function sharedListJson(parts: readonly object[]): string {
  let json = "[";
  for (let index = 0; index < parts.length; index++)
    json += (index === 0 ? "" : ",") + sharedJson(parts[index] ?? {});
  return `${json}]`;
}

let lastValue: object | undefined;
let lastText = "";

/** The input of a decision is often its whole context, and both are written. */
function jsonOf(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value !== lastValue) {
    lastText = JSON.stringify(value);
    lastValue = value;
  }
  return lastText;
}

/**
 * What `JSON.stringify` gives, in half the time: a batch spends most of its time on writing answers, and
 * most of an answer is the same from one to the next. A test holds the two to the same text.
 */
export function resultJson(result: Result): string {
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
