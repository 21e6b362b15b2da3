import { entryOf } from "../definition/approval/approval-of.js";
import type { Change } from "../definition/approval/changes.js";
import { changesBetween } from "../definition/approval/changes.js";
import type { Statement } from "../definition/approval/revise-lock.js";
import { reviseLock } from "../definition/approval/revise-lock.js";
import { verifyLock } from "../definition/approval/verify-lock.js";
import type { ApprovalLock, ApprovalState, LockEntry } from "../model/approval.js";
import type { Shelf } from "../model/store.js";
import type { SeenLock } from "../record/seen-lock.js";
import { noteSigned, seenLock } from "../record/seen-lock.js";
import { changeLock, lockPath, refuseMissingDirectory } from "./lock-file.js";
import type { PrivateKey } from "./signing.js";
import { newLockId } from "./signing.js";
import { oneLineKey, refuseUntrustedKey, verifierOf } from "./trusted-keys.js";

export interface SigningOptions {
  readonly directory: string;
  readonly key: PrivateKey;
  readonly trustedKeys: readonly string[];
  /** Where the newest locks are remembered. */
  readonly shelf: Shelf;
  readonly at: string;
}

/** What came of a decision that was to be approved or retired. */
export interface Signing {
  readonly decision_id: string;
  readonly status: LockEntry["status"];
  /** What it was before. */
  readonly was: ApprovalState;
  readonly serial: number;
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly key: string;
  readonly at: string;
  /** Since it was approved last; without a last time there are none. */
  readonly changes: readonly Change[];
  readonly environment_changes: readonly Change[];
}

/** A lock that is verified, and what was seen of it before; undefined where there is none. */
export interface Found {
  readonly lock: ApprovalLock | undefined;
  readonly seen: SeenLock | undefined;
}

/** What is to be said of a decision. */
export interface Planned {
  readonly statement: Statement;
  readonly before: LockEntry | undefined;
  readonly was: ApprovalState;
  /** Nothing need be signed. */
  readonly stays: boolean;
}

/** Signs what is planned for the lock of a directory, and remembers that lock. */
export async function signLock(
  { directory, key, trustedKeys, shelf }: SigningOptions,
  plan: (found: Found) => readonly Planned[],
): Promise<readonly Signing[]> {
  refuseUntrustedKey(key.publicKey, trustedKeys);
  const verify = verifierOf([...trustedKeys, oneLineKey(key.publicKey)]);
  refuseMissingDirectory(directory);
  let signings: readonly Signing[] = [];
  let signed: ApprovalLock | undefined;
  await changeLock(directory, async (lock) => {
    if (lock !== undefined) verifyLock(lock, lockPath(directory), verify);
    const seen = lock && (await seenLock(shelf, lock));
    const planned = plan({ lock, seen });
    const statements = planned.filter(({ stays }) => !stays).map(({ statement }) => statement);
    const signer = { key: key.name, sign: (text: string) => key.sign(text) };
    const revising = { signer, above: seen?.serial ?? 0, newLockId };
    signed = statements.length === 0 ? lock : reviseLock(lock, statements, revising);
    signings = planned.flatMap((each) => signingOf(each, signed));
    return statements.length === 0 ? undefined : signed;
  });
  if (signed !== undefined) await noteSigned(shelf, signed);
  return signings;
}

function signingOf({ statement, before, was }: Planned, lock: ApprovalLock | undefined): readonly Signing[] {
  const entry = lock && entryOf(lock, statement.decision_id);
  if (entry === undefined) return [];
  const { decision_id, status, serial, definition_hash, environment_hash, key, at } = entry;
  const isCompared = status === "approved" && before?.status === "approved";
  return [
    {
      decision_id,
      status,
      was,
      serial,
      definition_hash,
      environment_hash,
      key,
      at,
      changes: isCompared ? changesBetween(before.definition, entry.definition) : [],
      environment_changes: isCompared ? changesBetween(before.environment, entry.environment) : [],
    },
  ];
}
