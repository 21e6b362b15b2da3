import { guardrailsOf } from "./guard.js";
import { matchesAny, checkWeightBounds } from "./run-guardrail.js";
import { possibleOutcomes, escalationTarget } from "../definition/branches.js";
import { untestableSplitReason } from "../definition/checks/check-guardrails.js";
import { masksOf } from "../definition/loaded-definition.js";
import type { LoadedDefinition, Guardrail } from "../model/definition.js";

/** The result of checking a guardrail against a definition, without an input. */
export interface StaticCheck {
  readonly guardrail: Guardrail;
  readonly failures: readonly string[];
}

/** Checks the guardrails that need no input: on weights, and on the targets of branches. */
export function staticChecks(loaded: LoadedDefinition): readonly StaticCheck[] {
  return guardrailsOf(loaded).flatMap((guardrail) => {
    const failures = failuresOf(guardrail, loaded);
    return failures === undefined ? [] : [{ guardrail, failures }];
  });
}

/** Returns undefined if the guardrail needs an input. */
function failuresOf(guardrail: Guardrail, loaded: LoadedDefinition): readonly string[] | undefined {
  const { definition } = loaded;
  switch (guardrail.type) {
    case "weight_bounds": {
      if (definition.type !== "weighted") return undefined;
      const findings = checkWeightBounds(guardrail, { loaded, targets: [], workflow: undefined, facts: {} });
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
      // Validation reports branches to targets that `targets` declares as disabled.
      const { disabled_stages: stages = [] } = guardrail;
      const disabled = [...new Set(targets)].filter((target) => matchesAny(target, stages));
      return disabled.map((target) => `Target '${target}' is disabled`);
    }
    case "distribution_drift": {
      const reason =
        definition.type === "weighted" ? untestableSplitReason(definition, masksOf(loaded)) : undefined;
      return reason === undefined ? undefined : [`Distribution cannot be checked: ${reason}`];
    }
    case "requires_approval":
      return undefined;
  }
}
