/** What a decision was based on. The fields that the store indexes come first. */
export interface Lineage {
  readonly entities: readonly Entity[];
  readonly artifacts: readonly string[];
  /** The names of the params of a tool call, as requested. Older records have none. */
  readonly param_names?: readonly string[];
  /** What the conditions that were evaluated read, by source. */
  readonly inputs: readonly InputSource[];
  readonly conditions: readonly LineageCondition[];
  readonly policies: readonly PolicyEvaluation[];
  /** The first override that decided. */
  readonly override: OverrideApplication | null;
  /** Every override that was applied, in the order of the denials. Older records have none. */
  readonly overrides?: readonly OverrideApplication[];
  readonly params_digest: string | null;
  readonly precedents: readonly Precedent[];
}

export interface InputSource {
  /** A top-level key of the context, `context` for all of it, `facts` or `system`. */
  readonly source: string;
  /** Older records have none. */
  readonly source_type?: SourceType;
  readonly keys: readonly string[];
  /** SHA-256 of the values, to detect changes. */
  readonly digest: string;
}

/**
 * Where a value comes from: the state of the session (also what the store knows about it), the params of a tool call, its
 * resources, data that was fetched, or another part of the context.
 */
export type SourceType = "session_state" | "params" | "resource" | "external" | "context";

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
  /** The policy or override that it belongs to. Older records, and other types, have none. */
  readonly policy?: string;
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
  /** Older records have none. */
  readonly description?: string | null;
  /** The decision that declares it; absent: the one that was made. */
  readonly decision?: string;
  /** The denials it flipped. */
  readonly overrides: readonly string[];
  readonly condition: string | null;
  readonly action: "allow" | "allow_with_warning" | "modify_params";
  readonly reason: string;
  readonly expires_at: string | null;
}
