import { deepFreeze } from "../../digest/freeze.js";
import { Failure, typeName } from "../../expression/failure.js";
import type { Template, Text } from "../../expression/template.js";
import { compileCondition, compileText } from "../../expression/template.js";
import type { GateRule } from "../../model/definition.js";
import type { ConditionDetail, ErroredPredicate, PredicateTrace, WorkFrame } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { workFrame } from "./work-frame.js";

/** A rule ready to be judged. */
export interface PreparedRule extends GateRule {
  readonly conditions: { readonly appliesWhen: Template | undefined; readonly when: Template };
  readonly rendered: Text | undefined;
  /** What it says where it decides alone and nothing errs. */
  readonly frame: WorkFrame;
  /** Shared by all evaluations, as only an error makes another. */
  readonly answers: Readonly<Record<"matched" | "notMatched" | "notApplied", RuleAnswer>>;
}

/** What came of one rule. */
export interface RuleAnswer {
  readonly matched: boolean;
  readonly trace: PredicateTrace;
  readonly detail: ConditionDetail;
  readonly errored: ErroredPredicate | undefined;
}

export function prepareRule(rule: GateRule): PreparedRule {
  const appliesWhen = rule.applies_when === undefined ? undefined : compileCondition(rule.applies_when);
  const applied = appliesWhen === undefined ? undefined : true;
  return {
    ...rule,
    conditions: { appliesWhen, when: compileCondition(rule.when) },
    rendered: rule.reason === undefined ? undefined : compileText(rule.reason),
    frame: deepFreeze(workFrame([rule], { status: rule.status, errored: false, raised: false, missing: [] })),
    answers: {
      matched: answer(rule, true, applied),
      notMatched: answer(rule, false, applied),
      notApplied: answer(rule, false, false),
    },
  };
}

/** Where a rule does not apply, its `when` is not evaluated; only `true` matches. */
export function judgeRule(rule: PreparedRule, scope: Scope): RuleAnswer {
  const { appliesWhen, when } = rule.conditions;
  const { matched, notMatched, notApplied } = rule.answers;
  if (appliesWhen !== undefined) {
    const applies = holds(appliesWhen, scope);
    if (applies instanceof Failure)
      return errored(notApplied, applies, { source: "applies_when", rule, expression: appliesWhen });
    if (!applies) return notApplied;
  }
  const holding = holds(when, scope);
  if (holding instanceof Failure)
    return errored(notMatched, holding, { source: "when", rule, expression: when });
  return holding ? matched : notMatched;
}

function holds(condition: Template, scope: Scope): boolean | Failure {
  const value = condition.evaluate(scope);
  if (typeof value === "boolean" || value instanceof Failure) return value;
  return new Failure(`a condition must be true or false, this one is ${typeName(value)}`);
}

function answer(rule: GateRule, matched: boolean, applies: boolean | undefined): RuleAnswer {
  const { id, tier, severity, status, when } = rule;
  const trace = { rule: id, tier, severity, status, when };
  return Object.freeze({
    matched,
    trace: Object.freeze({ ...trace, ...(applies !== undefined && { applies }), result: matched }),
    detail: Object.freeze({ condition: when, result: matched }),
    errored: undefined,
  });
}

interface ErrorPlace {
  readonly source: "applies_when" | "when";
  readonly rule: GateRule;
  readonly expression: Template;
}

function errored(
  { matched, trace, detail }: RuleAnswer,
  { message: error }: Failure,
  { source, rule, expression }: ErrorPlace,
): RuleAnswer {
  return {
    matched,
    trace: { ...trace, error },
    detail: { ...detail, error },
    errored: { source, name: rule.id, expression: expression.text, error },
  };
}
