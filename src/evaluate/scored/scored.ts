import { maskedPathTest } from "../../definition/definition-reads.js";
import { declaresOutputs } from "../../definition/outputs.js";
import { Failure } from "../../expression/failure.js";
import type { Template } from "../../expression/template.js";
import type { ScoredDefinition } from "../../model/definition.js";
import type { Scope } from "../../model/scope.js";
import type { EvaluatorDetail, ScoredOutcome } from "../../model/result.js";
import type { PreparedType } from "../evaluate.js";
import { readsWithInput } from "../evaluate.js";
import type { PreparedOutput } from "../outputs.js";
import { outputValue } from "../outputs.js";
import type { EvaluatorVote, PreparedEvaluator } from "./evaluator.js";
import { prepareEvaluator } from "./evaluator.js";
import { suspectConditions, erroredConditions } from "./rule-traces.js";
import { strategyFor } from "./scoring.js";
import { tallyVotes } from "./tally-votes.js";

/** `scored`: several evaluators vote, and a strategy derives one decision from their votes. */
export function prepareScored(
  definition: ScoredDefinition,
  input: Template | undefined,
  masks: readonly string[],
): PreparedType {
  const isMasked = maskedPathTest(input, masks);
  const evaluators = definition.evaluators.map((each) => prepareEvaluator(each, isMasked));
  const hasOutputs = declaresOutputs(definition);
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
    inputsRead({ evaluation_details, outcome }) {
      const details = evaluation_details as Readonly<Record<string, EvaluatorDetail>>;
      const conditions = evaluators.flatMap(({ name, inputs }) =>
        inputs.slice(0, details[name]?.rules.length ?? 0),
      );
      if (!hasOutputs || outcome?.type !== "scored") return conditions;
      return [...conditions, strongestOutput(evaluators, details, outcome.decision)?.inputs ?? none];
    },
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
      const { decision: label } = outcome;
      const target = Object.hasOwn(targets, label) ? targets[label] : undefined;
      const details = detailsOf(votes);
      const output = hasOutputs ? strongestOutput(evaluators, details, label) : undefined;
      return {
        selected_targets: target === undefined ? [] : [target],
        selected_labels: [label],
        ...(hasOutputs && { outputs: [outputValue({ label, output }, extended, definition.id)] }),
        input_value: value instanceof Failure ? null : value,
        evaluation_details: details,
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

const none: readonly string[] = Object.freeze([]);

/** Returns the output of the vote with the highest weight for a decision, among those that have one; the first of equal ones. */
function strongestOutput(
  evaluators: readonly PreparedEvaluator[],
  details: Readonly<Record<string, EvaluatorDetail>>,
  decision: string,
): PreparedOutput | undefined {
  let strongest: { readonly weight: number; readonly output: PreparedOutput } | undefined;
  for (const evaluator of evaluators) {
    const vote = details[evaluator.name];
    if (vote?.decision !== decision) continue;
    const { weight = 0 } = vote;
    const output = evaluator.outputOf(vote);
    if (output !== undefined && (strongest === undefined || weight > strongest.weight))
      strongest = { weight, output };
  }
  return strongest?.output;
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
