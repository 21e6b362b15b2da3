import type { Assessment } from "./assessment.js";
import type { Json, JsonObject } from "./json.js";
import type { Lineage } from "./lineage.js";
import type { PolicyResult, Result, RoutingResult } from "./result.js";
import type { Count } from "./store.js";

/** One line of the log. */
export type LogRecord = DecisionRecord | ToolResultRecord | AssessmentRecord | NoteRecord;

export type RecordKind = LogRecord["kind"];

/** The fields that the ledger adds to every entry. */
interface Chained {
  /** On the first entry of a group: the number of entries that were appended together. A crash keeps all or none. */
  readonly together?: number;
  /** True if a checkpoint was written right after this entry. */
  readonly checkpoint?: true;
  /** Counts from 1 without gaps. */
  readonly seq: number;
  /** The hash of the line before. */
  readonly prev_hash: string;
  /** SHA-256 of the line's bytes without this field. */
  readonly hash: string;
}

/** A recorded result, with everything needed to explain and replay it. */
export type DecisionRecord = Result & Remembered;

/** The record of a routing decision. */
export type RoutingRecord = RoutingResult & Remembered;

/** The record of a policy decision about a tool call. */
export type PolicyRecord = PolicyResult & Remembered;

interface Remembered extends Provenance, Chained {
  readonly kind: "decision";
  readonly record_id: string;
  /** The context with masked values replaced; absent where inputs are not logged. */
  readonly context?: JsonObject;
  readonly facts: JsonObject;
  /** Older records of some types have none. */
  readonly lineage?: Lineage;
  /** The cache key; absent where the cache was not consulted. */
  readonly cache_key?: string;
  /** The record that the cached answer comes from. */
  readonly cached_from?: string;
  /** The SHA-256 of the answer that was cached with this record. */
  readonly answer_digest?: string;
  /** Supplied by the caller; it does not influence the decision. */
  readonly feedback?: JsonObject;
  /** The counters that this entry incremented. */
  readonly counted?: readonly Count[];
}

/** The reported result of a tool call. */
export interface ToolResultRecord extends Provenance, Chained {
  readonly kind: "tool_result";
  readonly record_id: string;
  readonly timestamp: string;
  readonly tool: string;
  readonly ok: boolean;
  /** The organisation whose session it belongs to; absent: none. */
  readonly org_id?: string;
  /** The decisions that allowed the call; empty where no check allowed it. */
  readonly decision_records: readonly string[];
  /** Whether it is the result of a call that a check allowed; other results are no evidence. Older records have none. */
  readonly linked?: boolean;
  /** SHA-256 of the canonical JSON of the params, with masked values replaced; absent where they are not known. */
  readonly params_digest?: string;
  /** What the call returned, with masked values replaced, where it was reported. */
  readonly value?: Json;
  readonly counted?: readonly Count[];
}

/** What an observer found in the newest decisions of a session. It does not influence any decision. */
export interface AssessmentRecord extends Assessment, Provenance, Chained {
  readonly kind: "assessment";
  readonly record_id: string;
  readonly timestamp: string;
  readonly session_id: string;
  /** The decision after which the observer ran. */
  readonly parent_record_id: string;
  /** The organisation whose session it is about; absent: none. */
  readonly org_id?: string;
  /** How many older deviations are not listed; absent: none. */
  readonly deviations_omitted?: number;
}

/** The workflow, session and records that a decision belongs to. */
export interface Provenance {
  readonly workflow_id?: string;
  readonly stage_id?: string;
  readonly session_id?: string;
  readonly correlation_id?: string;
  readonly parent_record_id?: string;
  /** Shared by all decisions about one tool call. */
  readonly check_id?: string;
}

/** A note about the log itself, such as a repair or a prune. */
export interface NoteRecord extends Chained {
  readonly kind: "note";
  readonly record_id: string;
  readonly timestamp: string;
  readonly note: "tail_repaired" | "tail_lost" | "pruned" | "counters_migrated" | "approvals_seen";
  readonly details: JsonObject;
}

/** The caller that a verified token names: `authenticated_caller` in facts and in `system`. */
export interface AuthenticatedCaller {
  /** The user or service that the request is made for. */
  readonly subject: string;
  readonly issuer: string;
  readonly client_id?: string;
  /** The only organisation that the caller may use; absent: any. */
  readonly org_id?: string;
  readonly scopes: readonly string[];
  /** Whether an actor makes the request for the subject. */
  readonly delegated: boolean;
  /** The chain of actors, the current one first (RFC 8693, `act`). */
  readonly actors: readonly Actor[];
  /** Whether an operator or a customer holds the session; absent where the token does not say. */
  readonly mode?: SessionMode;
}

export type SessionMode = "operator" | "customer";

export interface Actor {
  readonly subject: string;
  readonly issuer?: string;
  readonly client_id?: string;
}
