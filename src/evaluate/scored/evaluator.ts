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
import { checkedEvaluation } from "./evaluation.js";

/** An evaluator made ready to be asked. */
export interface Voter {
  readonly name: string;
  readonly reads: readonly string[];
  vote(scope: Scope): Voted;
}

/** What an evaluator answered: its vote, if it has one, and how it came to it. */
export interface Voted {
  readonly name: string;
  readonly evaluation: Evaluation | undefined;
  readonly detail: EvaluatorDetail;
  /** The rules that were asked, with what came of their conditions. */
  readonly asked: readonly AskedRule[];
}

export interface AskedRule {
  readonly rule: CompiledRule;
  readonly conditions: readonly ConditionTrace[];
}

export function prepareVoter(definition: EvaluatorDefinition): Voter {
  return "rules" in definition ? rulesetVoter(definition) : staticVoter(definition);
}

function staticVoter({ name, static: vote }: StaticEvaluatorDefinition): Voter {
  const evaluation = checkedEvaluation({ reason: "", ...vote, metadata: { type: "static" } }, name);
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
function rulesetVoter(definition: RulesetDefinition): Voter {
  const { name } = definition;
  const rules = definition.rules.map((rule) => prepareRule(rule, definition));
  return {
    name,
    reads: rules.flatMap(({ condition }) => condition.reads),
    vote(scope) {
      const traces: Omit<RuleTrace, "evaluator">[] = [];
      const asked: AskedRule[] = [];
      for (const { id, condition, evaluation } of rules) {
        const judged = condition.judge(scope);
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
    condition: conditionOf(rule),
    evaluation: checkedEvaluation({ reason: "", ...rule.then, metadata }, name),
  };
}

/** When the rule matches; throws where that cannot be compiled. */
export function conditionOf(rule: ScoredRule): CompiledRule {
  return rule.if === undefined ? compileWhen(rule.when ?? "") : compileRule(rule.if);
}
