import { approvalOf, entryOf } from "../definition/approval/approval-of.js";
import type { Change } from "../definition/approval/changes.js";
import { changesBetween } from "../definition/approval/changes.js";
import type { Statement } from "../definition/approval/revise-lock.js";
import { approvalStatement, retirementStatement, reviseLock } from "../definition/approval/revise-lock.js";
import { verifyLock } from "../definition/approval/verify-lock.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock, ApprovalState, LockEntry } from "../model/approval.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Shelf } from "../model/store.js";
import type { SeenLock } from "../record/seen-lock.js";
import { isRolledBack, noteSigned, refuseRolledBack, seenLock } from "../record/seen-lock.js";
import { changeLock, lockPath, refuseMissingDirectory } from "./lock-file.js";
import type { PrivateKey } from "./signing.js";
import { newLockId } from "./signing.js";
import { oneLineKey, verifierOf } from "./trusted-keys.js";

export interface SigningOptions {
  readonly directory: string;
  readonly key: PrivateKey;
  readonly trustedKeys: readonly string[];
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

/** Signs definitions as they are. What the same key has approved already stays as it is. */
export function approve(
  loaded: readonly LoadedDefinition[],
  { all, ...options }: SigningOptions & { readonly all: boolean },
): Promise<readonly Signing[]> {
  const { key, at } = options;
  return sign(options, (lock, seen) => {
    const isOld = all && lock !== undefined && isRolledBack(lock, seen);
    // Where all are approved on purpose, nothing of an older lock is approved by the way.
    if (lock !== undefined && !all) refuseRolledBack(lock, seen);
    return loaded.map((each) => {
      const before = lock && entryOf(lock, each.definition.id);
      const was = stateOf(lock, each);
      const stays = was === "approved" && before?.key === key.name && !isOld;
      return { statement: approvalStatement(each, at), before, was, stays };
    });
  });
}

/** Signs that these are not to be decided by any more, whether their files are still there or not. */
export function retire(ids: readonly string[], options: SigningOptions): Promise<readonly Signing[]> {
  const { key, at } = options;
  return sign(options, (lock, seen) => {
    if (lock !== undefined) refuseRolledBack(lock, seen);
    return ids.map((id) => {
      const before = lock && entryOf(lock, id);
      if (before === undefined) throw neverApproved(id);
      const stays = before.status === "retired" && before.key === key.name;
      const was = before.status;
      return { statement: retirementStatement(before, at), before, was, stays };
    });
  });
}

interface Planned {
  readonly statement: Statement;
  readonly before: LockEntry | undefined;
  readonly was: ApprovalState;
  /** Nothing need be signed. */
  readonly stays: boolean;
}

async function sign(
  { directory, key, trustedKeys, shelf }: SigningOptions,
  plan: (lock: ApprovalLock | undefined, seen: SeenLock | undefined) => readonly Planned[],
): Promise<readonly Signing[]> {
  const verify = verifierOf([...trustedKeys, oneLineKey(key.publicKey)]);
  refuseMissingDirectory(directory);
  let signings: readonly Signing[] = [];
  let signed: ApprovalLock | undefined;
  await changeLock(directory, async (lock) => {
    if (lock !== undefined) verifyLock(lock, lockPath(directory), verify);
    const seen = lock && (await seenLock(shelf, lock));
    const planned = plan(lock, seen);
    const statements = planned.filter(({ stays }) => !stays).map(({ statement }) => statement);
    const signer = { key: key.name, sign: (text: string) => key.sign(text) };
    const revising = { signer, above: seen?.serial ?? 0, newLockId };
    const revised = statements.length === 0 ? lock : reviseLock(lock, statements, revising);
    signings = planned.flatMap((each) => signingOf(each, revised));
    signed = revised;
    return statements.length === 0 ? undefined : revised;
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

const stateOf = (lock: ApprovalLock | undefined, loaded: LoadedDefinition): ApprovalState =>
  lock === undefined ? "unknown" : approvalOf(lock, loaded.definition.id, loaded).state;

function neverApproved(id: string): DecisionError {
  return new DecisionError("usage", `\`${id}\` was never approved, so it cannot be retired`, {
    hint: "`agent-33 decision list` shows what is approved",
  });
}
