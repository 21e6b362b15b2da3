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
  /** Public keys: `ed25519:…` or PEM files. */
  readonly trustedKeys: readonly string[];
  /** Where the newest lock that was seen is remembered; undefined: nowhere. */
  readonly shelf: Shelf | undefined;
}

export interface ApprovedDefinitions {
  readonly definitions: OpenedDefinitions;
  /** Remembers the lock, so that no older one can take its place; once is enough. */
  readonly markLockSeen: () => Promise<void>;
}

/** Those definitions that are approved. Throws where the lock of the directory proves nothing. */
export async function openApprovedDefinitions(
  definitions: OpenedDefinitions,
  options: ApprovalOptions,
): Promise<ApprovedDefinitions> {
  const { directory, shelf } = options;
  const lock = await readVerifiedLock(options);
  const noteLock = (): Promise<void> =>
    shelf === undefined ? Promise.resolve() : recordSeenLock(shelf, lock);
  let remembered: Promise<void> | undefined;
  return {
    definitions: approvedLibrary(definitions, lock, approvalLockPath(directory)),
    markLockSeen: () => (remembered ??= noteLock()),
  };
}

/** The lock of a directory, signed with trusted keys throughout, and no older than one that was seen. */
export async function readVerifiedLock({
  directory,
  trustedKeys,
  shelf,
}: ApprovalOptions): Promise<ApprovalLock> {
  if (trustedKeys.length === 0) {
    throw new DecisionError("not_approved", "no key is trusted, so nothing counts as approved", {
      hint: "trust one with `agent-33 decision config set trusted_keys ed25519:…`; `agent-33 help approval` tells more",
    });
  }
  const verify = signatureVerifier(trustedKeys);
  const lock = readApprovalLock(directory);
  if (lock === undefined) {
    throw new DecisionError(
      "not_approved",
      `nothing is approved: there is no \`${approvalLockPath(directory)}\``,
      {
        hint: "approve definitions with `agent-33 decision approve ID --key FILE`",
      },
    );
  }
  verifyLock(lock, approvalLockPath(directory), verify);
  if (shelf !== undefined) assertNotRolledBack(lock, await readLastSeenLock(shelf, lock));
  return lock;
}
