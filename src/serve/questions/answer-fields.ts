import { decisionTypes } from "../../definition/decision-types.js";
import type { JsonObject } from "../../model/json.js";
import type { AnswerSchema } from "../question.js";
import { document, flag } from "./fields.js";

/** The JSON Schema of an answer with these keys, the first of them always there; others may come to be. */
export function answerWith(
  always: Readonly<Record<string, JsonObject>>,
  sometimes: Readonly<Record<string, JsonObject>> = {},
): AnswerSchema {
  return { type: "object", properties: { ...always, ...sometimes }, required: Object.keys(always) };
}

export const said = (description: string): JsonObject => ({ type: "string", description });

export const list = (description: string, items: JsonObject = { type: "string" }): JsonObject => ({
  type: "array",
  items,
  description,
});

export const recordIdSaid = said("the record of the decision; absent: none was kept");

/** What every decision answers with; the rest goes by its type. */
export const resultSchema = answerWith(
  {
    decision_id: said("the decision that was made"),
    definition_hash: said("of the definition that it was made with"),
    type: { enum: [...decisionTypes], description: "of the decision" },
    selected_targets: list("where to go"),
    selected_labels: list("the branches that were taken, the decision, the outcome or the status"),
    because: list("why"),
    failed_conditions: list("what did not hold"),
    warnings: list("what could not be evaluated, and what guardrails warn of"),
    guardrails: list("what each guardrail said", document("a guardrail's verdict")),
    blocked: flag("a guardrail holds it back: act on nothing"),
    escalated: flag("a guardrail has it looked at by somebody else"),
    cached: flag("whether it was answered before"),
    dry_run: flag("whether nothing is kept of it"),
    timestamp: said("when it was made"),
    deterministic_hash: said("the same for the same answer to the same question"),
  },
  {
    record_id: recordIdSaid,
    decision: said("of a scored decision: what won"),
    confidence: { type: "number", description: "of a scored decision" },
    allowed: flag("of a policy: whether the call may be made"),
    outcome: said("of a policy: allowed, denied or allowed_by_exception"),
    reason: said("of a policy"),
    status: said("of a gate: GREEN, GREEN-SKIP, YELLOW or RED"),
    work_frame: document("of a gate: what may be done next"),
    decision_metadata: document("of a gate: the rules that matched"),
    followed: list("where the way was followed: every decision on it", document("a step")),
    final_targets: list("where the way leads in the end"),
  },
);
