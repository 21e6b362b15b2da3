import type { Guarded } from "./consequences.js";
import { blockAnswer, escalateAnswer, guardedTargets, warnAnswer } from "./consequences.js";
import type { GuardrailContext, GuardrailResult } from "./run-guardrail.js";
import { runGuardrail } from "./run-guardrail.js";
import { escalationTarget } from "../definition/branches.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import { guardrailTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { Definition, Environment, LoadedDefinition, Guardrail, Target } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Check, Result } from "../model/result.js";
import { didYouMean } from "../text.js";

export type { Guarded } from "./consequences.js";

interface GuardContext {
  readonly context: JsonObject;
  readonly workflow: string | undefined;
  readonly facts: JsonObject;
}

/** Checks an answer against the guardrails. Pure; fails closed if a guardrail cannot be checked. */
export function guard(loaded: LoadedDefinition, evaluated: Evaluated, request: GuardContext): Guarded {
  const guardrails = guardrailsOf(loaded);
  if (guardrails.length === 0) return unguarded(evaluated);
  const { context, workflow, facts } = request;
  const guardrailContext = { loaded, targets: guardedTargets(evaluated, loaded.definition), workflow, facts };
  const results = guardrails.flatMap((guardrail) => runGuardrail(guardrail, guardrailContext));
  const failed = results.filter(({ check }) => !check.passed);
  const escalations = failed.filter(({ onFail }) => onFail === "escalate");
  const block = failed.find(({ onFail }) => onFail === "block");
  const blockedTargets =
    block === undefined ? blockedEscalations(escalations, guardrails, guardrailContext) : [];
  const checks = [...results.map(({ check }) => check), ...blockedTargets];

  const reason = block?.check.message ?? blockedTargets[0]?.message;
  if (reason !== undefined) return { ...blockAnswer(evaluated, { reason, context }), checks };
  const [escalation] = escalations;
  if (escalation !== undefined) {
    const { guardrail, check } = escalation;
    const to = escalationTarget(guardrail);
    return { ...escalateAnswer(evaluated, { reason: check.message, context, to }), checks };
  }
  const messages = failed.map(({ check }) => check.message);
  return { ...warnAnswer(evaluated, messages), checks };
}

/** What the guardrails of a result may depend on, besides the result. */
export interface ValidationOptions {
  readonly workflow_id?: string;
  /** Declared targets; a disabled one is refused by `no_disabled_targets`. */
  readonly targets?: readonly Target[];
  /** The facts of the decision, for `distribution_drift`. */
  readonly facts?: JsonObject;
}

/**
 * Checks a result against guardrails, by default those of its definition, and returns one check for each thing that
 * they check. The result is not changed. A guardrail that cannot be checked fails.
 */
export function validateDecision(
  definition: Definition,
  result: Result,
  guardrails: readonly Guardrail[] = definition.guardrails ?? none,
  { workflow_id: workflow, targets = none, facts = {} }: ValidationOptions = {},
): readonly Check[] {
  const environment = { targets } as unknown as JsonObject;
  const loaded = { definition, definition_hash: "", environment, environment_hash: "", file: "", line: 0 };
  const context = { loaded, targets: actsOn(definition, result), workflow, facts };
  for (const { type } of guardrails) if (!guardrailTypes.includes(type)) throw unknownGuardrail(type);
  return guardrails.flatMap((guardrail) => runGuardrail(guardrail, context).map(({ check }) => check));
}

function unknownGuardrail(type: string): DecisionError {
  return new DecisionError("input_invalid", `unknown guardrail \`${type}\``, {
    hint: didYouMean(type, guardrailTypes) ?? `choose one of ${guardrailTypes.join(", ")}`,
  });
}

/** Returns the targets that a result leads to, the tool of an allowed call, or the action of a GREEN gate. */
function actsOn(definition: Definition, result: Result): readonly string[] {
  switch (result.type) {
    case "policy":
      return result.allowed ? [result.tool] : [];
    case "gate":
      return result.status === "GREEN" && definition.type === "gate" ? [definition.action.name] : [];
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
    case "scored":
      return result.selected_targets;
  }
}

const none: readonly never[] = Object.freeze([]);

const unguarded = (evaluated: Evaluated): Guarded => ({
  evaluated,
  checks: none,
  blocked: false,
  escalated: false,
  proposed: undefined,
});

/** Checks the targets of all escalations; returns the failed checks, because no answer may escalate to a blocked target. */
function blockedEscalations(
  escalations: readonly GuardrailResult[],
  guardrails: readonly Guardrail[],
  context: GuardrailContext,
): readonly Check[] {
  const targets = new Set(escalations.flatMap(({ guardrail }) => escalationTarget(guardrail) ?? []));
  return [...targets]
    .flatMap((target) =>
      guardrails.flatMap((guardrail) => runGuardrail(guardrail, { ...context, targets: [target] })),
    )
    .filter(({ check, onFail, guardrail }) => {
      const blocks = onFail === "block" || guardrail.type === "no_disabled_targets";
      return !check.passed && blocks;
    })
    .map(({ check }) => ({ ...check, on_fail: "block" }));
}

/** Returns the guardrails of a decision: its own, the global ones, and `no_disabled_targets` if a target is disabled. */
export function guardrailsOf({ definition, environment }: LoadedDefinition): readonly Guardrail[] {
  const { targets = none, guardrails = none } = environment as Partial<Environment>;
  const declared = [...(definition.guardrails ?? none), ...guardrails];
  const isDeclared = declared.some(({ type }) => type === "no_disabled_targets");
  if (isDeclared || !targets.some(({ disabled }) => disabled === true)) return declared;
  return [...declared, { type: "no_disabled_targets" }];
}
