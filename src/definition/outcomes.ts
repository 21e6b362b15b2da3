import type { Definition } from "../model/definition.js";
import { casesOf } from "./expressions.js";
import { defaultLabel, labelsOf } from "./labels.js";
import { decisionsOf } from "./scored-faults.js";

/** What a decision may come to, and where that leads. */
export interface WrittenOutcome {
  readonly label: string;
  readonly target: string | null;
}

export function outcomesOf(definition: Definition): readonly WrittenOutcome[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table": {
      const cases = casesOf(definition).map(({ each }) => each);
      const labels = labelsOf(cases);
      const written = cases.map(({ target }, index) => ({ label: labels[index] ?? target, target }));
      return [...written, { label: defaultLabel, target: definition.default.target }];
    }
    case "scored": {
      const { targets = {} } = definition;
      return decisionsOf(definition).map((label) => ({
        label,
        target: Object.hasOwn(targets, label) ? (targets[label] ?? null) : null,
      }));
    }
    case "policy":
      return asOutcomes(["allowed", "denied", "allowed_by_exception"]);
    case "gate":
      return asOutcomes(["GREEN", "GREEN-SKIP", "YELLOW", "RED"]);
  }
}

const asOutcomes = (labels: readonly string[]): readonly WrittenOutcome[] =>
  labels.map((label) => ({ label, target: null }));
