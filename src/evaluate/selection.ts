import type { EvaluationDetails } from "../model/result.js";
import type { Failure } from "../expression/failure.js";
import { defaultLabel } from "../definition/labels.js";
import type { Branch } from "./branch.js";

/** What a type of decision chose, and why. */
export interface Selection {
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  readonly evaluation_details: EvaluationDetails;
  readonly rules_total: number | undefined;
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

/** What was found out on the way to a choice. */
export interface Findings {
  readonly details: EvaluationDetails;
  readonly rulesTotal?: number;
  readonly because: readonly string[];
  readonly failed: readonly string[];
  readonly errors: readonly Errored[];
}

export function routeTo(branches: readonly Branch[], findings: Findings): Selection {
  return selection(
    branches.map((branch) => branch.target),
    branches.map((branch) => branch.label),
    findings,
  );
}

export function routeToDefault(target: string, findings: Findings): Selection {
  return selection([target], [defaultLabel], findings);
}

function selection(targets: readonly string[], labels: readonly string[], findings: Findings): Selection {
  return {
    selected_targets: targets,
    selected_labels: labels,
    evaluation_details: findings.details,
    rules_total: findings.rulesTotal,
    because: findings.because,
    failed_conditions: findings.failed,
    errors: findings.errors,
  };
}
