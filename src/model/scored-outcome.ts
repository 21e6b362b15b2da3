import type { Scoring } from "./definition.js";
import type { Json, JsonObject } from "./json.js";

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

export interface Explainability {
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
