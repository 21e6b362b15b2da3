import type { Invocation, Operation } from "./operation.js";
import { defineOperation } from "./operation.js";
import { assertOwnOrg, assertVisibleDecision, hideForeignReferences } from "./org-access.js";
import type { ProvenanceInput } from "./shared-fields.js";
import {
  outputObject,
  listOf,
  recordIdField,
  contextField,
  objectField,
  outputsField,
  feedbackField,
  inputObject,
  provenanceFields,
  inputText,
  toProvenance,
  resultSchema,
  flag,
} from "./shared-fields.js";
import { findGate } from "../../definition/gate-key.js";
import { isVisibleTo, visibleBrokenGates } from "../../definition/organisation.js";
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

export const gateAnswerSchema = outputObject(
  {
    status: { enum: ["GREEN", "GREEN-SKIP", "YELLOW", "RED"] },
    work_frame: objectField("what the agent may do next"),
    decision_metadata: objectField("the rules that matched, and the result of every condition"),
    because: listOf("the reasons of the rules that decided, and of guardrails that failed"),
    warnings: listOf("conditions that could not be evaluated, and warnings of guardrails"),
  },
  { outputs: outputsField, record_id: recordIdField },
);

/** Evaluates the gate of an action, found by organisation, domain and action. */
export const decideAction = defineOperation<DecideInput, GateAnswer>({
  name: "decide",
  title: "Check whether an action may be taken",
  description:
    "Call this before you act. Evaluates the gate of an action and returns its status: GREEN (act), GREEN-SKIP (no " +
    "action is necessary), YELLOW (do not act yet: gather evidence or request a review) or RED (stop and escalate). " +
    "`because` and `warnings` give the reasons, `work_frame` what you may do next. " +
    "`list_actions` lists the actions and the context that each requires.",
  scope: "decide",
  readOnly: false,
  input: inputObject(
    {
      org_id: inputText("the organisation"),
      domain: inputText("the domain of the action"),
      action: inputText("the action to be taken"),
      world_model_version: {
        type: "integer",
        minimum: 0,
        description: "the version of the gate; default: the highest",
      },
      context: {
        ...contextField,
        description: "the input data, as defined by the context schema of the gate",
      },
      ...provenanceFields,
      feedback: feedbackField,
    },
    ["org_id", "domain", "action", "context"],
  ),
  output: gateAnswerSchema,
  async run(input, invocation) {
    const { org_id: org, domain, action, world_model_version: version } = input;
    assertOwnOrg(org, invocation);
    const { world, caller } = invocation;
    const { gates, diagnostics, brokenGates } = world.definitions;
    const own = {
      gates: gates.filter((gate) => isVisibleTo(caller?.org_id, gate.action.org)),
      brokenGates: visibleBrokenGates(brokenGates, caller?.org_id),
    };
    const id = findGate({ org, domain, action, version }, { ...own, diagnostics });
    const result = await world.decide({
      decision_id: id,
      context: input.context,
      ...(input.feedback !== undefined && { feedback: input.feedback }),
      ...toProvenance(input, invocation),
    });
    return toGateAnswer(result as GateResult);
  },
});

const toGateAnswer = ({
  status,
  work_frame,
  decision_metadata,
  because,
  warnings,
  outputs,
  record_id,
}: GateResult): GateAnswer => ({
  status,
  work_frame,
  decision_metadata,
  because,
  warnings,
  ...(outputs !== undefined && { outputs }),
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
    no_cache: flag("use nothing from a cache"),
    follow: flag("also make the decisions that it leads to"),
  },
  ["decision_id", "context"],
);

/** Makes a decision of any type. */
export const evaluateDecision: Operation<unknown, Result> = defineOperation<EvaluateInput, Result>({
  name: "evaluate",
  title: "Make a decision",
  description:
    "Makes a decision by its id and records it. Returns selected_targets, selected_labels, `outputs` if the decision " +
    "answers with values, and the reasons (because, failed_conditions, warnings). If it is `blocked`, do not act on it. Scored decisions add `decision` and " +
    "`confidence`, policies `allowed`, `outcome` and `reason`, gates `status` and `work_frame`.",
  scope: "decide",
  readOnly: false,
  input: evaluateInput,
  output: resultSchema,
  run: (input, invocation) => evaluate(input, invocation, false),
});

/** Makes a decision without recording it. */
export const dryRunDecision: Operation<unknown, Result> = defineOperation<EvaluateInput, Result>({
  name: "dry_run",
  title: "Make a decision without recording it",
  description: "Returns what `evaluate` would return, and records nothing.",
  scope: "decide",
  readOnly: true,
  input: evaluateInput,
  output: resultSchema,
  run: (input, invocation) => evaluate(input, invocation, true),
});

async function evaluate(input: EvaluateInput, invocation: Invocation, dryRun: boolean): Promise<Result> {
  const { decision_id, strict = false, no_cache = false, follow = false } = input;
  const { world } = invocation;
  assertVisibleDecision(decision_id, invocation);
  const result = await (follow ? world.follow : world.decide)({
    decision_id,
    context: input.context,
    ...(input.feedback !== undefined && { feedback: input.feedback }),
    dry_run: dryRun,
    strict,
    no_cache,
    ...toProvenance(input, invocation),
  });
  return hideForeignReferences(invocation)(result);
}
