import { decisionTypes } from "../../definition/decision-types.js";
import type { JsonObject } from "../../model/json.js";
import type { AuthenticatedCaller, Provenance } from "../../model/record.js";
import type { InputSchema, OutputSchema, Invocation } from "./operation.js";

/** The JSON Schema of an input with these keys and no others. */
export function inputObject(
  properties: Readonly<Record<string, JsonObject>>,
  required: readonly string[] = [],
): InputSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** The longest id or name in a body, a header or `_meta`. */
export const maxTextLength = 1024;

export const inputText = (description: string): JsonObject => ({
  type: "string",
  minLength: 1,
  maxLength: maxTextLength,
  description,
});

export const flag = (description: string): JsonObject => ({ type: "boolean", description });

export const objectField = (description: string): JsonObject => ({ type: "object", description });

export const contextField = objectField("the input data of the decision");

export const provenanceFields = {
  workflow_id: inputText("the workflow"),
  stage_id: inputText("the stage"),
  session_id: inputText("the session"),
  correlation_id: inputText("groups related records"),
} as const;

export interface ProvenanceInput {
  readonly workflow_id?: string;
  readonly stage_id?: string;
  readonly session_id?: string;
  readonly correlation_id?: string;
}

export const feedbackField = objectField("recorded, without effect");

/** The JSON Schema of an answer. Later versions may add keys. */
export function outputObject(
  required: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
): OutputSchema {
  return { type: "object", properties: { ...required, ...optional }, required: Object.keys(required) };
}

export const outputText = (description: string): JsonObject => ({ type: "string", description });

export const listOf = (description: string, items: JsonObject = { type: "string" }): JsonObject => ({
  type: "array",
  items,
  description,
});

export const recordIdField = outputText("the record of the decision; absent if it was not recorded");

export const outputsField = {
  type: "array",
  items: {},
  description:
    "the output of each selected label, null where its branch has none; one number with `aggregate`; absent if the definition declares no output",
} as const;

/** The JSON Schema of a result: fields of every type, then fields of some types. */
export const resultSchema = outputObject(
  {
    decision_id: outputText("the id of the decision"),
    definition_hash: outputText("the hash of the definition that was used"),
    type: { enum: [...decisionTypes], description: "the type of the decision" },
    selected_targets: listOf("the selected targets"),
    selected_labels: listOf("the selected branches, the decision, the outcome or the status"),
    because: listOf("the reasons for the result"),
    failed_conditions: listOf("the conditions that were not met"),
    warnings: listOf("conditions that could not be evaluated, and warnings of guardrails"),
    guardrails: listOf("the verdict of each guardrail", objectField("the verdict of a guardrail")),
    blocked: flag("a guardrail blocks the result: do not act on it"),
    escalated: flag("a guardrail escalates the decision for review"),
    cached: flag("whether the result comes from the cache"),
    dry_run: flag("whether nothing was recorded"),
    timestamp: outputText("the time of the decision"),
    deterministic_hash: outputText("equal for equal results of equal inputs"),
  },
  {
    record_id: recordIdField,
    outputs: outputsField,
    aggregate: objectField("rule tables with `aggregate`: the number, and the outputs it was made of"),
    proposed_outputs: {
      type: "array",
      items: {},
      description: "the outputs before a guardrail blocked or escalated the result",
    },
    decision: outputText("scored decisions: the decision with the highest score"),
    confidence: { type: "number", description: "scored decisions: the confidence, 0 to 1" },
    allowed: flag("policies: whether the tool call is allowed"),
    outcome: outputText("policies: allowed, denied or allowed_by_exception"),
    reason: outputText("policies: the reason for the outcome"),
    status: outputText("gates: GREEN, GREEN-SKIP, YELLOW or RED"),
    work_frame: objectField("gates: what the agent may do next"),
    decision_metadata: objectField("gates: the rules that matched"),
    followed: listOf("with `follow`: every decision that was made", objectField("one decision of the chain")),
    final_targets: listOf("with `follow`: the targets of the last decision"),
  },
);

/** The provenance that is recorded with a decision: from the input, and the authenticated caller. */
export function toProvenance(
  { workflow_id, stage_id, session_id, correlation_id }: ProvenanceInput,
  { caller, correlationId }: Invocation,
): Provenance & { readonly caller?: AuthenticatedCaller } {
  const correlation = correlation_id ?? correlationId;
  return {
    ...(workflow_id !== undefined && { workflow_id }),
    ...(stage_id !== undefined && { stage_id }),
    ...(session_id !== undefined && { session_id }),
    ...(correlation !== undefined && { correlation_id: correlation }),
    ...(caller !== undefined && { caller }),
  };
}
