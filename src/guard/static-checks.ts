import { escalationOf, unjudgeable } from "../definition/guardrail-faults.js";
import { outcomesOf } from "../definition/outcomes.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Guardrail } from "../model/guardrail.js";
import { guardrailsOf } from "./guard.js";
import { isAmong } from "./no-disabled-targets.js";
import { lookAtWeights } from "./weight-bounds.js";

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
      const findings = lookAtWeights(guardrail, { loaded, leadsTo: [], workflow: undefined, facts: {} });
      return findings.filter(({ passed }) => !passed).map(({ message }) => message);
    }
    case "no_disabled_targets": {
      const targets = [
        ...outcomesOf(definition).flatMap(({ target }) => target ?? []),
        ...guardrailsOf(loaded).flatMap((each) =>
          each.on_fail === "escalate" ? (escalationOf(each) ?? []) : [],
        ),
      ];
      if (targets.length === 0) return undefined;
      // What `targets` declares as disabled is told where it is led to.
      const { disabled_stages: stages = [] } = guardrail;
      const disabled = [...new Set(targets)].filter((target) => isAmong(target, stages));
      return disabled.map((target) => `Target '${target}' is disabled`);
    }
    case "distribution_drift": {
      const why = definition.type === "weighted" ? unjudgeable(definition) : undefined;
      return why === undefined ? undefined : [`Distribution cannot be checked: ${why}`];
    }
    case "requires_approval":
      return undefined;
  }
}
