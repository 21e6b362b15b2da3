import { InvalidScoringStrategyError, NoEvaluationsError } from "../../contract-errors.js";
import type { ConditionTrace, Evaluation, ScoredOutcome } from "../../model/result.js";
import type { AskedRule, Voted } from "./evaluator.js";
import { explain } from "./explanations.js";
import { erroredIn } from "./rule-traces.js";
import type { Scored, Strategy } from "./scoring.js";
import { checkedConfidence, highestWeight } from "./scoring.js";

/** What the votes made, and why. */
export interface Tallied extends ScoredOutcome {
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
}

/** Makes one decision of what the evaluators answered; throws where none of them voted. */
export function tallyVotes(voted: readonly Voted[], strategy: Strategy): Tallied {
  const evaluations = Object.freeze(voted.flatMap(({ evaluation }) => evaluation ?? []));
  if (evaluations.length === 0) throw noEvaluations(voted);
  const { decision, confidence: scored } = Object(strategy.score(evaluations)) as Partial<Scored>;
  if (typeof decision !== "string" || decision === "") {
    throw new InvalidScoringStrategyError(`the strategy \`${strategy.name}\` gave no decision`);
  }
  const confidence = checkedConfidence(scored);
  const outcome = { decision, confidence, evaluations };
  return {
    ...outcome,
    explanations: explain(outcome, strategy),
    scoring_strategy: strategy.name,
    scoring_parameters: strategy.parameters,
    because: becauseOf(decision, voted, strategy),
    failed_conditions: failedIn(voted),
  };
}

/** What was read is not told, as it may be masked. */
function noEvaluations(voted: readonly Voted[]): NoEvaluationsError {
  const reasons = voted.flatMap(({ name, detail }) => [
    ...(detail.error === undefined ? [] : [`\`${name}\` failed: ${detail.error}`]),
    ...erroredIn(detail).map(
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
      failed_conditions: failedIn(voted),
    },
  });
}

/** The conditions that the votes for the decision rest on. */
function becauseOf(decision: string, voted: readonly Voted[], strategy: Strategy): readonly string[] {
  const reasons = new Set<string>();
  for (const { evaluation, asked } of voted) {
    if (evaluation?.decision !== decision) continue;
    const matched = asked.at(-1);
    if (matched === undefined) reasons.add(statedBy(evaluation));
    else addTexts(matched, true, reasons);
  }
  return reasons.size === 0 ? [fallenBack(voted, strategy)] : [...reasons];
}

/** The conditions of a rule which turned out as the rule wants them, or not. */
function addTexts({ rule, conditions }: AskedRule, isWanted: boolean, texts: Set<string>): void {
  const written = rule.texts();
  for (const [index, trace] of conditions.entries()) {
    if (led(trace) !== isWanted) continue;
    for (const text of written.slice(index, index + 1)) texts.add(text);
  }
}

/** A condition under `none` leads to a match by being false. */
const led = (trace: ConditionTrace): boolean => trace.result !== isNegated(trace);

const isNegated = (trace: ConditionTrace): boolean => "negated" in trace;

function statedBy({ reason, evaluator_name, decision }: Evaluation): string {
  return reason || `${evaluator_name} says ${decision}`;
}

/** Nobody voted for it, so it is what is decided where the votes do not suffice. */
function fallenBack(voted: readonly Voted[], { name, parameters }: Strategy): string {
  if (parameters.threshold === undefined) return `\`${name}\` decided so`;
  const highest = highestWeight(voted.flatMap(({ evaluation }) => evaluation ?? []));
  return `the highest weight ${highest} is below the threshold ${parameters.threshold}`;
}

/** Every condition that did not turn out as its rule wants it, of all rules that were asked. */
function failedIn(voted: readonly Voted[]): readonly string[] {
  const texts = new Set<string>();
  for (const { asked } of voted) for (const each of asked) addTexts(each, false, texts);
  return [...texts];
}
