import type { Case } from "../model/definition.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { Failure, typeName } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import { compileCondition } from "../expression/template.js";
import { labelsOf } from "../definition/labels.js";

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

export type Verdict = boolean | Failure;

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
    matched: Object.freeze(detail(common, true)),
    notMatched: Object.freeze(detail(common, false)),
  };
}

/** Only `true` matches. */
export function judge(branch: Branch, scope: Scope): Verdict {
  if (branch.condition === undefined) return true;
  const value = branch.condition.evaluate(scope);
  if (typeof value === "boolean" || value instanceof Failure) return value;
  return new Failure(`a condition must be true or false, this one is ${typeName(value)}`);
}

export function describeVerdict(branch: Branch, verdict: Verdict): ConditionDetail {
  if (verdict instanceof Failure) return { ...branch.notMatched, error: verdict.message };
  return verdict ? branch.matched : branch.notMatched;
}

function detail(
  { condition, priority }: { condition: string; priority?: number },
  result: boolean,
): ConditionDetail {
  return priority === undefined ? { condition, result } : { condition, result, priority };
}
