import { guardrailsOf } from "./guard.js";
import { matchesAny, checkWeightBounds } from "./run-guardrail.js";
import { possibleOutcomes, escalationTarget } from "../definition/branches.js";
import { untestableSplitReason } from "../definition/checks/check-guardrails.js";
import type { LoadedDefinition, Guardrail } from "../model/definition.js";

/** What a guardrail says of a definition before anything is asked. */
export interface StaticCheck {
  readonly guardrail: Guardrail;
  readonly failures: readonly string[];
}

/** Runs the guardrails that need no input: those on weights, and on where the branches lead. */
export function staticChecks(loaded: LoadedDefinition): readonly StaticCheck[] {
  return guardrailsOf(loaded).flatMap((guardrail) => {
    const failures = failuresOf(guardrail, loaded);
    return failures === undefined ? [] : [{ guardrail, failures }];
  });
}

/** Undefined where nothing can be said without an input. */
function failuresOf(guardrail: Guardrail, loaded: LoadedDefinition): readonly string[] | undefined {
  const { definition } = loaded;
  switch (guardrail.type) {
    case "weight_bounds": {
      if (definition.type !== "weighted") return undefined;
      const findings = checkWeightBounds(guardrail, { loaded, leadsTo: [], workflow: undefined, facts: {} });
      return findings.filter(({ passed }) => !passed).map(({ message }) => message);
    }
    case "no_disabled_targets": {
      const targets = [
        ...possibleOutcomes(definition).flatMap(({ target }) => target ?? []),
        ...guardrailsOf(loaded).flatMap((each) =>
          each.on_fail === "escalate" ? (escalationTarget(each) ?? []) : [],
        ),
      ];
      if (targets.length === 0) return undefined;
      // What `targets` declares as disabled is told where it is led to.
      const { disabled_stages: stages = [] } = guardrail;
      const disabled = [...new Set(targets)].filter((target) => matchesAny(target, stages));
      return disabled.map((target) => `Target '${target}' is disabled`);
    }
    case "distribution_drift": {
      const why = definition.type === "weighted" ? untestableSplitReason(definition) : undefined;
      return why === undefined ? undefined : [`Distribution cannot be checked: ${why}`];
    }
    case "requires_approval":
      return undefined;
  }
}
