import type { EvaluatedRule, EvaluatorVote } from "./evaluator.js";
import { erroredConditions } from "./rule-traces.js";
import type { Scored, Strategy } from "./scoring.js";
import { roundedConfidence, highestWeight } from "./scoring.js";
import { InvalidScoringStrategyError, NoEvaluationsError } from "../../errors.js";
import type { ConditionTrace, Evaluation, ScoredOutcome } from "../../model/result.js";

/** What the votes made, and why. */
export interface VoteTally extends ScoredOutcome {
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
}

/** Makes one decision of what the evaluators answered; throws where none of them voted. */
export function tallyVotes(voted: readonly EvaluatorVote[], strategy: Strategy): VoteTally {
  const evaluations = Object.freeze(voted.flatMap(({ evaluation }) => evaluation ?? []));
  if (evaluations.length === 0) throw noEvaluations(voted);
  const { decision, confidence: scored } = Object(strategy.score(evaluations)) as Partial<Scored>;
  if (typeof decision !== "string" || decision === "") {
    throw new InvalidScoringStrategyError(`the strategy \`${strategy.name}\` gave no decision`);
  }
  const confidence = roundedConfidence(scored);
  const outcome = { decision, confidence, evaluations };
  return {
    ...outcome,
    explanations: explainVotes(outcome, strategy),
    scoring_strategy: strategy.name,
    scoring_parameters: strategy.parameters,
    because: becauseOf(decision, voted, strategy),
    failed_conditions: failedConditions(voted),
  };
}

/** What was read is not told, as it may be masked. */
function noEvaluations(voted: readonly EvaluatorVote[]): NoEvaluationsError {
  const reasons = voted.flatMap(({ name, detail }) => [
    ...(detail.error === undefined ? [] : [`\`${name}\` failed: ${detail.error}`]),
    ...erroredConditions(detail).map(
      ({ rule_id, error }) => `\`${rule_id}\` of \`${name}\` could not be evaluated: ${error}`,
    ),
  ]);
  return new NoEvaluationsError(["No evaluators returned a decision", ...reasons.slice(0, 3)].join("; "), {
    hint: "add a rule that always matches, or a static evaluator",
    details: {
      evaluators: voted.map(({ name, detail: { error } }) => ({
        name,
        ...(error !== undefined && { error }),
      })),
      failed_conditions: failedConditions(voted),
    },
  });
}

/** The conditions that the votes for the decision rest on. */
function becauseOf(decision: string, voted: readonly EvaluatorVote[], strategy: Strategy): readonly string[] {
  const reasons = new Set<string>();
  for (const { evaluation, asked } of voted) {
    if (evaluation?.decision !== decision) continue;
    const matched = asked.at(-1);
    if (matched === undefined) reasons.add(statedBy(evaluation));
    else addTexts(matched, true, reasons);
  }
  return reasons.size === 0 ? [fallbackReason(voted, strategy)] : [...reasons];
}

/** The conditions of a rule which turned out as the rule wants them, or not. */
function addTexts({ rule, conditions }: EvaluatedRule, isWanted: boolean, texts: Set<string>): void {
  const written = rule.texts();
  for (const [index, trace] of conditions.entries()) {
    if (supportsMatch(trace) !== isWanted) continue;
    for (const text of written.slice(index, index + 1)) texts.add(text);
  }
}

/** A condition under `none` leads to a match by being false. */
const supportsMatch = (trace: ConditionTrace): boolean => trace.result !== isNegated(trace);

const isNegated = (trace: ConditionTrace): boolean => "negated" in trace;

function statedBy({ reason, evaluator_name, decision }: Evaluation): string {
  return reason || `${evaluator_name} says ${decision}`;
}

/** Nobody voted for it, so it is what is decided where the votes do not suffice. */
function fallbackReason(voted: readonly EvaluatorVote[], { name, parameters }: Strategy): string {
  if (parameters.threshold === undefined) return `\`${name}\` decided so`;
  const highest = highestWeight(voted.flatMap(({ evaluation }) => evaluation ?? []));
  return `the highest weight ${highest} is below the threshold ${parameters.threshold}`;
}

/** Every condition that did not turn out as its rule wants it, of all rules that were asked. */
function failedConditions(voted: readonly EvaluatorVote[]): readonly string[] {
  const texts = new Set<string>();
  for (const { asked } of voted) for (const each of asked) addTexts(each, false, texts);
  return [...texts];
}

/** What was decided, who was for it, who was against it and why that did not count, as people say it. */
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
