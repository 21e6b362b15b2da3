import type { CommonDefinition, OnError } from "./common-definition.js";
import type { Json } from "./json.js";

/** Several evaluators vote; the strategy makes one decision of their votes. */
export interface ScoredDefinition extends CommonDefinition {
  readonly type: "scored";
  readonly on_error?: OnError;
  readonly evaluators: readonly EvaluatorDefinition[];
  /** Absent: `weighted_average`. */
  readonly scoring?: Scoring;
  /** Where each decision leads. */
  readonly targets?: Readonly<Record<string, string>>;
}

export type EvaluatorDefinition = RulesetDefinition | StaticEvaluatorDefinition;

/** The first rule that matches votes. */
export interface RulesetDefinition {
  readonly name: string;
  readonly ruleset?: string;
  readonly rules: readonly ScoredRule[];
}

export interface StaticEvaluatorDefinition {
  readonly name: string;
  readonly static: Vote;
}

/** Either `if` or `when` says when it matches. */
export interface ScoredRule {
  readonly id: string;
  readonly if?: RuleCondition;
  readonly when?: string;
  readonly then: Vote;
  readonly description?: string;
}

export interface Vote {
  readonly decision: string;
  /** A confidence, from 0 to 1. */
  readonly weight: number;
  readonly reason?: string;
}

export type RuleCondition =
  | { readonly all: readonly RuleCondition[] }
  | { readonly any: readonly RuleCondition[] }
  | { readonly none: readonly RuleCondition[] }
  | FieldCondition;

export interface FieldCondition {
  /** A path into the context. */
  readonly field: string;
  readonly op: string;
  readonly value?: Json;
}

export type ScoringStrategy = "weighted_average" | "max_weight" | "consensus" | "threshold";

export interface Scoring {
  readonly strategy: ScoringStrategy;
  /** For `threshold`. */
  readonly threshold?: number;
  readonly fallback_decision?: string;
  /** For `consensus`. */
  readonly minimum_agreement?: number;
}
