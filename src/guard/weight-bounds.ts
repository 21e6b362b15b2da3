import { labelsOf } from "../definition/labels.js";
import type { WeightBounds } from "../model/guardrail.js";
import type { Finding, Look } from "./guardrail-check.js";

/** `weight_bounds`: one finding for each case of a weighted decision; others have no weights. */
export const lookAtWeights: Look<WeightBounds> = (guardrail, { loaded: { definition } }) => {
  if (definition.type !== "weighted") return [];
  const { cases } = definition;
  return labelsOf(cases).map((label, index) => findingOn(cases[index]?.weight ?? 0, label, guardrail));
};

function findingOn(weight: number, label: string, { min_weight = 0, max_weight }: WeightBounds): Finding {
  const about = `Weight ${weight} for '${label}'`;
  if (weight < min_weight) return { passed: false, message: `${about} below minimum ${min_weight}` };
  if (max_weight !== undefined && weight > max_weight) {
    return { passed: false, message: `${about} above maximum ${max_weight}` };
  }
  return { passed: true, message: `${about} is within bounds` };
}
