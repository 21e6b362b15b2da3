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

/** An evaluator made ready to be asked. */
export interface PreparedEvaluator {
  readonly name: string;
  readonly reads: readonly string[];
  vote(scope: Scope): EvaluatorVote;
}

/** What an evaluator answered: its vote, if it has one, and how it came to it. */
export interface EvaluatorVote {
  readonly name: string;
  readonly evaluation: Evaluation | undefined;
  readonly detail: EvaluatorDetail;
  /** The rules that were asked, with what came of their conditions. */
  readonly asked: readonly EvaluatedRule[];
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
  const voted = { name, evaluation, detail, asked: none };
  return { name, reads: none, vote: () => voted };
}

const none: readonly never[] = Object.freeze([]);

interface PreparedRule {
  readonly id: string;
  readonly condition: CompiledRule;
  readonly evaluation: Evaluation;
}

/** The first rule that matches votes; those after it are not asked. */
function prepareRulesetEvaluator(definition: RulesetDefinition): PreparedEvaluator {
  const { name } = definition;
  const rules = definition.rules.map((rule) => prepareRule(rule, definition));
  return {
    name,
    reads: rules.flatMap(({ condition }) => condition.reads),
    vote(scope) {
      const traces: Omit<RuleTrace, "evaluator">[] = [];
      const asked: EvaluatedRule[] = [];
      for (const { id, condition, evaluation } of rules) {
        const judged = condition.evaluate(scope);
        traces.push({ rule_id: id, result: judged.result, conditions: judged.traces });
        asked.push({ rule: condition, conditions: judged.traces });
        if (!judged.result) continue;
        const { decision, weight } = evaluation;
        const detail = { result: true, decision, weight, rule_id: id, rules: traces };
        return { name, evaluation, detail, asked };
      }
      return { name, evaluation: undefined, detail: { result: false, rules: traces }, asked };
    },
  };
}

function prepareRule(rule: ScoredRule, { name, ruleset }: RulesetDefinition): PreparedRule {
  const metadata = { rule_id: rule.id, ruleset: ruleset ?? name, type: "rule" };
  return {
    id: rule.id,
    condition: compileRuleCondition(rule),
    evaluation: validateEvaluation({ reason: "", ...rule.then, metadata }, name),
  };
}

/** When the rule matches; throws where that cannot be compiled. */
export function compileRuleCondition(rule: ScoredRule): CompiledRule {
  return rule.if === undefined ? compileWhen(rule.when ?? "") : compileRule(rule.if);
}
