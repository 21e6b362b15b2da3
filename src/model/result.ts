import type { DecisionType } from "./definition.js";
import type { Json } from "./json.js";

/** The outcome of one evaluation, as `evaluate --format json` prints it. */
export interface Result {
  readonly record_id?: string;
  readonly decision_id: string;
  readonly decision_name?: string;
  readonly decision_version?: string;
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly type: DecisionType;
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  readonly input_value: Json;
  readonly evaluation_details: EvaluationDetails;
  /** How many rules a table has whose details list only the matched and the errored ones. */
  readonly rules_total?: number;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly warnings: readonly string[];
  readonly guardrails: readonly Check[];
  readonly blocked: boolean;
  readonly escalated: boolean;
  readonly cached: boolean;
  readonly dry_run: boolean;
  readonly timestamp: string;
  readonly deterministic_hash: string;
}

/** What came of the conditions: by label, or the roll of a weighted decision. */
export type EvaluationDetails = Readonly<Record<string, ConditionDetail>> | RollDetails;

export interface ConditionDetail {
  readonly condition: string;
  readonly result: boolean;
  readonly priority?: number;
  /** Why the condition could not be evaluated; it then did not match. */
  readonly error?: string;
}

export interface RollDetails {
  /** Absent where the input is masked. */
  readonly roll?: number;
  readonly total_weight: number;
  readonly weights: Readonly<Record<string, number>>;
  /** Only where cases have conditions: those that do not match take no part in the roll. */
  readonly conditions?: Readonly<Record<string, ConditionDetail>>;
}

/** One guardrail's verdict on a result. */
export interface Check {
  readonly check_name: string;
  readonly passed: boolean;
  readonly message: string;
}
