import { deepFreeze } from "../../digest/freeze-json.js";
import { Failure } from "../../expression/failure.js";
import type { Template, TextTemplate } from "../../expression/template.js";
import { compileCondition, compileText, evaluateCondition } from "../../expression/template.js";
import type { GateRule } from "../../model/definition.js";
import type { ConditionDetail, ErroredPredicate, PredicateTrace, WorkFrame } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { PreparedOutput } from "../outputs.js";
import { prepareOutput } from "../outputs.js";
import { mergeWorkFrames } from "./work-frame.js";

/** A compiled rule. */
export interface PreparedRule extends GateRule {
  readonly conditions: { readonly appliesWhen: Template | undefined; readonly when: Template };
  readonly rendered: TextTemplate | undefined;
  readonly preparedOutput: PreparedOutput | undefined;
  /** The work frame if the rule is the only deciding one and there are no errors. */
  readonly frame: WorkFrame;
  /** Shared by all evaluations; only an error creates another result. */
  readonly results: Readonly<Record<"matched" | "notMatched" | "notApplied", RuleResult>>;
}

/** The result of a rule. */
export interface RuleResult {
  readonly matched: boolean;
  readonly trace: PredicateTrace;
  readonly detail: ConditionDetail;
  readonly errored: ErroredPredicate | undefined;
}

export function prepareRule(rule: GateRule, isMaskedPath: (path: string) => boolean): PreparedRule {
  const appliesWhen = rule.applies_when === undefined ? undefined : compileCondition(rule.applies_when);
  const applied = appliesWhen === undefined ? undefined : true;
  return {
    ...rule,
    conditions: { appliesWhen, when: compileCondition(rule.when) },
    rendered: rule.reason === undefined ? undefined : compileText(rule.reason),
    preparedOutput: rule.output === undefined ? undefined : prepareOutput(rule.output, isMaskedPath),
    frame: deepFreeze(
      mergeWorkFrames([rule], { status: rule.status, errored: false, raised: false, missing: [] }),
    ),
    results: {
      matched: createResult(rule, true, applied),
      notMatched: createResult(rule, false, applied),
      notApplied: createResult(rule, false, false),
    },
  };
}

/** Evaluates a rule; `when` only if it applies. */
export function evaluateRule(rule: PreparedRule, scope: Scope): RuleResult {
  const { appliesWhen, when } = rule.conditions;
  const { matched, notMatched, notApplied } = rule.results;
  if (appliesWhen !== undefined) {
    const applies = evaluateCondition(appliesWhen, scope);
    if (applies instanceof Failure)
      return toErroredResult(notApplied, applies, { source: "applies_when", rule, expression: appliesWhen });
    if (!applies) return notApplied;
  }
  const holding = evaluateCondition(when, scope);
  if (holding instanceof Failure)
    return toErroredResult(notMatched, holding, { source: "when", rule, expression: when });
  return holding ? matched : notMatched;
}

function createResult(rule: GateRule, matched: boolean, applies: boolean | undefined): RuleResult {
  const { id, tier, severity, status, when } = rule;
  const trace = { rule: id, tier, severity, status, when };
  return Object.freeze({
    matched,
    trace: Object.freeze({ ...trace, ...(applies !== undefined && { applies }), result: matched }),
    detail: Object.freeze({ condition: when, result: matched }),
    errored: undefined,
  });
}

interface ErrorSource {
  readonly source: "applies_when" | "when";
  readonly rule: GateRule;
  readonly expression: Template;
}

function toErroredResult(
  { matched, trace, detail }: RuleResult,
  { message: error }: Failure,
  { source, rule, expression }: ErrorSource,
): RuleResult {
  return {
    matched,
    trace: { ...trace, error },
    detail: { ...detail, error },
    errored: { source, name: rule.id, expression: expression.text, error },
  };
}
