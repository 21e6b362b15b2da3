import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { LoadedDefinition } from "../../model/definition.js";
import { approve, approveAll } from "../../store/approve.js";
import type { OpenedDefinitions } from "../../store/definitions.js";
import type { Signing, SigningOptions } from "../../store/approve.js";
import { formatFor } from "../flags.js";
import type { Io } from "../io.js";
import type { SigningFlags } from "../signing-options.js";
import { addSigningFlags, showSignings, signingOptions } from "../signing-options.js";
import { note, warn, warnAboutDefinitions } from "../world.js";

interface ApproveFlags extends SigningFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
}

export function addApproveCommand(parent: Command, io: Io): void {
  const command = parent
    .command("approve")
    .argument("[id...]", "ids of decisions")
    .option("--all", "approve every decision of the directory except retired ones")
    .option("-y, --yes", "with --all: override the rollback check and sign everything again");
  addSigningFlags(command)
    .summary("approve definitions (signed)")
    .description(
      "Sign decisions, with the guardrails, targets, endpoints, masks, observers and overrides that apply to them, in `decisions.lock` in the " +
        "directory of definitions. With --require-approval, or the setting require_approval, only definitions signed " +
        "with a trusted key are used. Invalid definitions and forged locks are rejected, and so is a lock that is " +
        "older than or different from the one last seen on this machine (a rollback). To sign everything again over " +
        "such a lock, use --all --yes.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision diff expense-approval
  $ agent-33 decision approve expense-approval --key ~/keys/approval.pem
  $ agent-33 decision approve --all --key ~/keys/approval.pem`,
    )
    .action(async (ids: readonly string[], flags: ApproveFlags) => {
      formatFor(flags, io, { answer: "many" });
      assertSelection(ids, flags);
      const options = await signingOptions(flags, io);
      // Read without the cache: signs exactly what the files contain.
      const definitions = await composeDefinitions({ decisions: options.directory });
      const signings = flags.all
        ? await approveEvery(definitions, options, { flags, io })
        : await approve(await findByIds(ids, definitions), options);
      await showSignings(signings, options, { flags, io });
      warnAboutDefinitions(flags, io, definitions.diagnostics);
    });
}

function assertSelection(ids: readonly string[], { all = false }: ApproveFlags): void {
  if (all ? ids.length === 0 : ids.length > 0) return;
  if (all) {
    throw new DecisionError("usage", "ids and --all cannot be combined", {
      hint: "use ids or --all; to approve a retired decision again, specify its id",
    });
  }
  throw new DecisionError("usage", "specify decisions to approve", {
    hint: "use ids or --all; `agent-33 decision list` lists the decisions",
  });
}

async function approveEvery(
  definitions: OpenedDefinitions,
  options: SigningOptions,
  { flags, io }: { readonly flags: ApproveFlags; readonly io: Io },
): Promise<readonly Signing[]> {
  const mayGoBack = flags.yes ?? false;
  const approved = await approveAll(await findEvery(definitions), { ...options, allowRollback: mayGoBack });
  const { signings, rolledBackOver: wentBack, stillRetired: stayRetired } = approved;
  if (wentBack !== undefined) warn(flags, io, `the lock ${wentBack}; signing everything again`);
  if (stayRetired > 0 && !flags.quiet) note(io, retiredText(stayRetired));
  return signings;
}

const retiredText = (count: number): string =>
  count === 1
    ? "1 decision stays retired; specify its id to approve it again"
    : `${count} decisions stay retired; specify their ids to approve them again`;

const findByIds = (ids: readonly string[], definitions: OpenedDefinitions): Promise<LoadedDefinition[]> =>
  Promise.all([...new Set(ids)].map((id) => definitions.find(id)));

/** Loads every definition; throws if one is invalid, so that none is skipped silently. */
function findEvery(definitions: OpenedDefinitions): Promise<LoadedDefinition[]> {
  const { diagnostics: problems, ids } = definitions;
  if (problems.length > 0) {
    throw new DecisionError("definition_invalid", "cannot approve all definitions: some are invalid", {
      hint: "fix them, or specify the ids to approve",
      details: { problems },
    });
  }
  return findByIds(ids, definitions);
}
