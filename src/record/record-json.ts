/*
 * JSON of results and records, written by hand: with `JSON.stringify` on an object, a batch of decisions takes
 * 10 % more time with a store and 11 % (a gate: 22 %) without one. Most texts and details are the same in every
 * answer of a definition, so their JSON is cached. A test compares the text with that of `JSON.stringify`.
 */

import type { Logging } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { InputSource, Lineage } from "../model/lineage.js";
import type { AssessmentRecord, NoteRecord, Provenance, ToolResultRecord } from "../model/record.js";
import type { ConditionDetail, EvaluationDetails, GateResult, Result } from "../model/result.js";

/** The parts of a decision's record that are not in its result. */
export interface RecordMetadata {
  readonly provenance: Provenance;
  readonly lineage: Lineage;
  readonly context: JsonObject;
  readonly facts: JsonObject;
  readonly feedback?: JsonObject | undefined;
  readonly cacheKey?: string | undefined;
  readonly cachedFrom?: string | undefined;
  readonly answerDigest?: string | undefined;
}

/**
 * The first fields of a decision's line after `seq`, in order, with the length of each value. The index finds
 * them by their offset, without parsing the line, so neither order nor lengths can change.
 */
export const leadingFields = {
  kind: "decision".length,
  record_id: 36,
  timestamp: "YYYY-MM-DDTHH:MM:SS.ffffffZ".length,
  deterministic_hash: 64,
  definition_hash: 64,
  decision_id: undefined,
} as const;

/** Returns where the value of a leading field starts, without its quote, counted from the `"` of `"kind"`. */
export function leadingFieldOffset(field: keyof typeof leadingFields): number {
  let offset = 0;
  for (const [name, length = 0] of Object.entries(leadingFields)) {
    offset += `"${name}":"`.length;
    if (name === field) break;
    offset += length + `",`.length;
  }
  return offset;
}

/**
 * Returns the fields of a decision's record as JSON, without braces. The index also depends on the order of
 * the fields from `decision_id` to the start of `lineage`.
 */
export function decisionRecordBody(
  result: Result,
  metadata: RecordMetadata,
  { include_inputs: withInputs = true, include_evaluation: withEvaluation = true }: Logging = {},
): string {
  const { decision_name: name, decision_version: version, rules_total: total } = result;
  const { cacheKey, cachedFrom, answerDigest, feedback } = metadata;
  return (
    `"kind":"decision","record_id":"${result.record_id ?? ""}","timestamp":"${result.timestamp}"` +
    `,"deterministic_hash":"${result.deterministic_hash}","definition_hash":"${result.definition_hash}"` +
    `,"decision_id":${textJson(result.decision_id)},"selected_labels":${textListJson(result.selected_labels)}` +
    `,"cached":${result.cached}` +
    (cacheKey === undefined ? "" : `,"cache_key":"${cacheKey}"`) +
    (cachedFrom === undefined ? "" : `,"cached_from":"${cachedFrom}"`) +
    `,"selected_targets":${textListJson(result.selected_targets)},"type":"${result.type}"` +
    (name === undefined ? "" : `,"decision_name":${textJson(name)}`) +
    (version === undefined ? "" : `,"decision_version":${textJson(version)}`) +
    `,"environment_hash":"${result.environment_hash}"` +
    provenanceJson(metadata.provenance) +
    (result.type === "policy" ? `,"tool":${textJson(result.tool)}` : "") +
    `,"lineage":${lineageJson(metadata.lineage, withEvaluation)}` +
    outputsJson(result) +
    (withInputs ? `,"input_value":${JSON.stringify(result.input_value)}` : "") +
    `,"evaluation_details":${withEvaluation ? recordedDetailsJson(result, withInputs) : "{}"}` +
    (total === undefined ? "" : `,"rules_total":${total}`) +
    `,"because":${textListJson(result.because)},"failed_conditions":${textListJson(result.failed_conditions)}` +
    `,"warnings":${textListJson(result.warnings)},"guardrails":${listJson(result.guardrails)}` +
    `,"blocked":${result.blocked},"escalated":${result.escalated}${proposedJson(result)},"dry_run":false` +
    outcomeJson(result, { withInputs, isRecord: true }) +
    (withInputs ? `,"context":${JSON.stringify(metadata.context)}` : "") +
    `,"facts":${JSON.stringify(metadata.facts)}` +
    (feedback === undefined ? "" : `,"feedback":${JSON.stringify(feedback)}`) +
    (answerDigest === undefined ? "" : `,"answer_digest":"${answerDigest}"`)
  );
}

/** Returns the fields of a tool result's record as JSON, without braces. */
export function toolResultRecordBody(
  result: Omit<ToolResultRecord, "kind" | "seq" | "prev_hash" | "hash" | "counted">,
): string {
  const { record_id, timestamp, tool, ok, decision_records, linked, org_id, params_digest, value } = result;
  const fields = { kind: "tool_result", record_id, timestamp, tool, ok, decision_records };
  // The provenance comes before the others, because the index expects it right after the decisions.
  const link = linked === undefined ? "" : `,"linked":${linked}`;
  const org = org_id === undefined ? "" : `,"org_id":${textJson(org_id)}`;
  const digest = params_digest === undefined ? "" : `,"params_digest":"${params_digest}"`;
  const returned = value === undefined ? "" : `,"value":${JSON.stringify(value)}`;
  return JSON.stringify(fields).slice(1, -1) + provenanceJson(result) + link + org + digest + returned;
}

/** Returns the fields of an assessment's record as JSON, without braces. */
export function assessmentRecordBody(
  assessment: Omit<AssessmentRecord, "kind" | "seq" | "prev_hash" | "hash">,
): string {
  const { record_id, timestamp, observer, severity, summary, decisions, ...rest } = assessment;
  const first = { kind: "assessment", record_id, timestamp, observer, severity, summary, decisions };
  return JSON.stringify({ ...first, ...rest }).slice(1, -1);
}

/** Returns the fields of a note's record as JSON, without braces. */
export function noteRecordBody({
  record_id,
  timestamp,
  note,
  details,
}: Omit<NoteRecord, "kind" | "seq" | "prev_hash" | "hash">): string {
  return JSON.stringify({ kind: "note", record_id, timestamp, note, details }).slice(1, -1);
}

/** Returns the same text as `JSON.stringify(result)`. */
export function resultJson(result: Result): string {
  const { record_id: id, decision_name: name, decision_version: version, rules_total: total } = result;
  const { fetched } = result;
  return (
    `{${id === undefined ? "" : `"record_id":"${id}",`}"decision_id":${textJson(result.decision_id)}` +
    (name === undefined ? "" : `,"decision_name":${textJson(name)}`) +
    (version === undefined ? "" : `,"decision_version":${textJson(version)}`) +
    `,"definition_hash":"${result.definition_hash}","environment_hash":"${result.environment_hash}"` +
    `,"type":"${result.type}","selected_targets":${textListJson(result.selected_targets)}` +
    `,"selected_labels":${textListJson(result.selected_labels)}${outputsJson(result)}` +
    `,"input_value":${JSON.stringify(result.input_value)}` +
    `,"evaluation_details":${detailsJson(result.evaluation_details)}` +
    (total === undefined ? "" : `,"rules_total":${total}`) +
    `,"because":${textListJson(result.because)},"failed_conditions":${textListJson(result.failed_conditions)}` +
    `,"warnings":${textListJson(result.warnings)},"guardrails":${listJson(result.guardrails)}` +
    `,"blocked":${result.blocked},"escalated":${result.escalated}${proposedJson(result)}` +
    (fetched === undefined ? "" : `,"fetched":${JSON.stringify(fetched)}`) +
    `,"cached":${result.cached}` +
    `,"dry_run":${result.dry_run},"timestamp":"${result.timestamp}"` +
    `,"deterministic_hash":"${result.deterministic_hash}"` +
    outcomeJson(result, { withInputs: true, isRecord: false }) +
    `${followedJson(result)}}`
  );
}

function outputsJson({ outputs, aggregate }: Partial<Pick<Result, "outputs" | "aggregate">>): string {
  if (outputs === undefined) return "";
  const combined = aggregate === undefined ? "" : `,"aggregate":${JSON.stringify(aggregate)}`;
  return `,"outputs":${JSON.stringify(outputs)}${combined}`;
}

/** The part of a gate's result that `POST /decide` answers with. */
export type GateAnswer = Pick<
  GateResult,
  "status" | "work_frame" | "decision_metadata" | "because" | "warnings" | "outputs" | "record_id"
>;

/** Returns the same text as `JSON.stringify(answer)`. */
export function gateAnswerJson(answer: GateAnswer): string {
  const { because, warnings, record_id } = answer;
  const reasons = `,"because":${textListJson(because)},"warnings":${textListJson(warnings)}`;
  const fields = gateJson(answer).slice(1) + reasons + outputsJson(answer);
  return record_id === undefined ? `{${fields}}` : `{${fields},"record_id":"${record_id}"}`;
}

/** The ids that callers give with a request, in the order of a record's fields. */
export const provenanceFields = [
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "parent_record_id",
  "check_id",
] as const;

function provenanceJson(provenance: Provenance): string {
  let json = "";
  for (const name of provenanceFields) {
    const value = provenance[name];
    if (value !== undefined) json += `,"${name}":${textJson(value)}`;
  }
  return json;
}

function lineageJson(lineage: Lineage, withConditions: boolean): string {
  const { entities, artifacts, param_names: params, inputs, conditions } = lineage;
  const { policies, override, overrides, params_digest, precedents } = lineage;
  return (
    `{"entities":${listJson(entities)},"artifacts":${listJson(artifacts)}` +
    (params === undefined ? "" : `,"param_names":${listJson(params)}`) +
    `,"inputs":${inputsJson(inputs)}` +
    `,"conditions":${withConditions ? frozenListJson(conditions) : "[]"},"policies":${listJson(policies)}` +
    `,"override":${JSON.stringify(override)}` +
    (overrides === undefined ? "" : `,"overrides":${listJson(overrides)}`) +
    `,"params_digest":${JSON.stringify(params_digest)}` +
    `,"precedents":${listJson(precedents)}}`
  );
}

function inputsJson(inputs: readonly InputSource[]): string {
  let json = "[";
  for (const { source, source_type: type, keys, digest } of inputs) {
    const typed = type === undefined ? "" : `,"source_type":"${type}"`;
    const fields = `"source":${textJson(source)}${typed},"keys":${textListJson(keys)},"digest":${JSON.stringify(digest)}`;
    json += `${json === "[" ? "" : ","}{${fields}}`;
  }
  return `${json}]`;
}

/** Without inputs, the values that the rules of evaluators read are left out. */
function recordedDetailsJson({ type, evaluation_details: details }: Result, withInputs: boolean): string {
  if (withInputs || type !== "scored") return detailsJson(details);
  return JSON.stringify(details, (key, value: unknown) => (key === "actual" ? undefined : value));
}

function detailsJson(details: EvaluationDetails): string {
  let json = "{";
  for (const [label, detail] of Object.entries(details) as [string, ConditionDetail | number][]) {
    const value = typeof detail === "object" ? frozenJson(detail) : JSON.stringify(detail);
    json += `${json === "{" ? "" : ","}${textJson(label)}:${value}`;
  }
  return `${json}}`;
}

interface OutcomeOptions {
  /** False: the audit payload of a scored decision and the params of a call are left out, as they repeat inputs. */
  readonly withInputs: boolean;
  /** A record has the tool and the lineage of a policy elsewhere. */
  readonly isRecord: boolean;
}

/** Returns the fields that only this type of decision has, each with a comma before it. */
function outcomeJson(result: Result, options: OutcomeOptions): string {
  if (result.type === "gate") return gateJson(result);
  const fields = outcomeFields(result, options);
  return fields === undefined ? "" : `,${JSON.stringify(fields).slice(1, -1)}`;
}

function outcomeFields(
  result: Exclude<Result, GateResult>,
  { withInputs, isRecord }: OutcomeOptions,
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
      const scored = {
        decision,
        confidence,
        evaluations,
        explanations,
        scoring_strategy,
        scoring_parameters,
      };
      return { ...scored, explainability, ...(withInputs && { audit_payload }) };
    }
    case "policy": {
      const { tool, allowed, outcome, reason, params, lineage } = result;
      const fields = { allowed, outcome, reason, ...(withInputs && { params }) };
      return isRecord ? fields : { tool, ...fields, lineage };
    }
  }
}

function gateJson({
  status,
  work_frame,
  decision_metadata,
}: Pick<GateResult, "status" | "work_frame" | "decision_metadata">): string {
  const { matched_rules, suppressed, aggregation, predicate_traces } = decision_metadata;
  const { errored_predicates, limits, request_id, request_time } = decision_metadata;
  const { mode, winner, deciding_rules, raised } = aggregation;
  return (
    `,"status":"${status}","work_frame":${frozenJson(work_frame)}` +
    `,"decision_metadata":{"matched_rules":${textListJson(matched_rules)}` +
    `,"suppressed":${listJson(suppressed)}` +
    `,"aggregation":{"mode":"${mode}","winner":${winner === null ? "null" : textJson(winner)}` +
    `,"deciding_rules":${textListJson(deciding_rules)}` +
    (raised === undefined ? "}" : `,"raised":${JSON.stringify(raised)}}`) +
    `,"predicate_traces":${frozenListJson(predicate_traces)}` +
    `,"errored_predicates":${listJson(errored_predicates)}` +
    `,"request_id":"${request_id}","request_time":"${request_time}"` +
    (limits === undefined ? "}" : `,"limits":${listJson(limits)}}`)
  );
}

/** Returns the outcome that a guardrail blocked or escalated. */
function proposedJson({
  blocked,
  escalated,
  proposed_targets,
  proposed_labels,
  proposed_outputs,
  proposed_outcome,
  proposed_status,
}: Result): string {
  if (!blocked && !escalated) return "";
  const answer = { proposed_targets, proposed_labels, proposed_outcome, proposed_status };
  const proposed = { ...answer, proposed_outputs };
  return `,${JSON.stringify(proposed).slice(1, -1)}`;
}

function followedJson({ followed, final_targets }: Result): string {
  if (followed === undefined) return "";
  return `,${JSON.stringify({ followed, final_targets }).slice(1, -1)}`;
}

/** For lists that are usually empty. */
const listJson = (list: readonly unknown[]): string => (list.length === 0 ? "[]" : JSON.stringify(list));

function textListJson(texts: readonly string[]): string {
  let json = "[";
  for (let index = 0; index < texts.length; index++)
    json += (index === 0 ? "" : ",") + textJson(texts[index] ?? "");
  return `${json}]`;
}

function frozenListJson(parts: readonly object[]): string {
  let json = "[";
  for (let index = 0; index < parts.length; index++)
    json += (index === 0 ? "" : ",") + frozenJson(parts[index] ?? {});
  return `${json}]`;
}

const maxCachedTexts = 5000;
const maxCachedLength = 500;
/** Labels, targets and conditions recur in every answer. Without this cache a batch takes 8 % more time. */
const jsonByText = new Map<string, string>();

function textJson(text: string): string {
  let json = jsonByText.get(text);
  if (json === undefined) {
    json = JSON.stringify(text);
    if (jsonByText.size < maxCachedTexts && text.length < maxCachedLength) jsonByText.set(text, json);
  }
  return json;
}

/** A branch answers with one of two frozen details. Without this cache a batch takes 17 % more time. */
const jsonByObject = new WeakMap<object, string>();

function frozenJson(part: object): string {
  let json = jsonByObject.get(part);
  if (json === undefined) {
    json = JSON.stringify(part);
    if (Object.isFrozen(part)) jsonByObject.set(part, json);
  }
  return json;
}
