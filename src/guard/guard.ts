import { escalationOf } from "../definition/guardrail-faults.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import type { Environment, LoadedDefinition } from "../model/definition.js";
import type { Guardrail, NoDisabledTargets, OnFail } from "../model/guardrail.js";
import type { JsonObject } from "../model/json.js";
import type { Check } from "../model/result.js";
import { blocked, escalated, leadsTo, warned } from "./consequences.js";
import { lookAtSplit } from "./distribution-drift.js";
import type { Finding, Guarding } from "./guardrail-check.js";
import { isDisabled, lookAtTargets } from "./no-disabled-targets.js";
import { lookForApproval } from "./requires-approval.js";
import type { Guarded } from "./consequences.js";
import { lookAtWeights } from "./weight-bounds.js";

export type { Guarded } from "./consequences.js";

export interface Circumstances {
  readonly workflow: string | undefined;
  readonly facts: JsonObject;
}

/** May this answer be acted on? Pure, and closed where a guardrail cannot tell. */
export function guard(loaded: LoadedDefinition, evaluated: Evaluated, circumstances: Circumstances): Guarded {
  const guardrails = guardrailsOf(loaded);
  if (guardrails.length === 0) return unguarded(evaluated);
  const guarding = { loaded, leadsTo: leadsTo(evaluated, loaded.definition), ...circumstances };
  const judged = guardrails.flatMap((guardrail) => judge(guardrail, guarding));
  const checks = judged.map(({ check }) => check);
  const failed = judged.filter(({ check }) => !check.passed);
  const [block] = failed.filter(({ onFail }) => onFail === "block");
  if (block !== undefined) return { ...blocked(evaluated, block.check.message), checks };
  const [escalation] = failed.filter(({ onFail }) => onFail === "escalate");
  if (escalation !== undefined) return escalate(evaluated, escalation, { guardrails, guarding, checks });
  return {
    ...warned(
      evaluated,
      failed.map(({ check }) => check.message),
    ),
    checks,
  };
}

const none: readonly never[] = Object.freeze([]);

const unguarded = (evaluated: Evaluated): Guarded => ({
  evaluated,
  checks: none,
  blocked: false,
  escalated: false,
  proposed: undefined,
});

const known = new WeakMap<LoadedDefinition, readonly Guardrail[]>();

/** Its own, those for every decision, and that nothing leads to what is declared as disabled. */
export function guardrailsOf(loaded: LoadedDefinition): readonly Guardrail[] {
  let guardrails = known.get(loaded);
  if (guardrails === undefined) {
    guardrails = collect(loaded);
    known.set(loaded, guardrails);
  }
  return guardrails;
}

function collect({ definition, environment }: LoadedDefinition): readonly Guardrail[] {
  const { targets = none, guardrails = none } = environment as unknown as Partial<Environment>;
  const declared = [...(definition.guardrails ?? none), ...guardrails];
  const isWatched = declared.some(({ type }) => type === "no_disabled_targets");
  if (isWatched || !targets.some(({ disabled }) => disabled === true)) return declared;
  return [...declared, { type: "no_disabled_targets" }];
}

interface Judged {
  readonly check: Check;
  readonly onFail: OnFail;
  readonly guardrail: Guardrail;
}

function judge(guardrail: Guardrail, guarding: Guarding): readonly Judged[] {
  return findingsOf(guardrail, guarding).map(({ passed, message, isError = false }) => {
    const onFail = isError ? "block" : (guardrail.on_fail ?? "block");
    const check = { check_name: guardrail.type, passed, message };
    return { check: passed ? check : { ...check, on_fail: onFail }, onFail, guardrail };
  });
}

/** What cannot tell, blocks, whatever it was to do. */
function findingsOf(
  guardrail: Guardrail,
  guarding: Guarding,
): readonly (Finding & { readonly isError?: boolean })[] {
  try {
    return look(guardrail, guarding);
  } catch (error) {
    return [
      {
        passed: false,
        message: `Guardrail could not be checked: ${(error as Error).message}`,
        isError: true,
      },
    ];
  }
}

function look(guardrail: Guardrail, guarding: Guarding): readonly Finding[] {
  switch (guardrail.type) {
    case "no_disabled_targets":
      return lookAtTargets(guardrail, guarding);
    case "weight_bounds":
      return lookAtWeights(guardrail, guarding);
    case "requires_approval":
      return lookForApproval(guardrail, guarding);
    case "distribution_drift":
      return lookAtSplit(guardrail, guarding);
  }
}

interface Escalating {
  readonly guardrails: readonly Guardrail[];
  readonly guarding: Guarding;
  readonly checks: readonly Check[];
}

/** Nobody is led to where nothing may lead. */
function escalate(
  evaluated: Evaluated,
  { guardrail, check }: Judged,
  { guardrails, guarding, checks }: Escalating,
): Guarded {
  const to = escalationOf(guardrail);
  const closed = guardrails.find(
    (each): each is NoDisabledTargets =>
      to !== undefined && each.type === "no_disabled_targets" && isDisabled(to, each, guarding),
  );
  if (closed === undefined) return { ...escalated(evaluated, to, check.message), checks };
  const message = `Target '${to ?? ""}' is disabled`;
  const failed: Check = { check_name: closed.type, passed: false, message, on_fail: "block" };
  return { ...blocked(evaluated, message), checks: [...checks, failed] };
}
