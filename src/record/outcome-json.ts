import type { GateResult, Result } from "../model/result.js";
import { listJson, quoted, sharedJson, sharedListJson } from "./json-text.js";

/**
 * What only one type of decision answers with, as fields of a record or of a printed answer. Without inputs
 * what repeats them is left out: the audit payload of a scored decision, and the params of a call. A record
 * has its lineage elsewhere.
 */
export function outcomeJson(
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
export function proposedJson({
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
