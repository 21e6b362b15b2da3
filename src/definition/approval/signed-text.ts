import { canonicalJson } from "../../digest/canonical-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import type { ApprovalLock, LockEntry, LockHead } from "../../model/approval.js";
import type { JsonObject } from "../../model/json.js";

type LockId = Pick<ApprovalLock, "lock_id">;

/** What is signed of an entry of a lock; the definition and the environment stand in it by their hashes. */
export function entryText({ lock_id }: LockId, entry: Omit<LockEntry, "signature">): string {
  const { serial, decision_id, type, status, definition_hash, environment_hash, at, key } = entry;
  const said = { serial, decision_id, type, status, definition_hash, environment_hash, at, key };
  const signed = { lock_id, ...said };
  return textOf("agent-33 approval entry, format 1", signed);
}

/** What is signed of the lock as a whole. */
export function headText(
  { lock_id }: LockId,
  { serial, entries_hash, key }: Omit<LockHead, "signature">,
): string {
  return textOf("agent-33 approval head, format 1", { lock_id, serial, entries_hash, key });
}

/** What is signed for one purpose must not pass for something else. */
const textOf = (purpose: string, signed: JsonObject): string => `${purpose}\n${canonicalJson(signed)}`;

/** Stands for exactly these entries. */
export function entriesHash(entries: readonly LockEntry[]): string {
  const bySerial = entries.toSorted((a, b) => a.serial - b.serial);
  return sha256Hex(canonicalJson(bySerial.map(({ signature }) => signature)));
}
