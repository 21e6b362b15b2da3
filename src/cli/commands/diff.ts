import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { approvalOf, findEntry } from "../../definition/approval/approved-library.js";
import { changesBetween } from "../../definition/approval/changes.js";
import { verifyLock } from "../../definition/approval/lock.js";
import { DecisionError } from "../../errors.js";
import type { Approval, ApprovalLock, LockEntry } from "../../model/approval.js";
import type { LoadedDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { DefinitionDiff, DefinitionVersion } from "../../present/diff-view.js";
import { diffView } from "../../present/diff-view.js";
import { present } from "../../present/format.js";
import type { ApprovalOptions } from "../../store/approved-definitions.js";
import { readVerifiedLock } from "../../store/approved-definitions.js";
import type { OpenedDefinitions } from "../../store/definitions.js";
import { approvalLockPath, readApprovalLock } from "../../store/approval-lock-file.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { approvalSettings, decisionsDirectory } from "../settings.js";
import { openSeenLocks, warn, warnIfStoreMissing } from "../world.js";

interface DiffFlags extends StoreFlags {
  readonly check?: boolean;
}

export function addDiffCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("diff")
    .argument("<id>", "id of the decision")
    .option("--check", "exit with code 6 if the decision differs from the approved version");
  addCommonFlags(addStoreFlags(command))
    .summary("show changes since a decision was approved")
    .description(
      "Compare a decision, and the guardrails, targets, endpoints, masks, observers and overrides that apply to it, with the last approved version " +
        "in `decisions.lock`.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision diff expense-approval
  $ agent-33 decision diff expense-approval --check --quiet --format json`,
    )
    .action(async (id: string, flags: DiffFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const { value: directory } = decisionsDirectory(flags.decisions, io);
      const definitions = await composeDefinitions({ decisions: directory });
      warnIfStoreMissing(flags, io);
      const diff = await diffWithApproved(id, definitions, {
        directory,
        trustedKeys: approvalSettings({}, io).trustedKeys(),
        shelf: await openSeenLocks(flags, io),
        onUntrusted: (message) => warn(flags, io, message),
      });
      io.out.write(await present(diffView(diff), format, await styleFor(flags, io)));
      done(flags.check && diff.approval.state !== "approved" ? 6 : 0);
    });
}

/** Compares a decision with its last approved version. Calls `onUntrusted` if the lock cannot be trusted. */
async function diffWithApproved(
  id: string,
  definitions: OpenedDefinitions,
  { onUntrusted, ...options }: ApprovalOptions & { readonly onUntrusted: (message: string) => void },
): Promise<DefinitionDiff> {
  const lock = readApprovalLock(options.directory);
  if (lock !== undefined) verifyLock(lock, approvalLockPath(options.directory));
  const entry = lock && findEntry(lock, id);
  const loaded = await findCurrent(id, definitions, entry);
  const before = entry?.definition && entry.environment && toVersion(entry.definition, entry.environment);
  const after = loaded && toVersion(loaded.definition as unknown as JsonObject, loaded.environment);
  const isTrusted = lock !== undefined && (await isLockTrusted(options, onUntrusted));
  return {
    decision_id: id,
    approval: isTrusted ? approvalState(lock, id, loaded) : { state: "unknown" },
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    changes: before === undefined ? [] : changesBetween(before.definition, after?.definition),
    environment_changes: before === undefined ? [] : changesBetween(before.environment, after?.environment),
  };
}

/** Returns undefined if the decision was approved and its definition no longer exists. */
function findCurrent(
  id: string,
  definitions: OpenedDefinitions,
  entry: LockEntry | undefined,
): Promise<LoadedDefinition | undefined> {
  const isGone = !definitions.ids.includes(id) && !definitions.broken.includes(id);
  return isGone && entry !== undefined ? Promise.resolve(undefined) : definitions.findForInspection(id);
}

const toVersion = (definition: JsonObject, environment: JsonObject): DefinitionVersion => ({
  definition,
  environment,
});

function approvalState(lock: ApprovalLock, id: string, loaded: LoadedDefinition | undefined): Approval {
  return approvalOf(lock, id, loaded ?? { definition_hash: "", environment_hash: "" });
}

async function isLockTrusted(
  options: ApprovalOptions,
  onUntrusted: (message: string) => void,
): Promise<boolean> {
  try {
    await readVerifiedLock(options);
    return true;
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "not_approved") throw error;
    onUntrusted(error.message);
    return false;
  }
}
