import { deepFreeze, frozenCopy } from "../../digest/freeze-json.js";
import { InvalidEvaluatorError, InvalidWeightError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { Evaluation } from "../../model/result.js";
import { isObject } from "../../expression/equal.js";

/** Returns the weight. Throws `InvalidWeightError` if it is not a number from 0 to 1. */
export function validateWeight(weight: unknown): number {
  if (typeof weight === "number" && weight >= 0 && weight <= 1) return weight;
  throw new InvalidWeightError(weight);
}

/** Returns a vote as a deeply frozen evaluation. Throws if it is invalid. */
export function validateEvaluation(vote: unknown, evaluator: string): Evaluation {
  if (!isObject(vote)) {
    throw invalid(evaluator, "must return an evaluation, null or undefined");
  }
  const { decision, weight, reason, evaluator_name, metadata = {} } = vote as Partial<Evaluation>;
  if (typeof decision !== "string" || decision === "") throw invalid(evaluator, "returned no decision");
  if (typeof reason !== "string") throw invalid(evaluator, "returned no reason (it may be empty)");
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
  if (!isObject(metadata)) {
    throw invalid(evaluator, "returned metadata that is not an object");
  }
  try {
    return frozenCopy(metadata) as JsonObject;
  } catch (error) {
    throw invalid(evaluator, `returned metadata that is not JSON: ${(error as Error).message}`);
  }
}

const invalid = (evaluator: string, what: string): InvalidEvaluatorError =>
  new InvalidEvaluatorError(`the evaluator \`${evaluator}\` ${what}`);
