import type { Definition } from "../model/definition.js";
import { fetchFaults } from "./fetch-faults.js";
import { gateFaults } from "./gate/gate-faults.js";
import { ownGuardrailFaults } from "./guardrail-faults.js";
import { labelFaults } from "./names.js";
import { policyFaults } from "./policy-faults.js";
import { scoredFaults } from "./scored-faults.js";
import type { SchemaFault } from "./schema-problems.js";

/** What is wrong with a definition that fits the schema; places are relative to it. */
export function definitionFaults(definition: Definition): readonly SchemaFault[] {
  return [...faultsOfType(definition), ...ownGuardrailFaults(definition), ...fetchFaults(definition)];
}

function faultsOfType(definition: Definition): readonly SchemaFault[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return labelFaults(definition);
    case "scored":
      return scoredFaults(definition);
    case "policy":
      return policyFaults(definition);
    case "gate":
      return gateFaults(definition);
  }
}
