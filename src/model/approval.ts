import type { DecisionType } from "./definition.js";
import type { JsonObject } from "./json.js";

/** The approval lock (`decisions.lock`): which definitions of a directory are approved, and with which keys. */
export interface ApprovalLock {
  readonly format: 1;
  /** Random, and part of every signature, so that entries of another lock are not valid in this one. */
  readonly lock_id: string;
  readonly head: LockHead;
  /** One entry for each decision. */
  readonly entries: readonly LockEntry[];
}

/** The signature over all entries: no entry can be removed unnoticed. */
export interface LockHead {
  /** The serial of the newest entry. */
  readonly serial: number;
  readonly entries_hash: string;
  readonly key: string;
  readonly signature: string;
}

/** The newest statement about a decision. */
export interface LockEntry {
  /** Increases over the whole lock. */
  readonly serial: number;
  readonly decision_id: string;
  readonly type: DecisionType;
  readonly status: "approved" | "retired";
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly at: string;
  /** The name of the signing key. */
  readonly key: string;
  readonly signature: string;
  /** The approved definition, verified by its hash; absent for a retired decision. */
  readonly definition?: JsonObject;
  readonly environment?: JsonObject;
}

/** `unknown`: never approved, or not determinable. */
export type ApprovalState = "approved" | "changed" | "retired" | "unknown";

/** The approval of a decision in its current version. */
export interface Approval {
  readonly state: ApprovalState;
  readonly serial?: number;
  readonly key?: string;
  readonly at?: string;
}
