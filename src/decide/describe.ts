import { deepFreeze } from "../digest/freeze.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Check, Result } from "../model/result.js";

const noChecks: readonly Check[] = Object.freeze([]);

interface Circumstances {
  readonly recordId: string | undefined;
  readonly cached: boolean;
  readonly dryRun: boolean;
  readonly at: string;
  readonly hash: string;
}

/** The answer with its provenance. Field by field, as copying whole objects would take longer than deciding. */
export function describe(
  { definition, definition_hash, environment_hash }: LoadedDefinition,
  evaluated: Evaluated,
  { recordId, dryRun, cached, at, hash }: Circumstances,
): Result {
  const result: Writable<Partial<Result>> = recordId === undefined ? {} : { record_id: recordId };
  result.decision_id = definition.id;
  if (definition.name !== undefined) result.decision_name = definition.name;
  if (definition.version !== undefined) result.decision_version = definition.version;
  result.definition_hash = definition_hash;
  result.environment_hash = environment_hash;
  result.type = definition.type;
  result.selected_targets = evaluated.selected_targets;
  result.selected_labels = evaluated.selected_labels;
  result.input_value = evaluated.input_value;
  result.evaluation_details = evaluated.evaluation_details;
  if (evaluated.rules_total !== undefined) result.rules_total = evaluated.rules_total;
  result.because = evaluated.because;
  result.failed_conditions = evaluated.failed_conditions;
  result.warnings = evaluated.warnings;
  result.guardrails = noChecks;
  result.blocked = false;
  result.escalated = false;
  result.cached = cached;
  result.dry_run = dryRun;
  result.timestamp = at;
  result.deterministic_hash = hash;
  return result as Result;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Freezes a result through and through; what was frozen before is not looked at again. */
export function freezeResult(result: Result): Result {
  Object.freeze(result.selected_targets);
  Object.freeze(result.selected_labels);
  Object.freeze(result.because);
  Object.freeze(result.failed_conditions);
  Object.freeze(result.warnings);
  deepFreeze(result.input_value);
  deepFreeze(result.evaluation_details);
  return Object.freeze(result);
}
