import type { DecisionType } from "./definition.js";
import type { JsonObject } from "./json.js";

/** `decisions.lock`: what of a directory of definitions was approved, and with which keys. */
export interface ApprovalLock {
  readonly format: 1;
  /** Made at random with the lock and signed with all of it, so that nothing of another lock fits. */
  readonly lock_id: string;
  readonly head: LockHead;
  /** One for each decision. */
  readonly entries: readonly LockEntry[];
}

/** Signed over all entries, so that none can be dropped unseen. */
export interface LockHead {
  /** That of the newest entry. */
  readonly serial: number;
  readonly entries_hash: string;
  readonly key: string;
  readonly signature: string;
}

/** The newest that was said of a decision. */
export interface LockEntry {
  /** Grows over the whole lock. */
  readonly serial: number;
  readonly decision_id: string;
  readonly type: DecisionType;
  readonly status: "approved" | "retired";
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly at: string;
  /** The name of the key that it is signed with. */
  readonly key: string;
  readonly signature: string;
  /** As it was approved, proven by its hash; absent where it was retired. */
  readonly definition?: JsonObject;
  readonly environment?: JsonObject;
}

/** `unknown`: it was never approved, or nobody can tell. */
export type ApprovalState = "approved" | "changed" | "retired" | "unknown";

/** What a lock says of a decision as it stands there now. */
export interface Approval {
  readonly state: ApprovalState;
  readonly serial?: number;
  readonly key?: string;
  readonly at?: string;
}
