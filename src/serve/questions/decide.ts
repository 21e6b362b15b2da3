import { findGate } from "../../definition/gate-key.js";
import type { GateResult, Result } from "../../model/result.js";
import type { GateAnswer } from "../../record/outcome-json.js";
import { question } from "../question.js";
import { answerWith, list, recordIdSaid } from "./answer-fields.js";
import type { ProvenanceInput } from "./fields.js";
import { context, document, feedback, objectWith, provenance, text } from "./fields.js";
import { inOwnSession } from "./in-own-session.js";
import { onBehalf } from "./on-behalf.js";
import { refuseForeignOrg } from "./own-org.js";

interface DecideInput extends ProvenanceInput {
  readonly org_id: string;
  readonly domain: string;
  readonly action: string;
  readonly world_model_version?: number;
  readonly context: object;
  readonly feedback?: object;
}

/** The JSON Schema of the answer of a gate. */
export const gateAnswerSchema = answerWith(
  {
    status: { enum: ["GREEN", "GREEN-SKIP", "YELLOW", "RED"] },
    work_frame: document("what may be done next"),
    decision_metadata: document("the rules that matched, and what came of every predicate"),
    because: list("why: the reasons of the rules that decided, and of guardrails that objected"),
    warnings: list("what could not be evaluated, and what guardrails warn of"),
  },
  { record_id: recordIdSaid },
);

/** The gate of an action, by its routing key. */
export const decideAction = question<DecideInput, GateAnswer>({
  name: "decide",
  title: "Ask the gate of an action",
  description:
    "Ask before you act: answers GREEN (do it), GREEN-SKIP (leave it, that is fine), YELLOW (do not act yet: gather " +
    "evidence or have it reviewed) or RED (stop and escalate), why (because, warnings), and " +
    "with a work_frame what you may do next. " +
    "`list_actions` tells which actions there are and what their context must hold. The decision is recorded.",
  scope: "decide",
  readOnly: false,
  input: objectWith(
    {
      org_id: text("the organisation"),
      domain: text("the domain of the action"),
      action: text("the action that is to be taken"),
      world_model_version: {
        type: "integer",
        minimum: 0,
        description: "the version of the gate; absent: the highest",
      },
      context: {
        ...context,
        description: "what is known of the case, as the gate's context schema asks for",
      },
      ...provenance,
      feedback,
    },
    ["org_id", "domain", "action", "context"],
  ),
  output: gateAnswerSchema,
  async answer(input, asker) {
    const { org_id: org, domain, action, world_model_version: version } = input;
    refuseForeignOrg(org, asker);
    const { world } = asker;
    const id = findGate({ org, domain, action, version }, world.definitions);
    const decide = (): Promise<Result> =>
      world.decide({
        decision_id: id,
        context: input.context,
        ...(input.feedback !== undefined && { feedback: input.feedback }),
        ...onBehalf(input, asker),
      });
    return gateAnswer((await inOwnSession(input, asker, decide)) as GateResult);
  },
});

const gateAnswer = ({
  status,
  work_frame,
  decision_metadata,
  because,
  warnings,
  record_id,
}: GateResult): GateAnswer => ({
  status,
  work_frame,
  decision_metadata,
  because,
  warnings,
  ...(record_id !== undefined && { record_id }),
});
