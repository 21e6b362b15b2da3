import type {
  Guardrail,
  DecisionType,
  Definition,
  Observer,
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

/** A record, so that the compiler finds a type that is missing. */
const everyGuardrailType: Readonly<Record<Guardrail["type"], true>> = {
  no_disabled_targets: true,
  weight_bounds: true,
  requires_approval: true,
  distribution_drift: true,
};

/** Every guardrail type, in the order in which they are listed. */
export const guardrailTypes: readonly string[] = Object.keys(everyGuardrailType);

/** Every observer type. */
export const observerTypes = ["precedent_consistency"] as const satisfies readonly Observer["type"][];

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
