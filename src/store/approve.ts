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

/** Signs definitions as they are. What the same key has approved already stays as it is. */
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
  /** Whether the lock may be older than one that was seen, or another one. */
  readonly allowRollback: boolean;
}

export interface ApproveAllResult {
  readonly signings: readonly Signing[];
  /** What was gone back over, in words. */
  readonly rolledBackOver: string | undefined;
  /** How many are defined and stay retired. */
  readonly stillRetired: number;
}

/** The same of all that is defined; what was retired on purpose stays so. Afterwards all is signed by this key. */
export async function approveAll(
  loaded: readonly LoadedDefinition[],
  options: ApproveAllOptions,
): Promise<ApproveAllResult> {
  let wentBack: string | undefined;
  let retired: readonly LoadedDefinition[] = [];
  const signings = await signStatements(options, (found) => {
    if (!options.allowRollback) assertCurrent(found);
    wentBack = found.lock && describeRollback(found.lock, found.seen);
    retired = loaded.filter(({ definition }) => isRetiredIn(definition.id, found));
    const living = loaded.filter((each) => !retired.includes(each));
    const planned = living.map((each) => planApproval(each, found, options));
    const carried = planRestatements(living, found, options);
    if (loaded.length === 0 && carried.every(({ stays }) => stays)) {
      throw new DecisionError("usage", "no decision is defined here");
    }
    // Nothing of an older lock counts by the way: all is signed anew.
    if (wentBack !== undefined) return [...planned, ...carried].map((each) => ({ ...each, stays: false }));
    return [...planned, ...carried.filter(({ stays }) => !stays)];
  });
  return { signings, rolledBackOver: wentBack, stillRetired: retired.length };
}

/** Signs that these are not to be decided by any more, whether their files are still there or not. */
export function retire(ids: readonly string[], options: SigningOptions): Promise<readonly Signing[]> {
  const { key, at } = options;
  return signStatements(options, (found) => {
    assertCurrent(found);
    return ids.map((id) => {
      const before = found.lock && findEntry(found.lock, id);
      if (before === undefined) throw neverApprovedError(id);
      const stays = before.status === "retired" && before.key === key.fingerprint;
      return { statement: retirementStatement(before, at), before, was: before.status, stays };
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
  const stays = was === "approved" && before?.key === key.fingerprint;
  return { statement: approvalStatement(loaded, at), before, was, stays };
}

/** What is retired, or approved and not there, is said again as it is, so that no other key need be trusted. */
function planRestatements(
  living: readonly LoadedDefinition[],
  { lock }: CurrentLock,
  { key, at }: Pick<SigningOptions, "key" | "at">,
): readonly PlannedStatement[] {
  const ids = new Set(living.map(({ definition }) => definition.id));
  const others = (lock?.entries ?? []).filter(({ decision_id }) => !ids.has(decision_id));
  return others.map((before) => {
    const stays = before.key === key.fingerprint;
    return { statement: resignedStatement(before, at), before, was: before.status, stays };
  });
}

function neverApprovedError(id: string): DecisionError {
  return new DecisionError("usage", `\`${id}\` was never approved, so it cannot be retired`, {
    hint: "`agent-33 decision list` shows what is approved",
  });
}

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
export interface CurrentLock {
  readonly lock: ApprovalLock | undefined;
  readonly seen: LastSeenLock | undefined;
}

/** What is to be said of a decision. */
export interface PlannedStatement {
  readonly statement: Statement;
  readonly before: LockEntry | undefined;
  readonly was: ApprovalState;
  /** Nothing need be signed. */
  readonly stays: boolean;
}

/** Signs what is planned for the lock of a directory, and remembers that lock. */
export async function signStatements(
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
    const statements = planned.filter(({ stays }) => !stays).map(({ statement }) => statement);
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
