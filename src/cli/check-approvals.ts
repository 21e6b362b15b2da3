import { approvalOf } from "../definition/approval/approval-of.js";
import { verifyLock } from "../definition/approval/verify-lock.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";
import type { ApprovalLock } from "../model/approval.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Problem } from "../model/problem.js";
import { hasLock, lockPath, readLock } from "../store/lock-file.js";
import { verifierOf } from "../store/trusted-keys.js";

/** What is to be said of the lock of a directory; nothing where there is none. */
export async function checkApprovals(
  directory: string,
  library: Library,
  trustedKeys: () => readonly string[],
): Promise<readonly Problem[]> {
  if (!hasLock(directory)) return [];
  const file = lockPath(directory);
  try {
    const lock = readLock(directory);
    const keys = trustedKeys();
    if (lock === undefined) return [];
    verifyLock(lock, file, keys.length === 0 ? undefined : verifierOf(keys));
    const unchecked = { ...at(file), severity: "note", message: noKey } as const;
    return [
      ...(keys.length === 0 ? [unchecked] : []),
      ...(await changed(lock, library)),
      ...missing(lock, library, file),
    ];
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    const { message, hint } = error;
    return [{ ...at(file), severity: "error", message, ...(hint !== undefined && { hint }) }];
  }
}

const noKey = "its signatures are not checked, as no key is trusted";

const at = (file: string): Pick<Problem, "file" | "line" | "column"> => ({ file, line: 1, column: 1 });

async function changed(lock: ApprovalLock, library: Library): Promise<readonly Problem[]> {
  const loaded = await Promise.all(library.ids.map((id) => library.lookUp(id)));
  return loaded.flatMap((each) => changeOf(each, lock));
}

function changeOf(
  { definition: { id }, file, line, ...hashes }: LoadedDefinition,
  lock: ApprovalLock,
): Problem[] {
  const { state, serial = 0 } = approvalOf(lock, id, hashes);
  const place = { file, line, column: 1, severity: "warning", decision_id: id } as const;
  if (state === "retired") return [{ ...place, message: `\`${id}\` was retired with serial ${serial}` }];
  if (state !== "changed") return [];
  const message = `\`${id}\` changed since it was approved with serial ${serial}`;
  return [{ ...place, message, hint: `see what changed with \`agent-33 decision diff ${id}\`` }];
}

function missing({ entries }: ApprovalLock, { ids, broken }: Library, file: string): readonly Problem[] {
  return entries
    .filter(
      ({ status, decision_id: id }) => status === "approved" && !ids.includes(id) && !broken.includes(id),
    )
    .map(({ decision_id, serial }) => ({
      ...at(file),
      severity: "warning",
      decision_id,
      message: `\`${decision_id}\` was approved with serial ${serial}, but its definition is not there`,
      hint: `put it back, or retire it with \`agent-33 decision retire ${decision_id} --key FILE\``,
    }));
}
