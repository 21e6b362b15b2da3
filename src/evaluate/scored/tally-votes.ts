import type { EvaluatedRule, EvaluatorVote } from "./evaluator.js";
import { erroredConditions } from "./rule-traces.js";
import type { Scored, Strategy } from "./scoring.js";
import { roundedConfidence, highestWeight } from "./scoring.js";
import { InvalidScoringStrategyError, NoEvaluationsError } from "../../errors.js";
import type { ConditionTrace, Evaluation, ScoredOutcome } from "../../model/result.js";

/** The decision that the votes make, and why. */
export interface VoteTally extends ScoredOutcome {
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
}

/** Derives one decision from the votes. Throws `NoEvaluationsError` if no evaluator voted. */
export function tallyVotes(votes: readonly EvaluatorVote[], strategy: Strategy): VoteTally {
  const evaluations = Object.freeze(votes.flatMap(({ evaluation }) => evaluation ?? []));
  if (evaluations.length === 0) throw noEvaluations(votes);
  const { decision, confidence: scored } = Object(strategy.score(evaluations)) as Partial<Scored>;
  if (typeof decision !== "string" || decision === "") {
    throw new InvalidScoringStrategyError(`the strategy \`${strategy.name}\` returned no decision`);
  }
  const confidence = roundedConfidence(scored);
  const outcome = { decision, confidence, evaluations };
  return {
    ...outcome,
    explanations: explainVotes(outcome, strategy),
    scoring_strategy: strategy.name,
    scoring_parameters: strategy.parameters,
    because: becauseOf(decision, votes, strategy),
    failed_conditions: failedConditions(votes),
  };
}

/** Contains no values from the context, because they may have to be masked. */
function noEvaluations(votes: readonly EvaluatorVote[]): NoEvaluationsError {
  const reasons = votes.flatMap(({ name, detail }) => [
    ...(detail.error === undefined ? [] : [`\`${name}\` failed: ${detail.error}`]),
    ...erroredConditions(detail).map(
      ({ rule_id, error }) => `\`${rule_id}\` of \`${name}\` could not be evaluated: ${error}`,
    ),
  ]);
  return new NoEvaluationsError(["No evaluators returned a decision", ...reasons.slice(0, 3)].join("; "), {
    hint: "add a rule that always matches, or a static evaluator",
    details: {
      evaluators: votes.map(({ name, detail: { error } }) => ({
        name,
        ...(error !== undefined && { error }),
      })),
      failed_conditions: failedConditions(votes),
    },
  });
}

/** Returns the conditions behind the votes for the decision. */
function becauseOf(decision: string, votes: readonly EvaluatorVote[], strategy: Strategy): readonly string[] {
  const reasons = new Set<string>();
  for (const { evaluation, evaluatedRules } of votes) {
    if (evaluation?.decision !== decision) continue;
    const matched = evaluatedRules.at(-1);
    if (matched === undefined) reasons.add(statedBy(evaluation));
    else addTexts(matched, true, reasons);
  }
  return reasons.size === 0 ? [fallbackReason(votes, strategy)] : [...reasons];
}

/** Adds the conditions of a rule that support a match, or those that prevent it. */
function addTexts({ rule, conditions }: EvaluatedRule, supporting: boolean, texts: Set<string>): void {
  const conditionTexts = rule.texts();
  for (const [index, trace] of conditions.entries()) {
    if (supportsMatch(trace) !== supporting) continue;
    for (const text of conditionTexts.slice(index, index + 1)) texts.add(text);
  }
}

/** A condition under `none` supports a match if it is false. */
const supportsMatch = (trace: ConditionTrace): boolean => trace.result !== isNegated(trace);

const isNegated = (trace: ConditionTrace): boolean => "negated" in trace;

function statedBy({ reason, evaluator_name, decision }: Evaluation): string {
  return reason || `${evaluator_name} says ${decision}`;
}

/** Returns the reason for a decision without votes, which is the fallback. */
function fallbackReason(votes: readonly EvaluatorVote[], { name, parameters }: Strategy): string {
  if (parameters.threshold === undefined) return `decided by \`${name}\``;
  const highest = highestWeight(votes.flatMap(({ evaluation }) => evaluation ?? []));
  return `the highest weight ${highest} is below the threshold ${parameters.threshold}`;
}

/** Returns the conditions that prevented a match, of all evaluated rules. */
function failedConditions(votes: readonly EvaluatorVote[]): readonly string[] {
  const texts = new Set<string>();
  for (const { evaluatedRules } of votes) for (const each of evaluatedRules) addTexts(each, false, texts);
  return [...texts];
}

/** Explains a decision: the result, the votes for it, the votes against it, and how the strategy resolved them. */
export function explainVotes(
  { decision, confidence, evaluations }: Scored & { readonly evaluations: readonly Evaluation[] },
  strategy: Strategy,
): readonly string[] {
  const supporters = evaluations.filter((each) => each.decision === decision);
  const others = evaluations.filter((each) => each.decision !== decision);
  return [
    `Decision: ${decision} (confidence ${confidence})`,
    ...supporters.map((each) => `${each.evaluator_name} voted ${voteText(each)}`),
    ...others.map((each) => `${each.evaluator_name} voted ${voteText(each, " and was overruled")}`),
    `Resolved by ${strategy.name}: ${resolution(decision, evaluations, strategy)}`,
  ];
}

function voteText({ decision, weight, reason }: Evaluation, fate = ""): string {
  return `${decision} with weight ${weight}${fate}${reason === "" ? "" : `: ${reason}`}`;
}

function resolution(decision: string, evaluations: readonly Evaluation[], strategy: Strategy): string {
  const { threshold, minimum_agreement: agreement } = strategy.parameters;
  const votes = evaluations.filter((each) => each.decision === decision).length;
  switch (strategy.name) {
    case "weighted_average":
      return "the greatest sum of weights decides";
    case "max_weight":
      return "the greatest weight decides";
    case "consensus":
      return `${votes} of ${evaluations.length} votes agree${agreement === undefined ? "" : `, at least ${agreement} of them must`}`;
    case "threshold": {
      const highest = highestWeight(evaluations);
      return `the greatest weight ${highest} ${highest >= (threshold ?? 0) ? "reaches" : "is below"} the threshold ${threshold ?? 0}`;
    }
    default:
      return `${votes} of ${evaluations.length} votes were for it`;
  }
}
