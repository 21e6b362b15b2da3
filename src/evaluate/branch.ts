import { labelsOf, defaultLabel } from "../definition/branches.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import { compileCondition, evaluateCondition } from "../expression/template.js";
import type { Case } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { ConditionDetail, EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** A compiled case. */
export interface Branch {
  readonly label: string;
  readonly target: string;
  readonly weight: number;
  readonly priority: number;
  /** The condition as written. */
  readonly text: string;
  readonly condition: Template | undefined;
  readonly matched: ConditionDetail;
  readonly notMatched: ConditionDetail;
}

export type ConditionResult = boolean | Failure;

export function prepareBranches(cases: readonly Case[], withPriority = false): readonly Branch[] {
  const labels = labelsOf(cases);
  return cases.map((each, index) => prepareBranch(each, labels[index] ?? each.target, withPriority));
}

function prepareBranch(each: Case, label: string, withPriority: boolean): Branch {
  const text = each.condition ?? "";
  const priority = each.priority ?? 0;
  const common = { condition: text, ...(withPriority && { priority }) };
  return {
    label,
    target: each.target,
    weight: each.weight ?? 0,
    priority,
    text,
    condition: text.trim() === "" ? undefined : compileCondition(text),
    matched: Object.freeze(createDetail(common, true)),
    notMatched: Object.freeze(createDetail(common, false)),
  };
}

/** Evaluates the condition of a branch; a branch without one matches. */
export function evaluateBranch({ condition }: Branch, scope: Scope): ConditionResult {
  return condition === undefined ? true : evaluateCondition(condition, scope);
}

export function toConditionDetail(branch: Branch, result: ConditionResult): ConditionDetail {
  if (result instanceof Failure) return { ...branch.notMatched, error: result.message };
  return result ? branch.matched : branch.notMatched;
}

function createDetail(
  { condition, priority }: { condition: string; priority?: number },
  result: boolean,
): ConditionDetail {
  return priority === undefined ? { condition, result } : { condition, result, priority };
}

/** The branches that a routing type selected, and why. */
export interface Selection {
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  readonly evaluation_details: EvaluationDetails;
  readonly rules_total: number | undefined;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly errors: readonly ErroredBranch[];
}

/** A condition that could not be evaluated, so it did not match. */
export interface ErroredBranch {
  readonly branch: Branch;
  readonly failure: Failure;
}

export const noneMatched = "no condition matched";

/** The results of the conditions. */
interface Findings {
  readonly details: EvaluationDetails;
  readonly rulesTotal?: number;
  readonly because: readonly string[];
  readonly failed: readonly string[];
  readonly errors: readonly ErroredBranch[];
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

/** A compiled definition of a routing type. */
export interface Router {
  readonly branches: readonly Branch[];
  select(input: Json, scope: Scope): Selection;
}
