import { validateEvaluation } from "./evaluation.js";
import type { PreparedEvaluator } from "./evaluator.js";
import { compileRuleCondition, prepareEvaluator } from "./evaluator.js";
import type { Scored, Strategy } from "./scoring.js";
import { strategyFor } from "./scoring.js";
import { frozenCopy } from "../../digest/freeze-json.js";
import {
  InvalidEvaluatorError,
  InvalidRuleDslError,
  InvalidScoringStrategyError,
  DecisionError,
} from "../../errors.js";
import type { EvaluatorDefinition, RulesetDefinition, ScoredRule, Scoring } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Evaluation, ScoringParameters } from "../../model/result.js";

/**
 * One's own evaluator. It is stateless, depends on nothing but the context, and changes nothing: the same
 * context always gets the same vote. To fail, or to break the contract of an evaluation, is to have no vote.
 */
export interface Evaluator {
  readonly name: string;
  /** A vote, or nothing where no decision can be made. */
  evaluate(
    context: JsonObject,
    options: { readonly feedback: JsonObject },
  ): EvaluationGiven | null | undefined;
}

/** A vote as an evaluator gives it; rule-based ones name their `rule_id` and `ruleset` in the metadata. */
export type EvaluationGiven = Pick<Evaluation, "decision" | "weight" | "reason"> &
  Partial<Pick<Evaluation, "evaluator_name" | "metadata">>;

/** One's own way to make one decision of votes, of which there is at least one. */
export interface ScoringPlugIn {
  readonly name: string;
  readonly parameters?: ScoringParameters;
  score(evaluations: readonly Evaluation[]): Scored;
}

/** An evaluator of either kind, made ready to be asked with some feedback. */
export function prepareCustomEvaluator(
  given: Evaluator | EvaluatorDefinition,
): (feedback: JsonObject) => PreparedEvaluator {
  const { name } = Object(given) as { readonly name?: unknown };
  if (typeof name !== "string" || name === "") throw new InvalidEvaluatorError("an evaluator has no name");
  if ("rules" in given) rejectMalformedRules(given);
  if ("rules" in given || "static" in given) {
    const voter = prepareEvaluator(given);
    return () => voter;
  }
  if (typeof given.evaluate !== "function") {
    throw new InvalidEvaluatorError(`the evaluator \`${name}\` has no function \`evaluate\``);
  }
  return (feedback) => ({
    name,
    reads: [],
    vote({ context }) {
      try {
        const vote = given.evaluate(context, { feedback });
        if (vote === null || vote === undefined)
          return { name, evaluation: undefined, detail: noVote, asked: [] };
        const evaluation = validateEvaluation(vote, name);
        const { decision, weight } = evaluation;
        return { name, evaluation, detail: { result: true, decision, weight, rules: [] }, asked: [] };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { name, evaluation: undefined, detail: { ...noVote, error: reason }, asked: [] };
      }
    },
  });
}

const noVote = { result: false, rules: [] };

function rejectMalformedRules({ name, rules }: RulesetDefinition): void {
  if (!Array.isArray(rules)) throw new InvalidRuleDslError(`the rules of \`${name}\` must be a list`);
  for (const rule of rules as readonly ScoredRule[]) {
    const fault = checkRule(rule);
    if (fault === undefined) continue;
    throw new InvalidRuleDslError(`the rule \`${rule.id}\` of \`${name}\`: ${fault.message}`, {
      hint: fault.hint,
    });
  }
}

function checkRule(rule: ScoredRule): Pick<DecisionError, "message" | "hint"> | undefined {
  if ((rule.if === undefined) === (rule.when === undefined)) {
    return { message: "it needs either `if` or `when`, and never both", hint: undefined };
  }
  if (rule.if === undefined && typeof rule.when !== "string") {
    return { message: "`when` must be text", hint: undefined };
  }
  try {
    compileRuleCondition(rule);
    return undefined;
  } catch (error) {
    if (error instanceof DecisionError) return error;
    throw error;
  }
}

/** One of the strategies by its name, or one's own. */
export function toStrategy(given: Scoring | ScoringPlugIn | undefined): Strategy {
  if (given === undefined) return strategyFor();
  const { strategy, name, parameters = {}, score } = Object(given) as Partial<Scoring & ScoringPlugIn>;
  if (strategy !== undefined) return validStrategy(given as Scoring);
  if (typeof name !== "string" || name === "" || typeof score !== "function") {
    throw new InvalidScoringStrategyError("a scoring strategy has a name and a function `score`");
  }
  return {
    name,
    parameters: frozenCopy(parameters) as ScoringParameters,
    score: (evaluations) => (given as ScoringPlugIn).score(evaluations),
  };
}

function validStrategy(scoring: Scoring): Strategy {
  const fault = checkScoring(scoring);
  if (fault !== undefined) throw new InvalidScoringStrategyError(fault);
  return strategyFor(scoring);
}

function checkScoring(scoring: Scoring): string | undefined {
  const { strategy, minimum_agreement, threshold, fallback_decision } = scoring;
  switch (strategy) {
    case "weighted_average":
    case "max_weight":
      return undefined;
    case "consensus":
      if (minimum_agreement === undefined || isShare(minimum_agreement)) return undefined;
      return "the strategy `consensus` needs a `minimum_agreement` from 0 to 1";
    case "threshold":
      if (!isShare(threshold)) return "the strategy `threshold` needs a `threshold` from 0 to 1";
      return isText(fallback_decision) ? undefined : "the strategy `threshold` needs a `fallback_decision`";
    default:
      return `there is no scoring strategy \`${String(strategy)}\``;
  }
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

const isShare = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 1;
