import { approvedLibrary } from "../definition/approval/approved-library.js";
import { verifyLock } from "../definition/approval/lock.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock } from "../model/approval.js";
import type { Shelf } from "../model/store.js";
import { recordSeenLock, assertNotRolledBack, readLastSeenLock } from "../record/last-seen-lock.js";
import type { OpenedDefinitions } from "./definitions.js";
import { approvalLockPath, readApprovalLock } from "./approval-lock-file.js";
import { signatureVerifier } from "./approval-keys.js";

export interface ApprovalOptions {
  readonly directory: string;
  /** Public keys: `ed25519:…` or paths of PEM files. */
  readonly trustedKeys: readonly string[];
  /** Stores the newest lock that was seen, to detect a rollback; undefined turns that check off. */
  readonly shelf: Shelf | undefined;
}

export interface ApprovedDefinitions {
  readonly definitions: OpenedDefinitions;
  /** Stores the lock as seen, so that an older one is refused later. Calls after the first do nothing. */
  readonly markLockSeen: () => Promise<void>;
}

/** Restricts definitions to the approved ones. Throws if the directory has no valid lock. */
export async function openApprovedDefinitions(
  definitions: OpenedDefinitions,
  options: ApprovalOptions,
): Promise<ApprovedDefinitions> {
  const { directory, shelf } = options;
  const lock = await readVerifiedLock(options);
  const noteLock = (): Promise<void> =>
    shelf === undefined ? Promise.resolve() : recordSeenLock(shelf, lock);
  let marked: Promise<void> | undefined;
  return {
    definitions: approvedLibrary(definitions, lock, approvalLockPath(directory)),
    markLockSeen: () => (marked ??= noteLock()),
  };
}

/** Reads the lock of a directory. Throws unless trusted keys signed all of it and no newer lock was seen before. */
export async function readVerifiedLock({
  directory,
  trustedKeys,
  shelf,
}: ApprovalOptions): Promise<ApprovalLock> {
  if (trustedKeys.length === 0) {
    throw new DecisionError("not_approved", "no trusted key is configured, so no definition is approved", {
      hint: "trust a key with `agent-33 decision config set trusted_keys ed25519:…`; see `agent-33 help approval`",
    });
  }
  const verify = signatureVerifier(trustedKeys);
  const lock = readApprovalLock(directory);
  if (lock === undefined) {
    throw new DecisionError(
      "not_approved",
      `no definition is approved: there is no \`${approvalLockPath(directory)}\``,
      {
        hint: "approve definitions with `agent-33 decision approve ID --key FILE`",
      },
    );
  }
  verifyLock(lock, approvalLockPath(directory), verify);
  if (shelf !== undefined) assertNotRolledBack(lock, await readLastSeenLock(shelf, lock));
  return lock;
}
