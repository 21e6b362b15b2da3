import { decisionTypes } from "../../definition/decision-types.js";
import type { JsonObject } from "../../model/json.js";
import type { AuthenticatedCaller, Provenance } from "../../model/record.js";
import type { InputSchema, OutputSchema, Invocation } from "./operation.js";

/** The JSON Schema of an object with these keys and no others. */
export function inputObject(
  properties: Readonly<Record<string, JsonObject>>,
  required: readonly string[] = [],
): InputSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** No name is longer, whichever way it comes. */
export const maxTextLength = 1024;

export const inputText = (description: string): JsonObject => ({
  type: "string",
  minLength: 1,
  maxLength: maxTextLength,
  description,
});

export const flag = (description: string): JsonObject => ({ type: "boolean", description });

export const objectField = (description: string): JsonObject => ({ type: "object", description });

export const contextField = objectField(
  "what is known of the case; the definition says which values it reads",
);

/** On whose behalf it is asked. */
export const provenanceFields = {
  workflow_id: inputText("the workflow on whose behalf it is asked"),
  stage_id: inputText("the stage on whose behalf it is asked"),
  session_id: inputText("the session that asks"),
  correlation_id: inputText("ties together what belongs together; else that of the request"),
} as const;

export interface ProvenanceInput {
  readonly workflow_id?: string;
  readonly stage_id?: string;
  readonly session_id?: string;
  readonly correlation_id?: string;
}

export const feedbackField = objectField("is recorded beside the decision, without a part in it");

/** The JSON Schema of an answer with these keys, the first of them always there; others may come to be. */
export function outputObject(
  always: Readonly<Record<string, JsonObject>>,
  sometimes: Readonly<Record<string, JsonObject>> = {},
): OutputSchema {
  return { type: "object", properties: { ...always, ...sometimes }, required: Object.keys(always) };
}

export const outputText = (description: string): JsonObject => ({ type: "string", description });

export const listOf = (description: string, items: JsonObject = { type: "string" }): JsonObject => ({
  type: "array",
  items,
  description,
});

export const recordIdField = outputText("the record of the decision; absent: none was kept");

/** What every decision answers with; the rest goes by its type. */
export const resultSchema = outputObject(
  {
    decision_id: outputText("the decision that was made"),
    definition_hash: outputText("of the definition that it was made with"),
    type: { enum: [...decisionTypes], description: "of the decision" },
    selected_targets: listOf("where to go"),
    selected_labels: listOf("the branches that were taken, the decision, the outcome or the status"),
    because: listOf("why"),
    failed_conditions: listOf("what did not hold"),
    warnings: listOf("what could not be evaluated, and what guardrails warn of"),
    guardrails: listOf("what each guardrail said", objectField("a guardrail's verdict")),
    blocked: flag("a guardrail holds it back: act on nothing"),
    escalated: flag("a guardrail has it looked at by somebody else"),
    cached: flag("whether it was answered before"),
    dry_run: flag("whether nothing is kept of it"),
    timestamp: outputText("when it was made"),
    deterministic_hash: outputText("the same for the same answer to the same question"),
  },
  {
    record_id: recordIdField,
    decision: outputText("of a scored decision: what won"),
    confidence: { type: "number", description: "of a scored decision" },
    allowed: flag("of a policy: whether the call may be made"),
    outcome: outputText("of a policy: allowed, denied or allowed_by_exception"),
    reason: outputText("of a policy"),
    status: outputText("of a gate: GREEN, GREEN-SKIP, YELLOW or RED"),
    work_frame: objectField("of a gate: what may be done next"),
    decision_metadata: objectField("of a gate: the rules that matched"),
    followed: listOf("where the way was followed: every decision on it", objectField("a step")),
    final_targets: listOf("where the way leads in the end"),
  },
);

/** On whose behalf it is asked, and who is proven to ask. */
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
