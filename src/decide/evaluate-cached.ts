import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { evaluate, inputOf } from "../evaluate/evaluate.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Scope } from "../model/scope.js";
import { cacheLifetime } from "../record/answer-cache.js";
import { cacheKey, valuesReadJson } from "../record/deterministic-hash.js";
import type { Records } from "../record/records.js";
import { microsecondsOf } from "../record/timestamp.js";

export interface Answer {
  readonly evaluated: Evaluated;
  /** Where the cache was asked. */
  readonly cacheKey?: string;
  readonly cached: boolean;
  /** The record of the decision that the cached answer is from. */
  readonly cachedFrom?: string | undefined;
}

export interface EvaluationRequest {
  readonly loaded: LoadedDefinition;
  readonly prepared: Prepared;
  readonly scope: Scope;
  readonly strict: boolean;
  readonly at: string;
  /** The record that will be kept of it. */
  readonly recordId: string | undefined;
}

/** The answer as it was given to the same question before, where that is wanted and known; else a new one. */
export async function evaluateCached(
  question: EvaluationRequest,
  records: Records | undefined,
): Promise<Answer> {
  const { loaded, prepared, scope, strict, at, recordId } = question;
  const lifetime = records === undefined ? undefined : cacheLifetime(loaded.definition, prepared.reads);
  if (records === undefined || lifetime === undefined) {
    return { evaluated: evaluate(prepared, scope, strict), cached: false };
  }
  const key = cacheKey(loaded, valuesReadJson(prepared, scope));
  const now = microsecondsOf(at);
  const known = await records.answers.get(key, now);
  if (known !== undefined) {
    const evaluated = { ...known.answer, input_value: inputOf(prepared, scope) };
    return { evaluated, cacheKey: key, cached: true, cachedFrom: known.record_id };
  }
  try {
    const evaluated = evaluate(prepared, scope, strict);
    if (evaluated.warnings.length === 0) {
      const kept = {
        answer: withoutInput(evaluated),
        ...(recordId !== undefined && { record_id: recordId }),
      };
      records.answers.set(key, kept, { group: loaded.definition.id, now, lifetime });
    }
    return { evaluated, cacheKey: key, cached: false };
  } finally {
    records.answers.release(key);
  }
}

function withoutInput(evaluated: Evaluated): Omit<Evaluated, "input_value"> {
  const { selected_targets, selected_labels, evaluation_details, rules_total } = evaluated;
  const { because, failed_conditions, warnings } = evaluated;
  return {
    selected_targets,
    selected_labels,
    evaluation_details,
    rules_total,
    because,
    failed_conditions,
    warnings,
  };
}
