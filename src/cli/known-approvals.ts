import { DecisionError } from "../errors.js";
import type { ApprovalOf } from "../present/definition-views.js";
import type { Records } from "../record/records.js";
import { hasLock } from "../store/lock-file.js";
import type { CommonFlags } from "./flags.js";
import type { Io } from "./io.js";
import { settingsFiles } from "./read-settings.js";
import { approvalSettings, decisionsDirectory } from "./settings.js";
import { openSeenLocks, warn } from "./world.js";

/**
 * What the lock of the definitions says of each, for those who only look; undefined where there is no lock and
 * none is asked for. Where it proves nothing, a warning says why, and nothing is known.
 */
export async function approvalsKnown(
  records: Records,
  flags: CommonFlags,
  io: Io,
): Promise<ApprovalOf | undefined> {
  const files = settingsFiles(io);
  const { value: directory } = decisionsDirectory(flags.decisions, io, files);
  const settings = approvalSettings({}, io, files);
  if (!settings.required && !hasLock(directory)) return undefined;
  const { openVerifiedLock } = await import("../store/approved-definitions.js");
  const { approvalOf } = await import("../definition/approval/approval-of.js");
  const { withOwnHashes } = await import("../definition/approval/approved-library.js");
  try {
    const shelf = await openSeenLocks(flags, io, { files, records });
    const lock = await openVerifiedLock({ directory, trustedKeys: settings.trustedKeys(), shelf });
    return (loaded) => approvalOf(lock, loaded.definition.id, withOwnHashes(loaded));
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    warn(flags, io, error.message);
    return () => ({ state: "unknown" });
  }
}
