import { Failure } from "../../expression/failure.js";
import type { Template } from "../../expression/template.js";
import type { ScoredDefinition } from "../../model/definition.js";
import type { Scope } from "../../model/scope.js";
import type { EvaluatorDetail, ScoredOutcome } from "../../model/result.js";
import type { PreparedType } from "../evaluate.js";
import { readsWithInput } from "../evaluate.js";
import type { EvaluatorVote } from "./evaluator.js";
import { prepareEvaluator } from "./evaluator.js";
import { suspectConditions, erroredConditions } from "./rule-traces.js";
import { strategyFor } from "./scoring.js";
import { tallyVotes } from "./tally-votes.js";

/** `scored`: several evaluators vote, and a strategy derives one decision from their votes. */
export function prepareScored(definition: ScoredDefinition, input: Template | undefined): PreparedType {
  const evaluators = definition.evaluators.map(prepareEvaluator);
  const strategy = strategyFor(definition.scoring);
  const targets = definition.targets ?? {};
  const conditionReads = evaluators.flatMap(({ reads }) => reads);
  const customEvaluators = [
    ...new Set(definition.evaluators.flatMap((each) => ("custom" in each ? [each.custom] : []))),
  ];
  return {
    reads: readsWithInput(input, conditionReads),
    ...(customEvaluators.length > 0 && { customEvaluators }),
    conditionReads,
    inputsByCondition: new Map(evaluators.flatMap((each) => each.inputsByCondition)),
    inputsRead: ({ evaluation_details: details }) =>
      evaluators.flatMap(({ name, inputs }) => {
        const { rules = [] } = (details as Readonly<Record<string, Partial<EvaluatorDetail>>>)[name] ?? {};
        return inputs.slice(0, rules.length);
      }),
    evaluate(scope) {
      const value = input === undefined ? scope.context : input.evaluate(scope);
      const failure = value instanceof Failure ? value.message : undefined;
      const extended = withInput(scope, value);
      const votes = evaluators.map((evaluator) => evaluator.vote(extended));
      const { because, failed_conditions, ...outcome } = tallyVotes(votes, strategy);
      const errors = [
        ...(failure === undefined ? [] : [`the input could not be evaluated: ${failure}`]),
        ...votes.flatMap(({ name, detail: { error } }) =>
          error === undefined ? [] : [`\`${name}\` has no vote: ${error}`],
        ),
        ...votes.flatMap(describeErroredConditions),
      ];
      const target = Object.hasOwn(targets, outcome.decision) ? targets[outcome.decision] : undefined;
      return {
        selected_targets: target === undefined ? [] : [target],
        selected_labels: [outcome.decision],
        input_value: value instanceof Failure ? null : value,
        evaluation_details: detailsOf(votes),
        rules_total: undefined,
        because,
        failed_conditions,
        warnings: [...errors, ...disagreement(outcome)],
        errors,
        outcome: { type: "scored", ...outcome },
      };
    },
  };
}

function withInput({ context, facts, system }: Scope, value: Failure | Scope["input"]): Scope {
  return { context, facts, system, input: value instanceof Failure ? undefined : value };
}

/** Warns about a decision with a confidence of 0. */
function disagreement({
  scoring_strategy,
  confidence,
  scoring_parameters,
}: ScoredOutcome): readonly string[] {
  if (scoring_strategy !== "consensus" || confidence > 0) return [];
  const { minimum_agreement: least } = scoring_parameters;
  return [`the votes do not agree enough (at least ${least ?? "half"} of them must), so the confidence is 0`];
}

function detailsOf(votes: readonly EvaluatorVote[]): Readonly<Record<string, EvaluatorDetail>> {
  const details: Record<string, EvaluatorDetail> = {};
  for (const { name, detail } of votes) details[name] = detail;
  return details;
}

/** Describes expressions that could not be evaluated, and fields that could not be tested. */
const describeErroredConditions = ({ name, detail }: EvaluatorVote): readonly string[] => [
  ...erroredConditions(detail).map(
    ({ rule_id, error }) =>
      `\`${rule_id}\` of \`${name}\` could not be evaluated, so it did not match: ${error}`,
  ),
  ...suspectConditions(detail).map(
    ({ rule_id, error }) => `\`${rule_id}\` of \`${name}\` could not be tested: ${error}`,
  ),
];
