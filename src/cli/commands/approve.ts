import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { LoadedDefinition } from "../../model/definition.js";
import type { OpenedDefinitions } from "../../store/definitions.js";
import { formatFor } from "../flags.js";
import type { Io } from "../io.js";
import type { SigningFlags } from "../signing-options.js";
import { addSigningFlags, showSignings, signingOptions } from "../signing-options.js";
import { warnOfProblems } from "../world.js";

interface ApproveFlags extends SigningFlags {
  readonly all?: boolean;
}

export function addApproveCommand(parent: Command, io: Io): void {
  const command = parent
    .command("approve")
    .argument("[id...]", "the decisions' ids")
    .option("--all", "every decision of the directory");
  addSigningFlags(command)
    .summary("sign a definition as it is now")
    .description(
      "Signs decisions, with the guardrails, targets and endpoints that bear on them, into `decisions.lock` in " +
        "the directory of definitions. With --require-approval, or the setting require_approval, only what is " +
        "signed with a trusted key is decided by. A definition that is not valid is not signed, and nothing is " +
        "signed into a lock that is forged, or older than one that was seen.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision diff decision-quality-gate
  $ agent-33 decision approve decision-quality-gate --key ~/keys/approval.pem
  $ agent-33 decision approve --all --key ~/keys/approval.pem`,
    )
    .action(async (ids: readonly string[], flags: ApproveFlags) => {
      formatFor(flags, io, { answer: "many" });
      refuseUnclear(ids, flags);
      const options = await signingOptions(flags, io);
      // Read anew: what is signed is what stands in the files.
      const definitions = await composeDefinitions({ decisions: options.directory });
      const loaded = await (flags.all ? everyOne(definitions) : named(ids, definitions));
      const { approve } = await import("../../store/approve.js");
      const signings = await approve(loaded, { ...options, all: flags.all ?? false });
      await showSignings(signings, options, { flags, io });
      warnOfProblems(flags, io, definitions.problems);
    });
}

function refuseUnclear(ids: readonly string[], { all = false }: ApproveFlags): void {
  if (all ? ids.length === 0 : ids.length > 0) return;
  throw new DecisionError("usage", "name the decisions to approve, or --all of them", {
    hint: "`agent-33 decision list` shows them",
  });
}

const named = (ids: readonly string[], definitions: OpenedDefinitions): Promise<LoadedDefinition[]> =>
  Promise.all([...new Set(ids)].map((id) => definitions.find(id)));

/** All means all: what cannot be read is not passed over. */
function everyOne(definitions: OpenedDefinitions): Promise<LoadedDefinition[]> {
  const { problems, ids } = definitions;
  if (problems.length > 0) {
    throw new DecisionError(
      "definition_invalid",
      "not all definitions are valid, so not all can be approved",
      {
        hint: "mend them, or name those to approve",
        details: { problems },
      },
    );
  }
  if (ids.length === 0) throw new DecisionError("usage", "no decision is defined here");
  return named(ids, definitions);
}
