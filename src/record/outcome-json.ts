import type { Result } from "../model/result.js";

/**
 * What only one type of decision answers with, as fields of a record or of a printed answer. Without inputs
 * what repeats them is left out: the audit payload of a scored decision, and the params of a call. A record
 * has its lineage elsewhere.
 */
export function outcomeJson(
  result: Result,
  { inputs = true, recorded = false }: { readonly inputs?: boolean; readonly recorded?: boolean } = {},
): string {
  const fields = outcomeFields(result, inputs, recorded);
  return fields === undefined ? "" : `,${JSON.stringify(fields).slice(1, -1)}`;
}

function outcomeFields(result: Result, inputs: boolean, recorded: boolean): object | undefined {
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
    case "gate": {
      const { status, work_frame, decision_metadata } = result;
      return { status, work_frame, decision_metadata };
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
