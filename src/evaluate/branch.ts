import { labelsOf, defaultLabel } from "../definition/branches.js";
import { Failure, typeName } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import { compileCondition } from "../expression/template.js";
import type { Case } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { ConditionDetail, EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";

/** A case ready to be judged. */
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

/** Only `true` matches. */
export function evaluateBranch(branch: Branch, scope: Scope): ConditionResult {
  if (branch.condition === undefined) return true;
  const value = branch.condition.evaluate(scope);
  if (typeof value === "boolean" || value instanceof Failure) return value;
  return new Failure(`a condition must be true or false, this one is ${typeName(value)}`);
}

export function toConditionDetail(branch: Branch, verdict: ConditionResult): ConditionDetail {
  if (verdict instanceof Failure) return { ...branch.notMatched, error: verdict.message };
  return verdict ? branch.matched : branch.notMatched;
}

function createDetail(
  { condition, priority }: { condition: string; priority?: number },
  result: boolean,
): ConditionDetail {
  return priority === undefined ? { condition, result } : { condition, result, priority };
}

/** What a type of decision chose, and why. */
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

/** What was found out on the way to a choice. */
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

/** A routing type made ready for one definition. */
export interface Router {
  readonly branches: readonly Branch[];
  select(input: Json, scope: Scope): Selection;
}
