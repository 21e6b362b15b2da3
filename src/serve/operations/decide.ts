import type { Invocation, Operation } from "./operation.js";
import { defineOperation } from "./operation.js";
import { withOwnSession, assertOwnOrg, orgOfDecision, hideForeignReferences } from "./org-access.js";
import type { ProvenanceInput } from "./shared-fields.js";
import {
  outputObject,
  listOf,
  recordIdField,
  contextField,
  objectField,
  feedbackField,
  inputObject,
  provenanceFields,
  inputText,
  toProvenance,
  resultSchema,
  flag,
} from "./shared-fields.js";
import { findGate } from "../../definition/gate-key.js";
import type { GateResult, Result } from "../../model/result.js";
import type { GateAnswer } from "../../record/record-json.js";

interface DecideInput extends ProvenanceInput {
  readonly org_id: string;
  readonly domain: string;
  readonly action: string;
  readonly world_model_version?: number;
  readonly context: object;
  readonly feedback?: object;
}

/** The JSON Schema of the answer of a gate. */
export const gateAnswerSchema = outputObject(
  {
    status: { enum: ["GREEN", "GREEN-SKIP", "YELLOW", "RED"] },
    work_frame: objectField("what may be done next"),
    decision_metadata: objectField("the rules that matched, and what came of every predicate"),
    because: listOf("why: the reasons of the rules that decided, and of guardrails that objected"),
    warnings: listOf("what could not be evaluated, and what guardrails warn of"),
  },
  { record_id: recordIdField },
);

/** The gate of an action, by its routing key. */
export const decideAction = defineOperation<DecideInput, GateAnswer>({
  name: "decide",
  title: "Ask the gate of an action",
  description:
    "Ask before you act: answers GREEN (do it), GREEN-SKIP (leave it, that is fine), YELLOW (do not act yet: gather " +
    "evidence or have it reviewed) or RED (stop and escalate), why (because, warnings), and " +
    "with a work_frame what you may do next. " +
    "`list_actions` tells which actions there are and what their context must hold. The decision is recorded.",
  scope: "decide",
  readOnly: false,
  input: inputObject(
    {
      org_id: inputText("the organisation"),
      domain: inputText("the domain of the action"),
      action: inputText("the action that is to be taken"),
      world_model_version: {
        type: "integer",
        minimum: 0,
        description: "the version of the gate; absent: the highest",
      },
      context: {
        ...contextField,
        description: "what is known of the case, as the gate's context schema asks for",
      },
      ...provenanceFields,
      feedback: feedbackField,
    },
    ["org_id", "domain", "action", "context"],
  ),
  output: gateAnswerSchema,
  async answer(input, asker) {
    const { org_id: org, domain, action, world_model_version: version } = input;
    assertOwnOrg(org, asker);
    const { world } = asker;
    const id = findGate({ org, domain, action, version }, world.definitions);
    const decide = (): Promise<Result> =>
      world.decide({
        decision_id: id,
        context: input.context,
        ...(input.feedback !== undefined && { feedback: input.feedback }),
        ...toProvenance(input, asker),
      });
    return toGateAnswer((await withOwnSession(input, asker, decide)) as GateResult);
  },
});

const toGateAnswer = ({
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

interface EvaluateInput extends ProvenanceInput {
  readonly decision_id: string;
  readonly context: object;
  readonly feedback?: object;
  readonly strict?: boolean;
  readonly no_cache?: boolean;
  readonly follow?: boolean;
}

const evaluateInput = inputObject(
  {
    decision_id: inputText("the decision's id"),
    context: contextField,
    ...provenanceFields,
    feedback: feedbackField,
    strict: flag("a condition that cannot be evaluated is an error"),
    no_cache: flag("evaluate even if the answer is cached, and fetch even what is kept"),
    follow: flag("where a target is a decision, make that one too, and so on"),
  },
  ["decision_id", "context"],
);

/** Makes a decision of any type. */
export const evaluateDecision: Operation<unknown, Result> = defineOperation<EvaluateInput, Result>({
  name: "evaluate",
  title: "Make a decision",
  description:
    "Makes a decision by its id and answers where to go (selected_targets, selected_labels), and why (because, " +
    "failed_conditions). Its type decides what else there is: a scored one has a decision and its confidence, a " +
    "policy says whether a call is allowed, a gate its status. The decision is recorded.",
  scope: "decide",
  readOnly: false,
  input: evaluateInput,
  output: resultSchema,
  answer: (asked, asker) => evaluate(asked, asker, false),
});

/** The same, without keeping anything of it. */
export const dryRunDecision: Operation<unknown, Result> = defineOperation<EvaluateInput, Result>({
  name: "dry_run",
  title: "Try a decision",
  description: "Answers as `evaluate` would, and records nothing. To see what would happen if.",
  scope: "decide",
  readOnly: true,
  input: evaluateInput,
  output: resultSchema,
  answer: (asked, asker) => evaluate(asked, asker, true),
});

async function evaluate(asked: EvaluateInput, asker: Invocation, dryRun: boolean): Promise<Result> {
  const { decision_id, strict = false, no_cache = false, follow = false } = asked;
  const { world } = asker;
  assertOwnOrg(orgOfDecision(decision_id, world.definitions), asker);
  const decide = (): Promise<Result> =>
    (follow ? world.follow : world.decide)({
      decision_id,
      context: asked.context,
      ...(asked.feedback !== undefined && { feedback: asked.feedback }),
      dry_run: dryRun,
      strict,
      no_cache,
      ...toProvenance(asked, asker),
    });
  return hideForeignReferences(asker)(await withOwnSession(asked, asker, decide));
}
