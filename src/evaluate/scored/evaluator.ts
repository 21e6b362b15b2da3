import type { CompiledRule } from "../../expression/rule/compile-rule.js";
import { compileRule, compileWhen } from "../../expression/rule/compile-rule.js";
import type {
  CustomEvaluatorDefinition,
  EvaluatorDefinition,
  RulesetDefinition,
  ScoredRule,
  StaticEvaluatorDefinition,
  Vote,
} from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { ConditionTrace, Evaluation, EvaluatorDetail, RuleTrace } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import type { PreparedOutput } from "../outputs.js";
import { prepareOutput } from "../outputs.js";
import { validateEvaluation } from "./evaluation.js";

/** A compiled evaluator. */
export interface PreparedEvaluator {
  readonly name: string;
  readonly reads: readonly string[];
  /** The paths that each rule reads, for the lineage. */
  readonly inputs: readonly (readonly string[])[];
  /** The same of each `when`, by its text. */
  readonly inputsByCondition: readonly (readonly [string, readonly string[]])[];
  vote(scope: Scope): EvaluatorVote;
  /** Returns the output of a vote; undefined where it has none. */
  outputOf(vote: EvaluatorDetail): PreparedOutput | undefined;
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

export function prepareEvaluator(
  definition: EvaluatorDefinition,
  isMaskedPath: (path: string) => boolean = () => false,
): PreparedEvaluator {
  const prepare = ({ output }: Vote): PreparedOutput | undefined =>
    output === undefined ? undefined : prepareOutput(output, isMaskedPath);
  if ("rules" in definition) return prepareRulesetEvaluator(definition, prepare);
  return "static" in definition ? prepareStaticEvaluator(definition, prepare) : prepareCustomVote(definition);
}

type PrepareVoteOutput = (vote: Vote) => PreparedOutput | undefined;

/** The vote of a custom evaluator, as a fact: null if it did not vote. */
export type VoteFact =
  Required<Pick<Vote, "decision" | "weight" | "reason" | "metadata">> | { readonly error: string } | null;

/** Reads the vote of a custom evaluator from the facts, so that a replay does not need its code. */
function prepareCustomVote(definition: CustomEvaluatorDefinition): PreparedEvaluator {
  const { name, custom } = definition;
  const without = (error?: string): EvaluatorVote => ({
    name,
    evaluation: undefined,
    detail: { result: false, rules: none, ...(error !== undefined && { error }) },
    evaluatedRules: none,
  });
  return {
    name,
    reads: ["facts"],
    inputs: none,
    inputsByCondition: none,
    outputOf: () => undefined,
    vote({ facts }) {
      const fact = voteFacts(facts)[custom];
      if (fact === undefined) return without(`the vote of \`${custom}\` is not known`);
      if (fact === null) return without();
      if ("error" in fact) return without(fact.error);
      const evaluation = toEvaluation(fact, definition, { type: "custom" });
      const { decision, weight } = evaluation;
      return {
        name,
        evaluation,
        detail: { result: true, decision, weight, rules: none },
        evaluatedRules: none,
      };
    },
  };
}

/** Only `gather` creates facts, so they have this shape. */
const voteFacts = ({ votes }: JsonObject): Readonly<Partial<Record<string, VoteFact>>> =>
  (votes ?? {}) as unknown as Readonly<Partial<Record<string, VoteFact>>>;

function prepareStaticEvaluator(
  definition: StaticEvaluatorDefinition,
  prepare: PrepareVoteOutput,
): PreparedEvaluator {
  const { name } = definition;
  const output = prepare(definition.static);
  const evaluation = toEvaluation(definition.static, definition, { type: "static" });
  const { decision, weight } = evaluation;
  const detail = Object.freeze({ result: true, decision, weight, rules: none });
  const voted = { name, evaluation, detail, evaluatedRules: none };
  return {
    name,
    reads: output?.reads ?? none,
    inputs: none,
    inputsByCondition: none,
    vote: () => voted,
    outputOf: () => output,
  };
}

const none: readonly never[] = Object.freeze([]);

interface PreparedRule {
  readonly id: string;
  readonly when: string | undefined;
  readonly condition: CompiledRule;
  readonly evaluation: Evaluation;
  readonly output: PreparedOutput | undefined;
}

/** The first rule that matches votes; the rules after it are not evaluated. */
function prepareRulesetEvaluator(
  definition: RulesetDefinition,
  prepare: PrepareVoteOutput,
): PreparedEvaluator {
  const { name } = definition;
  const rules = definition.rules.map((rule) => ({
    ...prepareRule(rule, definition),
    output: prepare(rule.then),
  }));
  const outputs = new Map(rules.map(({ id, output }) => [id, output]));
  return {
    name,
    reads: rules.flatMap(({ condition, output }) => [...condition.reads, ...(output?.reads ?? none)]),
    inputs: rules.map(({ condition }) => condition.inputs),
    inputsByCondition: rules.flatMap(({ when, condition }) =>
      when === undefined ? [] : [[when, condition.inputs] as const],
    ),
    outputOf: ({ rule_id: id = "" }) => outputs.get(id),
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

function prepareRule(rule: ScoredRule, evaluator: RulesetDefinition): Omit<PreparedRule, "output"> {
  const { name, ruleset = name } = evaluator;
  return {
    id: rule.id,
    when: rule.when,
    condition: compileRuleCondition(rule),
    evaluation: toEvaluation(rule.then, evaluator, { type: "rule" }, { rule_id: rule.id, ruleset }),
  };
}

/** A vote without a weight has weight 1. Written metadata may replace `type`, but not the rule and its ruleset. */
function toEvaluation(
  { metadata = {}, ...vote }: Vote,
  { name, metadata: ofAll = {} }: Pick<EvaluatorDefinition, "name" | "metadata">,
  type: { readonly type: string },
  rule: JsonObject = {},
): Evaluation {
  const given = {
    weight: 1,
    reason: "",
    ...vote,
    metadata: { ...rule, ...type, ...ofAll, ...metadata, ...rule },
  };
  return validateEvaluation(given, name);
}

/** Compiles the condition of a rule. Throws if it is invalid. */
export function compileRuleCondition(rule: ScoredRule): CompiledRule {
  return rule.if === undefined ? compileWhen(rule.when ?? "") : compileRule(rule.if);
}
