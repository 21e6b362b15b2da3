import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock } from "../model/approval.js";
import type { Json } from "../model/json.js";
import type { Shelf } from "../model/store.js";

/** The newest state of an approval lock that decisions were made with. */
export interface LastSeenLock {
  readonly serial: number;
  /** The SHA-256 of its head's signature. */
  readonly head: string;
}

/** Reads the last seen state of a lock, by the lock's id. */
export async function readLastSeenLock(
  shelf: Shelf,
  { lock_id }: Pick<ApprovalLock, "lock_id">,
): Promise<LastSeenLock | undefined> {
  return parseLastSeenLock((await shelf.get(lock_id))?.value);
}

/** Says how a lock is older than its last seen state, or differs with the same serial; undefined: neither. */
export function describeRollback({ head }: ApprovalLock, seen: LastSeenLock | undefined): string | undefined {
  if (seen === undefined || head.serial > seen.serial) return undefined;
  if (head.serial < seen.serial) return `was rolled back from serial ${seen.serial} to ${head.serial}`;
  if (headDigest(head) === seen.head) return undefined;
  return `differs from the one seen before with serial ${seen.serial}`;
}

export function assertNotRolledBack(lock: ApprovalLock, seen: LastSeenLock | undefined): void {
  const what = describeRollback(lock, seen);
  if (what === undefined) return;
  throw new DecisionError("not_approved", `the approval lock ${what}`, {
    hint: "restore the newer lock, or sign this one again with `agent-33 decision approve --all --yes --key FILE`",
    details: { seen: seen?.serial, serial: lock.head.serial },
  });
}

/** Records a lock as seen; throws if it is older than the last seen one. */
export async function recordSeenLock(shelf: Shelf, lock: ApprovalLock): Promise<void> {
  const { serial } = lock.head;
  const key = lock.lock_id;
  const now = { serial, head: headDigest(lock.head) };
  const last = await readLastSeenLock(shelf, lock);
  if (last?.serial === now.serial && last.head === now.head) return;
  await shelf.update(key, (entry) => {
    const seen = parseLastSeenLock(entry?.value);
    assertNotRolledBack(lock, seen);
    return seen?.serial === serial ? undefined : { key, value: now };
  });
}

/** Records a lock that was just signed here, unless a later signature was recorded first. */
export async function recordSignedLock(shelf: Shelf, lock: ApprovalLock): Promise<void> {
  const key = lock.lock_id;
  const { serial } = lock.head;
  await shelf.update(key, (entry) => {
    const seen = parseLastSeenLock(entry?.value);
    return seen !== undefined && seen.serial >= serial
      ? undefined
      : { key, value: { serial, head: headDigest(lock.head) } };
  });
}

const headDigest = ({ signature }: ApprovalLock["head"]): string => sha256Hex(signature);

/** Throws for a malformed entry: treating it as missing would accept an older lock. */
function parseLastSeenLock(value: Json | undefined): LastSeenLock | undefined {
  if (value === undefined) return undefined;
  const { serial, head } = (value ?? {}) as { readonly serial?: unknown; readonly head?: unknown };
  if (typeof serial === "number" && typeof head === "string") return { serial, head };
  throw new DecisionError("store_failed", "the stored state of the approval lock is malformed", {
    hint: "check the rest of the store with `agent-33 decision verify`",
  });
}
