import type { CompiledRule } from "../../expression/rule/compile-rule.js";
import { compileRule, compileWhen } from "../../expression/rule/compile-rule.js";
import type {
  EvaluatorDefinition,
  RulesetDefinition,
  ScoredRule,
  StaticEvaluatorDefinition,
} from "../../model/definition.js";
import type { ConditionTrace, Evaluation, EvaluatorDetail, RuleTrace } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { validateEvaluation } from "./evaluation.js";

/** A compiled evaluator. */
export interface PreparedEvaluator {
  readonly name: string;
  readonly reads: readonly string[];
  /** The paths that each `when` reads, by its text. */
  readonly readsByCondition: readonly (readonly [string, readonly string[]])[];
  vote(scope: Scope): EvaluatorVote;
}

/** The vote of an evaluator, if it has one, and its details. */
export interface EvaluatorVote {
  readonly name: string;
  readonly evaluation: Evaluation | undefined;
  readonly detail: EvaluatorDetail;
  /** The evaluated rules, with the traces of their conditions. */
  readonly evaluatedRules: readonly EvaluatedRule[];
}

export interface EvaluatedRule {
  readonly rule: CompiledRule;
  readonly conditions: readonly ConditionTrace[];
}

export function prepareEvaluator(definition: EvaluatorDefinition): PreparedEvaluator {
  return "rules" in definition ? prepareRulesetEvaluator(definition) : prepareStaticEvaluator(definition);
}

function prepareStaticEvaluator({ name, static: vote }: StaticEvaluatorDefinition): PreparedEvaluator {
  const evaluation = validateEvaluation({ reason: "", ...vote, metadata: { type: "static" } }, name);
  const { decision, weight } = evaluation;
  const detail = Object.freeze({ result: true, decision, weight, rules: none });
  const voted = { name, evaluation, detail, evaluatedRules: none };
  return { name, reads: none, readsByCondition: none, vote: () => voted };
}

const none: readonly never[] = Object.freeze([]);

interface PreparedRule {
  readonly id: string;
  readonly when: string | undefined;
  readonly condition: CompiledRule;
  readonly evaluation: Evaluation;
}

/** The first rule that matches votes; the rules after it are not evaluated. */
function prepareRulesetEvaluator(definition: RulesetDefinition): PreparedEvaluator {
  const { name } = definition;
  const rules = definition.rules.map((rule) => prepareRule(rule, definition));
  return {
    name,
    reads: rules.flatMap(({ condition }) => condition.reads),
    readsByCondition: rules.flatMap(({ when, condition }) =>
      when === undefined ? [] : [[when, condition.reads] as const],
    ),
    vote(scope) {
      const traces: Omit<RuleTrace, "evaluator">[] = [];
      const evaluatedRules: EvaluatedRule[] = [];
      for (const { id, condition, evaluation } of rules) {
        const { result, traces: conditions } = condition.evaluate(scope);
        traces.push({ rule_id: id, result, conditions });
        evaluatedRules.push({ rule: condition, conditions });
        if (!result) continue;
        const { decision, weight } = evaluation;
        const detail = { result: true, decision, weight, rule_id: id, rules: traces };
        return { name, evaluation, detail, evaluatedRules };
      }
      return { name, evaluation: undefined, detail: { result: false, rules: traces }, evaluatedRules };
    },
  };
}

function prepareRule(rule: ScoredRule, { name, ruleset }: RulesetDefinition): PreparedRule {
  const metadata = { rule_id: rule.id, ruleset: ruleset ?? name, type: "rule" };
  return {
    id: rule.id,
    when: rule.when,
    condition: compileRuleCondition(rule),
    evaluation: validateEvaluation({ reason: "", ...rule.then, metadata }, name),
  };
}

/** Compiles the condition of a rule. Throws if it is invalid. */
export function compileRuleCondition(rule: ScoredRule): CompiledRule {
  return rule.if === undefined ? compileWhen(rule.when ?? "") : compileRule(rule.if);
}
