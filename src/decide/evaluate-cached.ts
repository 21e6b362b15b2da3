import type { Evaluated } from "../evaluate/evaluate.js";
import { evaluate, inputOf } from "../evaluate/evaluate.js";
import type { Scope } from "../model/scope.js";
import { cacheLifetime } from "../record/answer-cache.js";
import { cacheKey, valuesReadJson } from "../record/deterministic-hash.js";
import { microsecondsOf } from "../record/timestamp.js";
import type { Bound } from "./bind.js";
import type { Enriched } from "./enrich.js";
import { withFetchWarnings } from "./enrich.js";
import type { ReadyDefinition } from "./find.js";
import { maskFailure } from "./mask.js";
import type { World } from "./request.js";

/** An evaluated answer, and whether the cache had it. */
export interface Answer {
  readonly evaluated: Evaluated;
  /** What could not be evaluated; absent: nothing. */
  readonly errors?: readonly string[];
  /** Undefined where the cache was not consulted. */
  readonly cacheKey?: string;
  readonly cached: boolean;
  /** The record of the decision that the cached answer comes from. */
  readonly cachedFrom?: string | undefined;
  /** The digest of an answer that is new in the cache of the store. */
  readonly digest?: string | undefined;
}

/** Evaluates, or returns the cached answer to the same values. Errors name no masked value. */
export async function evaluateCached(
  definition: ReadyDefinition,
  scope: Scope,
  bound: Bound,
  { warnings }: Enriched,
  world: World,
): Promise<Answer> {
  try {
    const answer = await findOrEvaluate(definition, scope, bound, world);
    if (warnings.length === 0) return answer;
    const { evaluated } = answer;
    const all = [...new Set([...warnings, ...evaluated.warnings])];
    return { ...answer, evaluated: { ...evaluated, warnings: all } };
  } catch (error) {
    throw withFetchWarnings(maskFailure(error, definition.prepared, scope), warnings);
  }
}

async function findOrEvaluate(
  { loaded, prepared }: ReadyDefinition,
  scope: Scope,
  bound: Bound,
  world: World,
): Promise<Answer> {
  const { strict, at, recordId, noCache, dryRun, org } = bound;
  const answers = noCache || dryRun ? undefined : world.records?.answers;
  const lifetime = answers === undefined ? undefined : cacheLifetime(prepared);
  if (answers === undefined || lifetime === undefined) {
    const evaluated = evaluate(prepared, scope, strict);
    return { evaluated, errors: evaluated.errors, cached: false };
  }
  const key = cacheKey(loaded, valuesReadJson(prepared, scope), org);
  const now = microsecondsOf(at);
  const adapter = loaded.definition.cache?.adapter;
  const entry = await answers.get(key, { now, lifetime, adapter });
  if (entry !== undefined) {
    const evaluated = { ...entry.answer, input_value: inputOf(prepared, scope) };
    return { evaluated, cacheKey: key, cached: true, cachedFrom: entry.record_id };
  }
  try {
    const evaluated = evaluate(prepared, scope, strict);
    if (evaluated.warnings.length > 0) return { evaluated, cacheKey: key, cached: false };
    const answer = withoutInput(evaluated);
    const digest = answers.set(
      key,
      { answer, ...(recordId !== undefined && { record_id: recordId }) },
      { group: loaded.definition.id, now, lifetime, adapter },
    );
    return { evaluated, cacheKey: key, cached: false, digest };
  } finally {
    answers.release(key);
  }
}

/** The part of an answer that other inputs with the same values share. */
function withoutInput(evaluated: Evaluated): Omit<Evaluated, "input_value"> {
  const { selected_targets, selected_labels, evaluation_details, rules_total } = evaluated;
  const { because, failed_conditions, warnings, outputs, aggregate } = evaluated;
  return {
    selected_targets,
    selected_labels,
    ...(outputs !== undefined && { outputs }),
    ...(aggregate !== undefined && { aggregate }),
    evaluation_details,
    rules_total,
    because,
    failed_conditions,
    warnings,
  };
}
