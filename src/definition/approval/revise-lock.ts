import type { ApprovalLock, LockEntry } from "../../model/approval.js";
import type { LoadedDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import { entriesHash, entryText, headText } from "./signed-text.js";

/** A private key. */
export interface Signer {
  /** Its name. */
  readonly key: string;
  sign(text: string): string;
}

/** What is said of a decision, before it has a serial and a signature. */
export type Statement = Omit<LockEntry, "serial" | "key" | "signature">;

export function approvalStatement(loaded: LoadedDefinition, at: string): Statement {
  const { definition, definition_hash, environment, environment_hash } = loaded;
  return {
    decision_id: definition.id,
    type: definition.type,
    status: "approved",
    definition_hash,
    environment_hash,
    at,
    definition: definition as unknown as JsonObject,
    environment,
  };
}

export function retirementStatement(entry: LockEntry, at: string): Statement {
  const { decision_id, type, definition_hash, environment_hash } = entry;
  return { decision_id, type, status: "retired", definition_hash, environment_hash, at };
}

/** The same again, to be signed with another key. */
export function restatement(entry: LockEntry, at: string): Statement {
  const { definition, environment } = entry;
  return {
    ...retirementStatement(entry, at),
    status: entry.status,
    ...(definition !== undefined && { definition }),
    ...(environment !== undefined && { environment }),
  };
}

export interface Revising {
  readonly signer: Signer;
  /** The highest serial that is known beside the lock's own. */
  readonly above: number;
  /** What a new lock is told apart by, at random. */
  readonly newLockId: () => string;
}

/** The lock with more said; of each decision only the newest stays. Serials go on from the highest known. */
export function reviseLock(
  lock: ApprovalLock | undefined,
  statements: readonly Statement[],
  { signer, above, newLockId }: Revising,
): ApprovalLock {
  const of = { format: 1, lock_id: lock?.lock_id ?? newLockId() } as const;
  const first = Math.max(above, lock?.head.serial ?? 0) + 1;
  const signed = (statement: Statement, serial: number): LockEntry =>
    signedEntry(statement, serial, { signer, of });
  const added = statements.map((statement, index) => signed(statement, first + index));
  const superseded = new Set(added.map(({ decision_id }) => decision_id));
  const kept = (lock?.entries ?? []).filter(({ decision_id }) => !superseded.has(decision_id));
  const entries = [...kept, ...added].sort((a, b) => (a.decision_id < b.decision_id ? -1 : 1));
  const { key } = signer;
  const serial = Math.max(...entries.map((entry) => entry.serial));
  const head = { serial, entries_hash: entriesHash(entries), key };
  return { ...of, head: { ...head, signature: signer.sign(headText(of, head)) }, entries };
}

function signedEntry(
  statement: Statement,
  serial: number,
  { signer, of }: { readonly signer: Signer; readonly of: Pick<ApprovalLock, "lock_id"> },
): LockEntry {
  const { definition, environment, ...rest } = statement;
  const entry = { serial, ...rest, key: signer.key };
  return {
    ...entry,
    signature: signer.sign(entryText(of, entry)),
    ...(definition !== undefined && { definition }),
    ...(environment !== undefined && { environment }),
  };
}

/** As it is written: one field a line, so that a difference reads well. */
export const lockText = (lock: ApprovalLock): string => `${JSON.stringify(lock, null, 2)}\n`;
