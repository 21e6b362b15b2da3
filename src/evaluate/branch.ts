import { labelsOf, defaultLabel } from "../definition/branches.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import { compileCondition, evaluateCondition } from "../expression/template.js";
import type { Answer, Case } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { ConditionDetail, EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import type { PreparedOutput } from "./outputs.js";

/** A compiled case. */
export interface Branch {
  readonly label: string;
  readonly target: string | undefined;
  readonly output: PreparedOutput | undefined;
  readonly weight: number;
  readonly priority: number;
  /** The condition as written. */
  readonly text: string;
  readonly condition: Template | undefined;
  readonly matched: ConditionDetail;
  readonly notMatched: ConditionDetail;
}

export type ConditionResult = boolean | Failure;

/** Compiles outputs; it knows which values are masked. */
type PrepareOutput = (written: Json) => PreparedOutput;

export function prepareBranches(
  cases: readonly Case[],
  prepareOutput: PrepareOutput,
  withPriority = false,
): readonly Branch[] {
  const labels = labelsOf(cases);
  return cases.map((each, index) =>
    prepareBranch(each, { label: labels[index] ?? "", prepareOutput, withPriority }),
  );
}

/** Compiles the default route as a branch without a condition. */
export const prepareDefault = (answer: Answer, prepareOutput: PrepareOutput): Branch =>
  prepareBranch(answer, { label: defaultLabel, prepareOutput, withPriority: false });

interface BranchOptions {
  readonly label: string;
  readonly prepareOutput: PrepareOutput;
  readonly withPriority: boolean;
}

function prepareBranch(each: Case, { label, prepareOutput, withPriority }: BranchOptions): Branch {
  const text = each.condition ?? "";
  const priority = each.priority ?? 0;
  const common = { condition: text, ...(withPriority && { priority }) };
  return {
    label,
    target: each.target,
    output: each.output === undefined ? undefined : prepareOutput(each.output),
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
  /** In the order of the answer; the default where nothing matched. */
  readonly branches: readonly Branch[];
  readonly details: EvaluationDetails;
  readonly rulesTotal?: number;
  readonly because: readonly string[];
  readonly failed: readonly string[];
  readonly errors: readonly ErroredBranch[];
}

/** A condition that could not be evaluated, so it did not match. */
export interface ErroredBranch {
  readonly branch: Branch;
  readonly failure: Failure;
}

export const noneMatched = "no condition matched";

/** What every router needs besides its definition. */
export interface RouterParts {
  /** The default route. */
  readonly fallback: Branch;
  readonly prepareOutput: PrepareOutput;
}

/** A compiled definition of a routing type. */
export interface Router {
  readonly branches: readonly Branch[];
  /** Throws if a hit policy is violated, or if it depends on an output that cannot be evaluated. */
  select(input: Json, scope: Scope): Selection;
}
