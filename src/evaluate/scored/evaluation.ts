import { deepFreeze, frozenCopy } from "../../digest/freeze-json.js";
import { InvalidEvaluatorError, InvalidWeightError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { Evaluation } from "../../model/result.js";

/** The weight, or the contract's error where it is none: a number from 0 to 1. */
export function validateWeight(weight: unknown): number {
  if (typeof weight === "number" && weight >= 0 && weight <= 1) return weight;
  throw new InvalidWeightError(weight);
}

/** A vote as the contract wants it, frozen through and through; throws where it is none. */
export function validateEvaluation(vote: unknown, evaluator: string): Evaluation {
  if (vote instanceof Promise) throw invalid(evaluator, "gave a promise, but evaluators answer at once");
  if (typeof vote !== "object" || vote === null || Array.isArray(vote)) {
    throw invalid(evaluator, "gave neither an evaluation nor nothing");
  }
  const { decision, weight, reason, evaluator_name, metadata = {} } = vote as Partial<Evaluation>;
  if (typeof decision !== "string" || decision === "") throw invalid(evaluator, "gave no decision");
  if (typeof reason !== "string") throw invalid(evaluator, "gave no reason (it may be empty)");
  const name = evaluator_name ?? evaluator;
  if (typeof name !== "string" || name === "") throw invalid(evaluator, "has no name");
  return deepFreeze({
    decision,
    weight: validateWeight(weight),
    reason,
    evaluator_name: name,
    metadata: validateMetadata(metadata, evaluator),
  });
}

function validateMetadata(metadata: unknown, evaluator: string): JsonObject {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw invalid(evaluator, "gave metadata that is no object");
  }
  try {
    return frozenCopy(metadata) as JsonObject;
  } catch (error) {
    throw invalid(evaluator, `gave metadata that is no JSON: ${(error as Error).message}`);
  }
}

const invalid = (evaluator: string, what: string): InvalidEvaluatorError =>
  new InvalidEvaluatorError(`the evaluator \`${evaluator}\` ${what}`);
