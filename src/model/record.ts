import type { JsonObject } from "./json.js";
import type { Lineage } from "./lineage.js";
import type { Result, RoutingResult } from "./result.js";
import type { Count } from "./store.js";

/** One line of the log. */
export type LogRecord = DecisionRecord | ToolResultRecord | NoteRecord;

export type RecordKind = LogRecord["kind"];

/** What the ledger adds to every entry. */
interface Chained {
  /** How many entries were taken together, on the first of them: a crash leaves all or none. */
  readonly together?: number;
  /** Counts from 1 without gaps. */
  readonly seq: number;
  /** The hash of the line before. */
  readonly prev_hash: string;
  /** SHA-256 of the line's bytes without this field. */
  readonly hash: string;
}

/** A result as it is remembered, with all that is needed to explain it and to reach it again. */
export type DecisionRecord = Result & Remembered;

/** That of a decision which answers with where to go. */
export type RoutingRecord = RoutingResult & Remembered;

interface Remembered extends Provenance, Chained {
  readonly kind: "decision";
  readonly record_id: string;
  /** As it was given, with the masked values masked; absent where inputs are not logged. */
  readonly context?: JsonObject;
  readonly facts: JsonObject;
  /** What it rested on; older records of some types have none. */
  readonly lineage?: Lineage;
  /** Where the cache was asked: under which key. */
  readonly cache_key?: string;
  /** The record whose answer was taken from the cache. */
  readonly cached_from?: string;
  /** What the caller had to say beside it; it has no part in the decision. */
  readonly feedback?: JsonObject;
  /** The counters that grew with it. */
  readonly counted?: readonly Count[];
}

/** How a call went that was allowed. */
export interface ToolResultRecord extends Provenance, Chained {
  readonly kind: "tool_result";
  readonly record_id: string;
  readonly timestamp: string;
  readonly tool: string;
  readonly ok: boolean;
  /** The decisions that allowed the call; none where it was never asked about. */
  readonly decision_records: readonly string[];
  readonly counted?: readonly Count[];
}

/** On whose behalf a decision was made. */
export interface Provenance {
  readonly workflow_id?: string;
  readonly stage_id?: string;
  readonly session_id?: string;
  readonly correlation_id?: string;
  readonly parent_record_id?: string;
  /** Shared by the records of all decisions that were asked about one call. */
  readonly check_id?: string;
}

/** What happened to the log itself. */
export interface NoteRecord extends Chained {
  readonly kind: "note";
  readonly record_id: string;
  readonly timestamp: string;
  readonly note: "tail_repaired" | "tail_lost" | "pruned";
  readonly details: JsonObject;
}

/** Who asks, as a signed token says; in facts and in the `system` of expressions it is called `authenticated_caller`. */
export interface AuthenticatedCaller {
  /** On whose behalf it is asked. */
  readonly subject: string;
  readonly issuer: string;
  readonly client_id?: string;
  /** The only organisation that may be asked for; absent: any. */
  readonly org_id?: string;
  readonly scopes: readonly string[];
  /** Whether somebody else asks for the subject. */
  readonly delegated: boolean;
  /** Who asks for the subject: the one that asks now first, then whom it acts for, and so on (RFC 8693, `act`). */
  readonly actors: readonly Actor[];
}

export interface Actor {
  readonly subject: string;
  readonly issuer?: string;
  readonly client_id?: string;
}
