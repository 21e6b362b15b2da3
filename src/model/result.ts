import type {
  AggregateFunction,
  OnFail,
  RoutingDefinition,
  Status,
  Scoring,
  WorkMode,
} from "./definition.js";
import type { Json, JsonObject } from "./json.js";
import type { Lineage } from "./lineage.js";

/** The outcome of one evaluation, as `evaluate --format json` prints it. */
export type Result = RoutingResult | ScoredResult | PolicyResult | GateResult;

/** The fields that all types share. */
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
  /**
   * The output of each selected label, null where its branch has none; one number with `aggregate`. Absent where the
   * definition declares no output.
   */
  readonly outputs?: readonly Json[];
  /** How `aggregate` combined the outputs of the matches. */
  readonly aggregate?: Aggregate;
  readonly input_value: Json;
  readonly evaluation_details: EvaluationDetails;
  /** Number of rules of a large table, whose details list only matched and errored rules. */
  readonly rules_total?: number;
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly warnings: readonly string[];
  readonly guardrails: readonly Check[];
  readonly blocked: boolean;
  readonly escalated: boolean;
  /** The fetches and their results; in a record they are among the facts. */
  readonly fetched?: JsonObject;
  readonly cached: boolean;
  readonly dry_run: boolean;
  readonly timestamp: string;
  readonly deterministic_hash: string;
  /** With `--follow`: every decision of the chain, this one last. */
  readonly followed?: readonly FollowedStep[];
  /** With `--follow`: the targets at the end of the chain. */
  readonly final_targets?: readonly string[];
}

/** The combined outputs of a rule table. */
export interface Aggregate {
  readonly function: AggregateFunction;
  /** The number; the output of the default where no rule matched. */
  readonly value: Json;
  /** The output of each match, in the order of `selected_labels`; empty where no rule matched. */
  readonly of: readonly Json[];
}

/** One decision of a followed chain. */
export interface FollowedStep {
  readonly decision_id: string;
  readonly record_id?: string;
  /** The record of the decision that led here. */
  readonly parent_record_id?: string;
  readonly type: Result["type"];
  readonly selected_targets: readonly string[];
  readonly selected_labels: readonly string[];
  readonly outputs?: readonly Json[];
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

/** Whether the call is allowed, why, and with which params. */
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

/** Results of the conditions by label, evaluator, policy or rule; or the roll of a weighted decision. */
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
  /** Present where cases have conditions: cases that do not match are left out of the roll. */
  readonly conditions?: Readonly<Record<string, ConditionDetail>>;
}

/** How an evaluator voted, or why it did not. */
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

/** The result of a policy or an override. */
export interface PolicyDetail {
  readonly version: string;
  /** Whether it allows the call; of an override, whether it was applied. */
  readonly result: boolean;
  /** Why it was not consulted: not in effect, used up, or not needed. */
  readonly left_out?: string;
  readonly conditions: readonly NamedCondition[];
  readonly reason?: string;
  /** The override that flipped its denial. */
  readonly overridden_by?: string;
  /** The overrides that changed the params, where it denies only the changed params. */
  readonly changed_by?: readonly string[];
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
  /** The decision that was checked; records of earlier versions have none. */
  readonly decision_id?: string;
  readonly check_name: string;
  readonly passed: boolean;
  readonly message: string;
  /** The consequence of a failed check. */
  readonly on_fail?: OnFail;
}

/** The answer before it was blocked or escalated. */
export interface Proposed {
  readonly proposed_targets: readonly string[];
  /** The label of a branch or the decision of a vote. */
  readonly proposed_labels?: readonly string[];
  /** Absent where the definition declares no output. */
  readonly proposed_outputs?: readonly Json[];
  readonly proposed_outcome?: PolicyOutcome["outcome"];
  readonly proposed_status?: Status;
}

/** The outcome of scoring the votes. */
export interface ScoredOutcome {
  readonly decision: string;
  readonly confidence: number;
  readonly evaluations: readonly Evaluation[];
  readonly explanations: readonly string[];
  /** A built-in strategy, or the name of an own one. */
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
  /** Only with `verbose`. */
  readonly rule_traces?: readonly RuleTrace[];
}

/** The result of one rule of an evaluator. */
export interface RuleTrace {
  readonly evaluator: string;
  readonly rule_id: string;
  readonly result: boolean;
  readonly conditions: readonly ConditionTrace[];
}

export type ConditionTrace = FieldTrace | ExpressionTrace;

/** The result of one condition on a field. */
export interface FieldTrace {
  readonly field: string;
  readonly operator: string;
  readonly expected: Json;
  /** Null where the field is missing. */
  readonly actual: Json;
  readonly result: boolean;
  /** Set under `none`: the condition must be false. */
  readonly negated?: true;
  /** Why the condition could not be tested: a missing field or a value of the wrong type. */
  readonly note?: string;
}

export interface ExpressionTrace {
  readonly expression: string;
  readonly result: boolean;
  /** Why it could not be evaluated; it then did not match. */
  readonly error?: string;
}

/** Everything that is needed to replay a scored decision. */
export interface AuditPayload extends Omit<ScoredOutcome, "explanations"> {
  readonly timestamp: string;
  readonly context: JsonObject;
  readonly feedback: JsonObject;
  readonly agent_version: string;
  readonly deterministic_hash: string;
}

/** A scored decision, deeply frozen. */
export interface ScoredDecision extends ScoredOutcome {
  readonly because: readonly string[];
  readonly failed_conditions: readonly string[];
  readonly explainability: Explainability;
  readonly audit_payload: AuditPayload;
  /** Evaluators that failed and did not vote. */
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
  /** By severity, including suppressed rules. */
  readonly matched_rules: readonly string[];
  readonly suppressed: readonly { readonly rule: string; readonly by: string }[];
  readonly aggregation: {
    readonly mode: "winner_takes_all";
    /** The first of the deciding rules; null where none matched. */
    readonly winner: string | null;
    /** All rules whose work frames were merged. */
    readonly deciding_rules: readonly string[];
    /** Set where errors or limits made the status stricter than that of the rules. */
    readonly raised?: { readonly from: Status; readonly to: Status; readonly reason: string };
  };
  readonly predicate_traces: readonly PredicateTrace[];
  readonly errored_predicates: readonly ErroredPredicate[];
  readonly request_id: string;
  readonly request_time: string;
  /** `max_calls` and `max_sum`; absent unless the gate has limits and its rules are GREEN. */
  readonly limits?: readonly NamedCondition[];
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

/** A predicate or value that could not be evaluated; it keeps a gate from being GREEN. */
export interface ErroredPredicate {
  readonly source: "enrich" | "context_schema" | "input" | "computed" | "applies_when" | "when" | "output";
  /** The rule, the computed value or the endpoint; absent for the others. */
  readonly name?: string;
  readonly expression?: string;
  /** The path of the required data that is missing in the context. */
  readonly missing?: string;
  readonly error: string;
}
