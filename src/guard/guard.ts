import type { Guarded } from "./consequences.js";
import { blockAnswer, escalateAnswer, guardedTargets, warnAnswer } from "./consequences.js";
import type { GuardrailContext, GuardrailResult } from "./run-guardrail.js";
import { runGuardrail } from "./run-guardrail.js";
import { escalationTarget } from "../definition/branches.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import type { Environment, LoadedDefinition, Guardrail } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Check } from "../model/result.js";

export type { Guarded } from "./consequences.js";

interface GuardContext {
  readonly context: JsonObject;
  readonly workflow: string | undefined;
  readonly facts: JsonObject;
}

/** May this answer be acted on? Pure, and closed where a guardrail cannot tell. */
export function guard(loaded: LoadedDefinition, evaluated: Evaluated, circumstances: GuardContext): Guarded {
  const guardrails = guardrailsOf(loaded);
  if (guardrails.length === 0) return unguarded(evaluated);
  const { context, workflow, facts } = circumstances;
  const guarding = { loaded, leadsTo: guardedTargets(evaluated, loaded.definition), workflow, facts };
  const judged = guardrails.flatMap((guardrail) => runGuardrail(guardrail, guarding));
  const failed = judged.filter(({ check }) => !check.passed);
  const escalations = failed.filter(({ onFail }) => onFail === "escalate");
  const block = failed.find(({ onFail }) => onFail === "block");
  const closed = block === undefined ? blockedEscalations(escalations, guardrails, guarding) : [];
  const checks = [...judged.map(({ check }) => check), ...closed];

  const reason = block?.check.message ?? closed[0]?.message;
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

const none: readonly never[] = Object.freeze([]);

const unguarded = (evaluated: Evaluated): Guarded => ({
  evaluated,
  checks: none,
  blocked: false,
  escalated: false,
  proposed: undefined,
});

/** Nobody is led to where nothing may lead, however many others could be asked: what guardrails say of those ends. */
function blockedEscalations(
  escalations: readonly GuardrailResult[],
  guardrails: readonly Guardrail[],
  guarding: GuardrailContext,
): readonly Check[] {
  const ends = new Set(escalations.flatMap(({ guardrail }) => escalationTarget(guardrail) ?? []));
  return [...ends]
    .flatMap((end) =>
      guardrails.flatMap((guardrail) => runGuardrail(guardrail, { ...guarding, leadsTo: [end] })),
    )
    .filter(({ check, onFail, guardrail }) => {
      const closes = onFail === "block" || guardrail.type === "no_disabled_targets";
      return !check.passed && closes;
    })
    .map(({ check }) => ({ ...check, on_fail: "block" }));
}

const known = new WeakMap<LoadedDefinition, readonly Guardrail[]>();

/** Its own, those for every decision, and that nothing leads to what is declared as disabled. */
export function guardrailsOf(loaded: LoadedDefinition): readonly Guardrail[] {
  let guardrails = known.get(loaded);
  if (guardrails === undefined) {
    guardrails = collectGuardrails(loaded);
    known.set(loaded, guardrails);
  }
  return guardrails;
}

function collectGuardrails({ definition, environment }: LoadedDefinition): readonly Guardrail[] {
  const { targets = none, guardrails = none } = environment as Partial<Environment>;
  const declared = [...(definition.guardrails ?? none), ...guardrails];
  const isWatched = declared.some(({ type }) => type === "no_disabled_targets");
  if (isWatched || !targets.some(({ disabled }) => disabled === true)) return declared;
  return [...declared, { type: "no_disabled_targets" }];
}
