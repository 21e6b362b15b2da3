import { escalationOf } from "../definition/guardrail-faults.js";
import { defaultMinimum, defaultPValue } from "../guard/distribution-drift.js";
import type { Guardrail } from "../model/guardrail.js";

/** A guardrail in a line: what must hold, and what becomes of an answer otherwise. */
export const guardrailText = (guardrail: Guardrail): string =>
  `${guardrail.type}: ${demandOf(guardrail)}, else ${consequenceOf(guardrail)}`;

function demandOf(guardrail: Guardrail): string {
  switch (guardrail.type) {
    case "no_disabled_targets": {
      const { disabled_stages: stages = [] } = guardrail;
      return `nothing leads to ${[...stages, "what is disabled"].join(", ")}`;
    }
    case "weight_bounds": {
      const { min_weight: least = 0, max_weight: most } = guardrail;
      return most === undefined ? `weights of at least ${least}` : `weights from ${least} to ${most}`;
    }
    case "requires_approval": {
      const { targets = ["everything"], workflows, approval_target: approval } = guardrail;
      const where = workflows === undefined ? "" : ` in ${workflows.join(", ")}`;
      const way = approval === undefined ? "" : ` by way of ${approval}`;
      return `${targets.join(", ")}${where} needs approval${way}`;
    }
    case "distribution_drift": {
      const { p_value: least = defaultPValue, minimum = defaultMinimum } = guardrail;
      return `p of at least ${least} from ${minimum} distinct inputs on`;
    }
  }
}

function consequenceOf(guardrail: Guardrail): string {
  const { on_fail: onFail = "block" } = guardrail;
  const to = escalationOf(guardrail);
  return onFail === "escalate" && to !== undefined ? `escalate to ${to}` : onFail;
}
