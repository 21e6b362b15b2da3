import { validateEvaluation } from "./evaluation.js";
import type { EvaluatorVote } from "./evaluator.js";
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
import type { Scope } from "../../model/scope.js";

/**
 * A custom evaluator. It must be stateless and pure: the same context always gets the same vote. An
 * evaluator that throws, rejects or returns an invalid vote has no vote.
 */
export interface Evaluator {
  readonly name: string;
  /** Returns a vote, or null if it cannot decide. */
  evaluate(context: JsonObject, options: { readonly feedback: JsonObject }): CustomVote | Promise<CustomVote>;
}

export type CustomVote = EvaluationGiven | null | undefined;

/** An evaluator for `scoredAgent`: custom, or written as in a definition. */
export type AgentEvaluator = Evaluator | EvaluatorDefinition;

/** The vote of a custom evaluator; rule-based ones set `rule_id` and `ruleset` in the metadata. */
export type EvaluationGiven = Pick<Evaluation, "decision" | "weight" | "reason"> &
  Partial<Pick<Evaluation, "evaluator_name" | "metadata">>;

/** A custom scoring strategy: derives one decision from at least one vote. */
export interface ScoringPlugIn {
  readonly name: string;
  readonly parameters?: ScoringParameters;
  score(evaluations: readonly Evaluation[]): Scored;
}

/** An evaluator of an agent, which votes at once or later. */
export interface Voter {
  vote(scope: Scope, feedback: JsonObject): EvaluatorVote;
  voteLater(scope: Scope, feedback: JsonObject): Promise<EvaluatorVote>;
}

/** Compiles an evaluator of either kind. */
export function prepareVoter(evaluator: AgentEvaluator): Voter {
  const name = assertEvaluatorName(evaluator);
  if ("rules" in evaluator) rejectMalformedRules(evaluator);
  if ("rules" in evaluator || "static" in evaluator) {
    const prepared = prepareEvaluator(evaluator);
    const vote = (scope: Scope): EvaluatorVote => prepared.vote(scope);
    return { vote, voteLater: (scope) => Promise.resolve(vote(scope)) };
  }
  assertEvaluates(evaluator);
  return {
    vote({ context }, feedback) {
      try {
        const vote = evaluator.evaluate(context, { feedback });
        if (vote instanceof Promise) {
          // An unhandled rejection would end the process.
          vote.catch(() => undefined);
          throw new InvalidEvaluatorError(
            `the evaluator \`${name}\` returned a promise, for which only \`decideAsync\` waits`,
          );
        }
        return toVote(name, validateVote(vote, name));
      } catch (error) {
        return failedVote(name, error);
      }
    },
    voteLater: async ({ context }, feedback) =>
      castVote(evaluator, context, feedback).then(
        (evaluation) => toVote(name, evaluation),
        (error: unknown) => failedVote(name, error),
      ),
  };
}

/** Lets a custom evaluator vote. Rejects if it throws or returns an invalid vote. */
async function castVote(
  evaluator: Evaluator,
  context: JsonObject,
  feedback: JsonObject,
): Promise<Evaluation | undefined> {
  return validateVote(await evaluator.evaluate(context, { feedback }), evaluator.name);
}

const validateVote = (vote: CustomVote, name: string): Evaluation | undefined =>
  vote === null || vote === undefined ? undefined : validateEvaluation(vote, name);

function toVote(name: string, evaluation: Evaluation | undefined): EvaluatorVote {
  if (evaluation === undefined) return { name, evaluation, detail: noVote, evaluatedRules: [] };
  const { decision, weight } = evaluation;
  return { name, evaluation, detail: { result: true, decision, weight, rules: [] }, evaluatedRules: [] };
}

const failedVote = (name: string, error: unknown): EvaluatorVote => ({
  name,
  evaluation: undefined,
  detail: { ...noVote, error: errorText(error) },
  evaluatedRules: [],
});

const noVote = { result: false, rules: [] };

/** Anything can be thrown. */
const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Functions that let custom evaluators vote, by name. They reject if an evaluator throws or its vote is invalid. */
export type CustomVoters = ReadonlyMap<
  string,
  (context: JsonObject, feedback: JsonObject) => Promise<Evaluation | undefined>
>;

/** Checks the evaluators that are registered for the decisions of definition files. */
export function registerEvaluators(evaluators: readonly Evaluator[]): CustomVoters {
  if (!Array.isArray(evaluators)) throw new InvalidEvaluatorError("`evaluators` must be a list");
  const voters = new Map<string, NonNullable<ReturnType<CustomVoters["get"]>>>();
  for (const evaluator of evaluators as readonly Evaluator[]) {
    const name = assertEvaluatorName(evaluator);
    assertEvaluates(evaluator);
    if (voters.has(name)) throw new InvalidEvaluatorError(`the evaluator \`${name}\` is registered twice`);
    voters.set(name, (context, feedback) => castVote(evaluator, context, feedback));
  }
  return voters;
}

function assertEvaluatorName(evaluator: AgentEvaluator): string {
  const { name } = Object(evaluator) as { readonly name?: unknown };
  if (typeof name !== "string" || name === "") throw new InvalidEvaluatorError("an evaluator needs a name");
  return name;
}

function assertEvaluates(evaluator: AgentEvaluator): asserts evaluator is Evaluator {
  if ("evaluate" in evaluator && typeof evaluator.evaluate === "function") return;
  throw new InvalidEvaluatorError(`the evaluator \`${evaluator.name}\` has no function \`evaluate\``);
}

function rejectMalformedRules({ name, rules }: RulesetDefinition): void {
  if (!Array.isArray(rules)) throw new InvalidRuleDslError(`the rules of \`${name}\` must be a list`);
  for (const rule of rules as readonly ScoredRule[]) {
    const diagnostic = checkRule(rule);
    if (diagnostic === undefined) continue;
    throw new InvalidRuleDslError(`the rule \`${rule.id}\` of \`${name}\`: ${diagnostic.message}`, {
      hint: diagnostic.hint,
    });
  }
}

function checkRule(rule: ScoredRule): Pick<DecisionError, "message" | "hint"> | undefined {
  if ((rule.if === undefined) === (rule.when === undefined)) {
    return { message: "it needs either `if` or `when`, not both", hint: undefined };
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

/** Returns a built-in strategy by its name, or a custom one. */
export function toStrategy(scoring: Scoring | ScoringPlugIn | undefined): Strategy {
  if (scoring === undefined) return strategyFor();
  const { strategy, name, parameters = {}, score } = Object(scoring) as Partial<Scoring & ScoringPlugIn>;
  if (strategy !== undefined) return validStrategy(scoring as Scoring);
  if (typeof name !== "string" || name === "" || typeof score !== "function") {
    throw new InvalidScoringStrategyError("a scoring strategy needs a name and a function `score`");
  }
  return {
    name,
    parameters: frozenCopy(parameters) as ScoringParameters,
    score: (evaluations) => (scoring as ScoringPlugIn).score(evaluations),
  };
}

function validStrategy(scoring: Scoring): Strategy {
  const message = checkScoring(scoring);
  if (message !== undefined) throw new InvalidScoringStrategyError(message);
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
      return `unknown scoring strategy \`${String(strategy)}\``;
  }
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

const isShare = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 1;
