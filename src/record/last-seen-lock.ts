import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock } from "../model/approval.js";
import type { Json } from "../model/json.js";
import type { Shelf } from "../model/store.js";

/** The newest state of a lock that decisions were made by. */
export interface LastSeenLock {
  readonly serial: number;
  /** The SHA-256 of its head's signature. */
  readonly head: string;
}

/** Locks are told apart by their ids, wherever they lie. */
export async function readLastSeenLock(
  shelf: Shelf,
  { lock_id }: Pick<ApprovalLock, "lock_id">,
): Promise<LastSeenLock | undefined> {
  return parseLastSeenLock((await shelf.get(lock_id))?.value);
}

/** In words, how a lock is older than what was seen of it, or another one with the same serial; else undefined. */
export function describeRollback({ head }: ApprovalLock, seen: LastSeenLock | undefined): string | undefined {
  if (seen === undefined || head.serial > seen.serial) return undefined;
  if (head.serial < seen.serial) return `was rolled back from serial ${seen.serial} to ${head.serial}`;
  if (headDigest(head) === seen.head) return undefined;
  return `is another one than was seen before with serial ${seen.serial}`;
}

export function assertNotRolledBack(lock: ApprovalLock, seen: LastSeenLock | undefined): void {
  const what = describeRollback(lock, seen);
  if (what === undefined) return;
  throw new DecisionError("not_approved", `the lock of the definitions ${what}`, {
    hint: "put the newer lock back; if this one is meant, sign all anew over it with `agent-33 decision approve --all --yes --key FILE`",
    details: { seen: seen?.serial, serial: lock.head.serial },
  });
}

/** Remembers a lock; an older one never takes the place of a newer. */
export async function recordSeenLock(shelf: Shelf, lock: ApprovalLock): Promise<void> {
  const { serial } = lock.head;
  const key = lock.lock_id;
  const now = { serial, head: headDigest(lock.head) };
  const known = await readLastSeenLock(shelf, lock);
  if (known?.serial === now.serial && known.head === now.head) return;
  await shelf.update(key, (entry) => {
    const seen = parseLastSeenLock(entry?.value);
    assertNotRolledBack(lock, seen);
    return seen?.serial === serial ? undefined : { key, value: now };
  });
}

/** Remembers a lock that was just signed here; who signed after it may have been quicker. */
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

/** What is there but cannot be understood was not written by us: nothing is taken for new because of it. */
function parseLastSeenLock(value: Json | undefined): LastSeenLock | undefined {
  if (value === undefined) return undefined;
  const { serial, head } = (value ?? {}) as { readonly serial?: unknown; readonly head?: unknown };
  if (typeof serial === "number" && typeof head === "string") return { serial, head };
  throw new DecisionError("store_failed", "what the store remembers of approvals cannot be understood", {
    hint: "`agent-33 decision verify` looks at the rest of the store",
  });
}
