import type { OnFail, RoutingDefinition, Status, Scoring, WorkMode } from "./definition.js";
import type { Json, JsonObject } from "./json.js";
import type { Lineage } from "./lineage.js";

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

/** What the votes made. */
export interface ScoredOutcome {
  readonly decision: string;
  readonly confidence: number;
  readonly evaluations: readonly Evaluation[];
  readonly explanations: readonly string[];
  /** One of ours, or the name of one's own. */
  readonly scoring_strategy: string;
  readonly scoring_parameters: ScoringParameters;
}

export type ScoringParameters = Omit<Scoring, "strategy">;

/** One evaluator's vote. */
export interface Evaluation {
  readonly decision: string;
  /** A confidence, from 0 to 1. */
  readonly weight: number;
  readonly reason: string;
  readonly evaluator_name: string;
  readonly metadata: JsonObject;
}

interface Explainability {
  readonly decision: string;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  /** Only where all that there is to know is wanted. */
  readonly rule_traces?: readonly RuleTrace[];
}

/** What came of one rule of an evaluator. */
export interface RuleTrace {
  readonly evaluator: string;
  readonly rule_id: string;
  readonly result: boolean;
  readonly conditions: readonly ConditionTrace[];
}

export type ConditionTrace = FieldTrace | ExpressionTrace;

/** What came of one condition on a field. */
export interface FieldTrace {
  readonly field: string;
  readonly operator: string;
  readonly expected: Json;
  /** Null where there is no such field. */
  readonly actual: Json;
  readonly result: boolean;
  /** It stands under `none`, so it is wanted to be false. */
  readonly negated?: true;
  /** Why the question had no real answer: no such field, a value of the wrong type. */
  readonly note?: string;
}

export interface ExpressionTrace {
  readonly expression: string;
  readonly result: boolean;
  /** Why it could not be evaluated; it then did not match. */
  readonly error?: string;
}

/** All that it takes to reach a scored decision again. */
export interface AuditPayload extends Omit<ScoredOutcome, "explanations"> {
  readonly timestamp: string;
  readonly context: JsonObject;
  readonly feedback: JsonObject;
  readonly agent_version: string;
  readonly deterministic_hash: string;
}

/** A decision made of votes, frozen through and through. */
export interface ScoredDecision extends ScoredOutcome {
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly explainability: Explainability;
  readonly audit_payload: AuditPayload;
  /** Evaluators that failed, and so had no vote. */
  readonly failures: readonly { readonly evaluator: string; readonly error: string }[];
}

export interface GateOutcome {
  readonly status: Status;
  readonly work_frame: WorkFrame;
  readonly decision_metadata: GateMetadata;
}

/** What the agent may do next. */
export interface WorkFrame {
  readonly mode: WorkMode;
  readonly next_action: string | null;
  readonly allowed_actions: readonly string[];
  readonly forbidden_actions: readonly string[];
  readonly required_output: Json;
  readonly missing_evidence: readonly string[];
  readonly next_human_owner: string | null;
}

export interface GateMetadata {
  /** By severity; the suppressed ones too. */
  readonly matched_rules: readonly string[];
  readonly suppressed: readonly { readonly rule: string; readonly by: string }[];
  readonly aggregation: {
    readonly mode: "winner_takes_all";
    /** The first of the deciding rules; null where none matched. */
    readonly winner: string | null;
    /** All rules whose work frames were merged. */
    readonly deciding_rules: readonly string[];
  };
  readonly predicate_traces: readonly PredicateTrace[];
  readonly errored_predicates: readonly ErroredPredicate[];
  readonly request_id: string;
  readonly request_time: string;
}

export interface PredicateTrace {
  readonly rule: string;
  readonly tier: string;
  readonly severity: number;
  readonly status: Status;
  readonly when: string;
  /** Absent where the rule has no `applies_when`. */
  readonly applies?: boolean;
  readonly result: boolean;
  readonly error?: string;
}

/** Something without an answer, which keeps a gate from being GREEN. */
export interface ErroredPredicate {
  readonly source: "enrich" | "context_schema" | "input" | "computed" | "applies_when" | "when";
  /** The rule, the computed value or the endpoint; absent for the others. */
  readonly name?: string;
  readonly expression?: string;
  readonly error: string;
}
