import { approvalOf, entryOf } from "../definition/approval/approval-of.js";
import { changesBetween } from "../definition/approval/changes.js";
import { verifyLock } from "../definition/approval/verify-lock.js";
import { DecisionError } from "../errors.js";
import type { Approval, ApprovalLock, LockEntry } from "../model/approval.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Diff, Version } from "../present/diff-view.js";
import type { ApprovalOptions } from "../store/approved-definitions.js";
import { openVerifiedLock } from "../store/approved-definitions.js";
import type { OpenedDefinitions } from "../store/definitions.js";
import { lockPath, readLock } from "../store/lock-file.js";

/** A decision as it was approved last, against how it is. What is no lock at all is an error; `doubt` hears why one cannot be trusted. */
export async function diffWithApproved(
  id: string,
  definitions: OpenedDefinitions,
  { doubt, ...options }: ApprovalOptions & { readonly doubt: (message: string) => void },
): Promise<Diff> {
  const lock = readLock(options.directory);
  if (lock !== undefined) verifyLock(lock, lockPath(options.directory));
  const entry = lock && entryOf(lock, id);
  const loaded = await current(id, definitions, entry);
  const before = entry?.definition && entry.environment && versionOf(entry.definition, entry.environment);
  const after = loaded && versionOf(loaded.definition as unknown as JsonObject, loaded.environment);
  const isTrusted = lock !== undefined && (await isProven(options, doubt));
  return {
    decision_id: id,
    approval: isTrusted ? judged(lock, id, loaded) : { state: "unknown" },
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    changes: before === undefined ? [] : changesBetween(before.definition, after?.definition),
    environment_changes: before === undefined ? [] : changesBetween(before.environment, after?.environment),
  };
}

/** Undefined where it was approved and is gone. */
function current(
  id: string,
  definitions: OpenedDefinitions,
  entry: LockEntry | undefined,
): Promise<LoadedDefinition | undefined> {
  const isGone = !definitions.ids.includes(id) && !definitions.broken.includes(id);
  return isGone && entry !== undefined ? Promise.resolve(undefined) : definitions.lookUp(id);
}

const versionOf = (definition: JsonObject, environment: JsonObject): Version => ({ definition, environment });

function judged(lock: ApprovalLock, id: string, loaded: LoadedDefinition | undefined): Approval {
  return approvalOf(lock, id, loaded ?? { definition_hash: "", environment_hash: "" });
}

async function isProven(options: ApprovalOptions, doubt: (message: string) => void): Promise<boolean> {
  try {
    await openVerifiedLock(options);
    return true;
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    doubt(error.message);
    return false;
  }
}
