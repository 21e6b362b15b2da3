/** What a decision was based on. The fields that the store indexes come first. */
export interface Lineage {
  readonly entities: readonly Entity[];
  readonly artifacts: readonly string[];
  /** One source for each top-level key of the context that was read. */
  readonly inputs: readonly InputSource[];
  readonly conditions: readonly LineageCondition[];
  readonly policies: readonly PolicyEvaluation[];
  /** The override that decided. */
  readonly override: OverrideApplication | null;
  readonly params_digest: string | null;
  readonly precedents: readonly Precedent[];
}

export interface InputSource {
  readonly source: string;
  readonly keys: readonly string[];
  /** SHA-256 of the values, to detect changes. */
  readonly digest: string;
}

/** An entity that a decision is about. */
export interface Entity {
  readonly type: string;
  readonly id: string;
}

/** A similar earlier record. It does not influence the answer. */
export interface Precedent {
  readonly record_id: string;
  /** From 0 to 1. */
  readonly similarity: number;
  readonly match_reason: string;
  /** Whether both decisions have the same outcome. */
  readonly outcome_matched: boolean;
}

export interface LineageCondition {
  readonly name: string;
  readonly expression: string;
  readonly result: boolean;
  readonly inputs_used: readonly string[];
}

export interface PolicyEvaluation {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the policy in canonical JSON. */
  readonly hash: string;
  readonly base_decision: "allow" | "deny";
  readonly denial_reason: string | null;
  /** The override that flipped the denial. */
  readonly override: string | null;
}

export interface OverrideApplication {
  readonly name: string;
  readonly version: string;
  readonly hash: string;
  /** The denials it flipped. */
  readonly overrides: readonly string[];
  readonly condition: string | null;
  readonly action: "allow" | "allow_with_warning" | "modify_params";
  readonly reason: string;
  readonly expires_at: string | null;
}
