import type { Status, WorkMode } from "./definition.js";
import type { Json } from "./json.js";

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
