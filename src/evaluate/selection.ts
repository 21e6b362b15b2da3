import type { EvaluationDetails } from "../model/result.js";
import type { Failure } from "../expression/failure.js";
import type { Branch } from "./branch.js";
import { defaultLabel } from "../definition/labels.js";

/** What a type of decision chose, and why. */
export interface Selection {
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  readonly evaluation_details: EvaluationDetails;
  readonly rules_total?: number;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly errors: readonly Errored[];
}

/** A condition that could not be evaluated, so it did not match. */
export interface Errored {
  readonly branch: Branch;
  readonly failure: Failure;
}

export const noneMatched = "no condition matched";

export function routeTo(
  branches: readonly Branch[],
): Pick<Selection, "selected_targets" | "selected_labels"> {
  return {
    selected_targets: branches.map((branch) => branch.target),
    selected_labels: branches.map((branch) => branch.label),
  };
}

export function routeToDefault(target: string): Pick<Selection, "selected_targets" | "selected_labels"> {
  return { selected_targets: [target], selected_labels: [defaultLabel] };
}
