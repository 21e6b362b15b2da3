import { deepFreeze } from "../digest/freeze-json.js";
import type { Evaluated, Outcome } from "../evaluate/evaluate.js";
import type { Guarded } from "../guard/guard.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Lineage } from "../model/lineage.js";
import type { CommonResult, GateResult, PolicyResult, Result, ScoredResult } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { buildAuditPayload } from "../record/deterministic-hash.js";

interface Circumstances {
  readonly recordId: string | undefined;
  readonly cached: boolean;
  readonly dryRun: boolean;
  readonly at: string;
  readonly hash: string;
  readonly feedback: JsonObject | undefined;
  /** As it may be shown. */
  readonly scope: Scope;
  readonly guarded: Guarded;
  /** Of a policy always, of the others where it is recorded. */
  readonly lineage: Lineage | undefined;
}

/** The answer with its provenance. Field by field, as copying whole objects would take longer than deciding. */
export function describe(
  loaded: LoadedDefinition,
  evaluated: Evaluated,
  circumstances: Circumstances,
): Result {
  const { definition, definition_hash, environment_hash } = loaded;
  const { recordId, dryRun, cached, at, hash } = circumstances;
  const result: Writable<Partial<CommonResult>> & { type?: Result["type"] } =
    recordId === undefined ? {} : { record_id: recordId };
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
  const { checks, blocked, escalated, proposed } = circumstances.guarded;
  result.guardrails = checks;
  result.blocked = blocked;
  result.escalated = escalated;
  if (proposed !== undefined) Object.assign(result, proposed);
  const { fetched } = circumstances.scope.facts;
  if (fetched !== undefined) result.fetched = fetched as JsonObject;
  result.cached = cached;
  result.dry_run = dryRun;
  result.timestamp = at;
  result.deterministic_hash = hash;
  if (evaluated.outcome !== undefined) {
    addOutcome(result, evaluated.outcome, { evaluated, circumstances });
  }
  return result as Result;
}

/**
 * What only this type of decision answers with. Not by `Object.assign`: an object that has grown so large by it
 * is kept as a table of keys from then on, and all that is done with it takes longer.
 */
function addOutcome(
  result: object,
  outcome: Outcome,
  { evaluated, circumstances }: { readonly evaluated: Evaluated; readonly circumstances: Circumstances },
): void {
  const { feedback, at, hash, scope, lineage } = circumstances;
  switch (outcome.type) {
    case "scored": {
      const { because, failed_conditions } = evaluated;
      const scored = result as Writable<Partial<ScoredResult>>;
      scored.decision = outcome.decision;
      scored.confidence = outcome.confidence;
      scored.evaluations = outcome.evaluations;
      scored.explanations = outcome.explanations;
      scored.scoring_strategy = outcome.scoring_strategy;
      scored.scoring_parameters = outcome.scoring_parameters;
      scored.explainability = { decision: outcome.decision, because, failed_conditions };
      scored.audit_payload = buildAuditPayload(outcome, { context: scope.context, feedback, at, hash });
      return;
    }
    case "policy": {
      const policy = result as Writable<Partial<PolicyResult>>;
      policy.tool = outcome.tool;
      policy.allowed = outcome.allowed;
      policy.outcome = outcome.outcome;
      policy.reason = outcome.reason;
      policy.params = outcome.params;
      if (lineage !== undefined) policy.lineage = lineage;
      return;
    }
    case "gate": {
      const gate = result as Writable<Partial<GateResult>>;
      gate.status = outcome.status;
      gate.work_frame = outcome.work_frame;
      gate.decision_metadata = outcome.decision_metadata;
    }
  }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Freezes a result through and through; what was frozen before is not looked at again. */
export function freezeResult(result: Result): Result {
  Object.freeze(result.selected_targets);
  Object.freeze(result.selected_labels);
  Object.freeze(result.because);
  Object.freeze(result.failed_conditions);
  Object.freeze(result.warnings);
  if (result.guardrails.length > 0) deepFreeze(result.guardrails);
  if (result.proposed_targets !== undefined) deepFreeze([result.proposed_targets, result.proposed_labels]);
  deepFreeze(result.input_value);
  deepFreeze(result.evaluation_details);
  switch (result.type) {
    case "scored":
    case "policy":
    case "gate":
      return freezeParts(result);
    default:
      return Object.freeze(result);
  }
}

function freezeParts(result: Result): Result {
  for (const part of Object.values(result)) deepFreeze(part);
  return Object.freeze(result);
}
