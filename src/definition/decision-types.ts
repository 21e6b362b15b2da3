import type {
  Guardrail,
  DecisionType,
  Definition,
  RoutingDefinition,
  Status,
  WorkMode,
} from "../model/definition.js";
import type { Auth } from "../model/endpoint.js";

/** Every decision type, in the order in which they are listed. */
export const decisionTypes = [
  "binary",
  "switch",
  "weighted",
  "rule_table",
  "scored",
  "policy",
  "gate",
] as const satisfies readonly DecisionType[];

/** Every guardrail type, in the order in which they are listed. */
export const guardrailTypes = [
  "no_disabled_targets",
  "weight_bounds",
  "requires_approval",
  "distribution_drift",
] as const satisfies readonly Guardrail["type"][];

/** Every authentication type of endpoints, in the order in which they are listed. */
export const authTypes = ["api_key", "basic", "bearer"] as const satisfies readonly Auth["type"][];

export function isRouting(definition: Definition): definition is RoutingDefinition {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return true;
    case "scored":
    case "policy":
    case "gate":
      return false;
  }
}

/** How an agent proceeds after each status. */
export const workModes: Readonly<Record<Status, WorkMode>> = {
  GREEN: "execute",
  "GREEN-SKIP": "skip",
  YELLOW: "review",
  RED: "stop",
};
