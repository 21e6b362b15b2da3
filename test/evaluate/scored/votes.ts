import type { Evaluated } from "../../../src/evaluate/evaluate.js";
import { evaluate } from "../../../src/evaluate/evaluate.js";
import { prepare } from "../../../src/evaluate/prepare.js";
import type {
  EvaluatorDefinition,
  RuleCondition,
  ScoredDefinition,
  ScoredRule,
  Scoring,
  Vote,
} from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";
import type { Evaluation, EvaluatorDetail, ScoredOutcome } from "../../../src/model/result.js";
import { scopeOf } from "../definitions.js";

export function scoredOf(
  evaluators: readonly EvaluatorDefinition[],
  extra: Partial<Omit<ScoredDefinition, "type" | "evaluators">> = {},
): ScoredDefinition {
  return { id: "scored-under-test", type: "scored", ...extra, evaluators };
}

/** An evaluator with a fixed vote. */
export const says = (
  name: string,
  decision: string,
  weight: number,
  reason?: string,
): EvaluatorDefinition => ({
  name,
  static: { decision, weight, ...(reason !== undefined && { reason }) },
});

/** An evaluator with rules; its ruleset has its name by default. */
export const ruleset = (
  name: string,
  rules: readonly ScoredRule[],
  extra: { readonly ruleset?: string } = {},
): EvaluatorDefinition => ({ name, ...extra, rules });

const approve: Vote = { decision: "approve", weight: 0.5 };

export const ifRule = (id: string, condition: RuleCondition, then: Vote = approve): ScoredRule => ({
  id,
  if: condition,
  then,
});

export const whenRule = (id: string, when: string, then: Vote = approve): ScoredRule => ({ id, when, then });

/** Static evaluators named `e1`, `e2` and so on. */
export const voting = (...votes: readonly (readonly [string, number])[]): readonly EvaluatorDefinition[] =>
  votes.map(([decision, weight], index) => says(`e${index + 1}`, decision, weight));

/** The votes that a strategy gets. */
export const votes = (...given: readonly (readonly [string, number])[]): readonly Evaluation[] =>
  given.map(([decision, weight], index) => ({
    decision,
    weight,
    reason: "",
    evaluator_name: `e${index + 1}`,
    metadata: {},
  }));

export const threshold = (least: number, fallback = "manual_review"): Scoring => ({
  strategy: "threshold",
  threshold: least,
  fallback_decision: fallback,
});

export const ask = (definition: ScoredDefinition, context: JsonObject = {}, strict = false): Evaluated =>
  evaluate(prepare(definition), scopeOf(context), strict);

export function outcomeOf({ outcome }: Evaluated): ScoredOutcome {
  if (outcome?.type !== "scored") throw new Error("the answer is not that of a scored decision");
  return outcome;
}

export const answerOf = (definition: ScoredDefinition, context: JsonObject = {}): ScoredOutcome =>
  outcomeOf(ask(definition, context));

export const detailsOf = ({ evaluation_details }: Evaluated): Readonly<Record<string, EvaluatorDetail>> =>
  evaluation_details as Readonly<Record<string, EvaluatorDetail>>;

/** Returns the thrown error; fails the test if there is none. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** Returns the paths of all parts that are not frozen. */
export function unfrozen(value: unknown, path = "$"): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const within = Object.entries(value).flatMap(([key, part]) => unfrozen(part, `${path}.${key}`));
  return Object.isFrozen(value) ? within : [path, ...within];
}
