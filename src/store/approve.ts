import { updateApprovalLock, approvalLockPath, assertDirectoryExists } from "./approval-lock-file.js";
import type { PrivateKey } from "./signing.js";
import { newLockId } from "./signing.js";
import { formatPublicKey, assertTrustedKey, signatureVerifier } from "./approval-keys.js";
import { approvalOf, findEntry } from "../definition/approval/approved-library.js";
import type { Change } from "../definition/approval/changes.js";
import { changesBetween } from "../definition/approval/changes.js";
import type { Statement } from "../definition/approval/lock.js";
import {
  approvalStatement,
  resignedStatement,
  retirementStatement,
  reviseLock,
  verifyLock,
} from "../definition/approval/lock.js";
import { DecisionError } from "../errors.js";
import type { ApprovalState, ApprovalLock, LockEntry } from "../model/approval.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Shelf } from "../model/store.js";
import type { LastSeenLock } from "../record/last-seen-lock.js";
import {
  assertNotRolledBack,
  describeRollback,
  recordSignedLock,
  readLastSeenLock,
} from "../record/last-seen-lock.js";

/** Approves definitions by signing them. A definition that the same key has already approved is not signed again. */
export function approve(
  loaded: readonly LoadedDefinition[],
  options: SigningOptions,
): Promise<readonly Signing[]> {
  return signStatements(options, (found) => {
    assertCurrent(found);
    return loaded.map((each) => planApproval(each, found, options));
  });
}

export interface ApproveAllOptions extends SigningOptions {
  /** Accepts a lock that is older than one seen before, or a different one. */
  readonly allowRollback: boolean;
}

export interface ApproveAllResult {
  readonly signings: readonly Signing[];
  /** Describes the rollback that was accepted, if there was one. */
  readonly rolledBackOver: string | undefined;
  /** The number of definitions that stay retired. */
  readonly stillRetired: number;
}

/**
 * Approves all definitions and signs all other entries again, so that this key has signed everything. Retired ones
 * stay retired.
 */
export async function approveAll(
  loaded: readonly LoadedDefinition[],
  options: ApproveAllOptions,
): Promise<ApproveAllResult> {
  let rolledBackOver: string | undefined;
  let retired: readonly LoadedDefinition[] = [];
  const signings = await signStatements(options, (found) => {
    if (!options.allowRollback) assertCurrent(found);
    rolledBackOver = found.lock && describeRollback(found.lock, found.seen);
    retired = loaded.filter(({ definition }) => isRetiredIn(definition.id, found));
    const active = loaded.filter((each) => !retired.includes(each));
    const approvals = active.map((each) => planApproval(each, found, options));
    const restatements = planRestatements(active, found, options);
    if (loaded.length === 0 && restatements.every(({ isUnchanged }) => isUnchanged)) {
      throw new DecisionError("usage", `there are no definitions in \`${options.directory}\``);
    }
    // A signature of an older lock must not become valid again, so everything is signed again.
    if (rolledBackOver !== undefined)
      return [...approvals, ...restatements].map((each) => ({ ...each, isUnchanged: false }));
    return [...approvals, ...restatements.filter(({ isUnchanged }) => !isUnchanged)];
  });
  return { signings, rolledBackOver, stillRetired: retired.length };
}

/** Retires decisions by signing that they must not be used any more. Their files need not exist. */
export function retire(ids: readonly string[], options: SigningOptions): Promise<readonly Signing[]> {
  const { key, at } = options;
  return signStatements(options, (found) => {
    assertCurrent(found);
    return ids.map((id) => {
      const before = found.lock && findEntry(found.lock, id);
      if (before === undefined) throw neverApprovedError(id);
      const isUnchanged = before.status === "retired" && before.key === key.fingerprint;
      return { statement: retirementStatement(before, at), before, was: before.status, isUnchanged };
    });
  });
}

const isRetiredIn = (id: string, { lock }: CurrentLock): boolean =>
  lock !== undefined && findEntry(lock, id)?.status === "retired";

function assertCurrent({ lock, seen }: CurrentLock): void {
  if (lock !== undefined) assertNotRolledBack(lock, seen);
}

function planApproval(
  loaded: LoadedDefinition,
  { lock }: CurrentLock,
  { key, at }: Pick<SigningOptions, "key" | "at">,
): PlannedStatement {
  const before = lock && findEntry(lock, loaded.definition.id);
  const was: ApprovalState = lock ? approvalOf(lock, loaded.definition.id, loaded).state : "unknown";
  const isUnchanged = was === "approved" && before?.key === key.fingerprint;
  return { statement: approvalStatement(loaded, at), before, was, isUnchanged };
}

/** Repeats the statements on retired and missing decisions with this key, so that no other key needs to be trusted. */
function planRestatements(
  active: readonly LoadedDefinition[],
  { lock }: CurrentLock,
  { key, at }: Pick<SigningOptions, "key" | "at">,
): readonly PlannedStatement[] {
  const ids = new Set(active.map(({ definition }) => definition.id));
  const others = (lock?.entries ?? []).filter(({ decision_id }) => !ids.has(decision_id));
  return others.map((before) => {
    const isUnchanged = before.key === key.fingerprint;
    return { statement: resignedStatement(before, at), before, was: before.status, isUnchanged };
  });
}

function neverApprovedError(id: string): DecisionError {
  return new DecisionError("usage", `\`${id}\` was never approved, so it cannot be retired`, {
    hint: "run `agent-33 decision list` to see the approved decisions",
  });
}

export interface SigningOptions {
  readonly directory: string;
  readonly key: PrivateKey;
  readonly trustedKeys: readonly string[];
  /** Stores the newest lock that was seen, to detect a rollback. */
  readonly shelf: Shelf;
  /** The timestamp of the signatures. */
  readonly at: string;
}

/** The result of approving or retiring a decision. */
export interface Signing {
  readonly decision_id: string;
  readonly status: LockEntry["status"];
  /** The state before. */
  readonly was: ApprovalState;
  readonly serial: number;
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly key: string;
  readonly at: string;
  /** The changes since the last approval; empty without one. */
  readonly changes: readonly Change[];
  readonly environment_changes: readonly Change[];
}

/** The verified lock of a directory, and the newest one seen before. */
interface CurrentLock {
  readonly lock: ApprovalLock | undefined;
  readonly seen: LastSeenLock | undefined;
}

/** A statement on a decision that may have to be signed. */
interface PlannedStatement {
  readonly statement: Statement;
  readonly before: LockEntry | undefined;
  readonly was: ApprovalState;
  /** True if the lock already contains it, signed with this key. */
  readonly isUnchanged: boolean;
}

/**
 * Signs the planned statements and writes the lock. The shelf is updated after the lock is on the disk: if a crash comes
 * in between, the next reader records the lock.
 */
async function signStatements(
  { directory, key, trustedKeys, shelf }: SigningOptions,
  plan: (found: CurrentLock) => readonly PlannedStatement[],
): Promise<readonly Signing[]> {
  assertTrustedKey(key.publicKey, trustedKeys);
  const verify = signatureVerifier([...trustedKeys, formatPublicKey(key.publicKey)]);
  assertDirectoryExists(directory);
  let signings: readonly Signing[] = [];
  let signed: ApprovalLock | undefined;
  await updateApprovalLock(directory, async (lock) => {
    if (lock !== undefined) verifyLock(lock, approvalLockPath(directory), verify);
    const seen = lock && (await readLastSeenLock(shelf, lock));
    const planned = plan({ lock, seen });
    const statements = planned.filter(({ isUnchanged }) => !isUnchanged).map(({ statement }) => statement);
    const signer = { key: key.fingerprint, sign: (text: string) => key.sign(text) };
    const revising = { signer, above: seen?.serial ?? 0, newLockId };
    signed = statements.length === 0 ? lock : reviseLock(lock, statements, revising);
    signings = planned.flatMap((each) => toSignings(each, signed));
    return statements.length === 0 ? undefined : signed;
  });
  if (signed !== undefined) await recordSignedLock(shelf, signed);
  return signings;
}

function toSignings(
  { statement, before, was }: PlannedStatement,
  lock: ApprovalLock | undefined,
): readonly Signing[] {
  const entry = lock && findEntry(lock, statement.decision_id);
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
