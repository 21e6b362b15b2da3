import { DecisionError } from "../../errors.js";
import type { Approval, ApprovalLock, LockEntry } from "../../model/approval.js";
import type { LoadedDefinition } from "../../model/definition.js";

type Hashes = Pick<LoadedDefinition, "definition_hash" | "environment_hash">;

export const entryOf = ({ entries }: ApprovalLock, id: string): LockEntry | undefined =>
  entries.find(({ decision_id }) => decision_id === id);

/** What a verified lock says of a decision with these hashes. */
export function approvalOf(lock: ApprovalLock, id: string, hashes: Hashes): Approval {
  const entry = entryOf(lock, id);
  if (entry === undefined) return { state: "unknown" };
  const { serial, key, at, status } = entry;
  const said = { serial, key, at };
  if (status === "retired") return { state: "retired", ...said };
  return { state: changedParts(entry, hashes).length === 0 ? "approved" : "changed", ...said };
}

/** Refuses a decision that is not, as it stands there, what was approved last. */
export function refuseUnapproved(lock: ApprovalLock, id: string, hashes: Hashes): void {
  const entry = entryOf(lock, id);
  const { state } = approvalOf(lock, id, hashes);
  if (state === "approved") return;
  throw new DecisionError("not_approved", `\`${id}\` ${whyNot(entry, hashes)}`, {
    hint: hintFor(state, id),
    details: {
      decision_id: id,
      state,
      ...(entry !== undefined && { serial: entry.serial }),
      ...named(hashes),
    },
  });
}

const named = ({ definition_hash, environment_hash }: Hashes): Hashes => ({
  definition_hash,
  environment_hash,
});

function whyNot(entry: LockEntry | undefined, hashes: Hashes): string {
  if (entry === undefined) return "is not approved: it is not in the lock";
  if (entry.status === "retired") return `was retired with serial ${entry.serial}`;
  return `changed since it was approved with serial ${entry.serial}: ${changedParts(entry, hashes).join(", and ")}`;
}

/** What differs, in words. */
function changedParts(entry: LockEntry, hashes: Hashes): readonly string[] {
  return [
    ...(entry.definition_hash === hashes.definition_hash ? [] : ["its definition"]),
    ...(entry.environment_hash === hashes.environment_hash
      ? []
      : ["the guardrails, targets or endpoints beside it"]),
  ];
}

function hintFor(state: Approval["state"], id: string): string {
  const approve = `approve it with \`agent-33 decision approve ${id} --key FILE\``;
  if (state === "changed") return `see what changed with \`agent-33 decision diff ${id}\`; ${approve}`;
  return state === "retired" ? `remove its definition, or ${approve} again` : approve;
}
