import { approvalOf } from "../definition/approval/approval-of.js";
import { verifyLock } from "../definition/approval/verify-lock.js";
import type { Library } from "../definition/library.js";
import { DecisionError } from "../errors.js";
import type { Approval, ApprovalLock } from "../model/approval.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Problem } from "../model/problem.js";
import { hasLock, lockPath, readLock } from "../store/lock-file.js";
import { verifierOf } from "../store/trusted-keys.js";
import type { ApprovalSettings } from "./settings.js";

/** What is to be said of the lock of a directory: errors where approval is required, else nothing where there is none. */
export async function checkApprovals(
  directory: string,
  library: Library,
  { required, trustedKeys }: ApprovalSettings,
): Promise<readonly Problem[]> {
  const file = lockPath(directory);
  const severity = required ? "error" : "warning";
  if (!hasLock(directory))
    return required ? [noLock(file), ...(await changed(undefined, library, severity))] : [];
  try {
    const lock = readLock(directory);
    const keys = trustedKeys();
    if (lock === undefined) return [];
    verifyLock(lock, file, keys.length === 0 ? undefined : verifierOf(keys));
    return [
      ...(keys.length === 0 ? [noKey(file, required)] : []),
      ...(await changed(lock, library, severity)),
      ...missing(lock, library, { file, severity }),
    ];
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    const { message, hint } = error;
    return [{ ...at(file), severity: "error", message, ...(hint !== undefined && { hint }) }];
  }
}

const at = (file: string): Pick<Problem, "file" | "line" | "column"> => ({ file, line: 1, column: 1 });

const noLock = (file: string): Problem => ({
  ...at(file),
  severity: "error",
  message: "nothing is approved: there is no lock",
  hint: "approve definitions with `agent-33 decision approve ID --key FILE`",
});

const noKey = (file: string, required: boolean): Problem =>
  required
    ? {
        ...at(file),
        severity: "error",
        message: "no key is trusted, so nothing counts as approved",
        hint: "trust one with `agent-33 decision config set trusted_keys ed25519:…`",
      }
    : { ...at(file), severity: "note", message: "its signatures are not checked, as no key is trusted" };

async function changed(
  lock: ApprovalLock | undefined,
  library: Library,
  severity: Problem["severity"],
): Promise<readonly Problem[]> {
  const loaded = await Promise.all(library.ids.map((id) => library.lookUp(id)));
  return loaded.flatMap((each) => {
    const { definition, file, line } = each;
    const said = unapproved(each, lock);
    return said === undefined
      ? []
      : [{ file, line, column: 1, severity, decision_id: definition.id, ...said }];
  });
}

function unapproved(
  { definition: { id }, ...hashes }: LoadedDefinition,
  lock: ApprovalLock | undefined,
): Pick<Problem, "message" | "hint"> | undefined {
  const { state, serial = 0 }: Approval = lock ? approvalOf(lock, id, hashes) : { state: "unknown" };
  switch (state) {
    case "approved":
      return undefined;
    case "retired":
      return { message: `\`${id}\` was retired with serial ${serial}` };
    case "changed":
      return {
        message: `\`${id}\` changed since it was approved with serial ${serial}`,
        hint: `see what changed with \`agent-33 decision diff ${id}\``,
      };
    case "unknown":
      return {
        message: `\`${id}\` is not approved`,
        hint: `approve it with \`agent-33 decision approve ${id} --key FILE\``,
      };
  }
}

function missing(
  { entries }: ApprovalLock,
  { ids, broken }: Library,
  { file, severity }: Pick<Problem, "file" | "severity">,
): readonly Problem[] {
  return entries
    .filter(
      ({ status, decision_id: id }) => status === "approved" && !ids.includes(id) && !broken.includes(id),
    )
    .map(({ decision_id, serial }) => ({
      ...at(file),
      severity,
      decision_id,
      message: `\`${decision_id}\` was approved with serial ${serial}, but its definition is not there`,
      hint: `put it back, or retire it with \`agent-33 decision retire ${decision_id} --key FILE\``,
    }));
}
