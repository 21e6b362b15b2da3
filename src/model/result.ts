import type { OnFail, RoutingDefinition, Status } from "./definition.js";
import type { GateOutcome } from "./gate-outcome.js";
import type { Json, JsonObject } from "./json.js";
import type { Lineage } from "./lineage.js";
import type { AuditPayload, Explainability, RuleTrace, ScoredOutcome } from "./scored-outcome.js";

export type * from "./gate-outcome.js";
export type * from "./scored-outcome.js";

/** The outcome of one evaluation, as `evaluate --format json` prints it. */
export type Result = RoutingResult | ScoredResult | PolicyResult | GateResult;

/** What every type answers with. */
export interface CommonResult extends Partial<Proposed> {
  readonly record_id?: string;
  readonly decision_id: string;
  readonly decision_name?: string;
  readonly decision_version?: string;
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly selected_targets: readonly string[];
  /** The branches, the decision, the outcome or the status. */
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
  /** What was fetched for it and what became of that; in a record it is among the facts. */
  readonly fetched?: JsonObject;
  readonly cached: boolean;
  readonly dry_run: boolean;
  readonly timestamp: string;
  readonly deterministic_hash: string;
  /** Where the way was followed: every decision on it, this one last. */
  readonly followed?: readonly FollowedStep[];
  /** Where it leads in the end. */
  readonly final_targets?: readonly string[];
}

/** One decision on a way that was followed. */
export interface FollowedStep {
  readonly decision_id: string;
  readonly record_id?: string;
  /** The record of the decision that led here. */
  readonly parent_record_id?: string;
  readonly type: Result["type"];
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
}

export interface RoutingResult extends CommonResult {
  readonly type: RoutingDefinition["type"];
}

export interface ScoredResult extends CommonResult, ScoredOutcome {
  readonly type: "scored";
  readonly explainability: Explainability;
  readonly audit_payload: AuditPayload;
}

export interface PolicyResult extends CommonResult, PolicyOutcome {
  readonly type: "policy";
  readonly lineage: Lineage;
}

/** Whether the call may be made, why, and with which params. */
export interface PolicyOutcome {
  readonly tool: string;
  readonly allowed: boolean;
  readonly outcome: "allowed" | "denied" | "allowed_by_exception";
  readonly reason: string;
  readonly params: Json;
}

export interface GateResult extends CommonResult, GateOutcome {
  readonly type: "gate";
}

/** What came of the conditions: by label, evaluator, policy or rule; or the roll of a weighted decision. */
export type EvaluationDetails =
  | Readonly<Record<string, ConditionDetail>>
  | RollDetails
  | Readonly<Record<string, EvaluatorDetail>>
  | Readonly<Record<string, PolicyDetail>>;

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

/** How an evaluator came to its vote, or why it has none. */
export interface EvaluatorDetail {
  /** Whether it voted. */
  readonly result: boolean;
  readonly decision?: string;
  readonly weight?: number;
  readonly rule_id?: string;
  readonly rules: readonly Omit<RuleTrace, "evaluator">[];
  /** Why it failed; it then has no vote. */
  readonly error?: string;
}

/** What a policy, or an override, had to say. */
export interface PolicyDetail {
  readonly version: string;
  /** Whether it allows the call; of an override, whether it was applied. */
  readonly result: boolean;
  /** Why it had no say: it is not yet or no longer in effect, used up, or was not needed. */
  readonly left_out?: string;
  readonly conditions: readonly NamedCondition[];
  readonly reason?: string;
  /** The override that flipped its denial. */
  readonly overridden_by?: string;
  /** The denials that the override flipped. */
  readonly overrides?: readonly string[];
}

export interface NamedCondition {
  readonly name: string;
  readonly expression: string;
  readonly result: boolean;
  readonly error?: string;
}

/** One guardrail's verdict on a result. */
export interface Check {
  readonly check_name: string;
  readonly passed: boolean;
  readonly message: string;
  /** What became of the answer; only where it failed. */
  readonly on_fail?: OnFail;
}

/** What an answer would have been that was blocked or escalated. */
export interface Proposed {
  readonly proposed_targets: readonly string[];
  /** Of a branch, or of a vote. */
  readonly proposed_labels?: readonly string[];
  readonly proposed_outcome?: PolicyOutcome["outcome"];
  readonly proposed_status?: Status;
}
