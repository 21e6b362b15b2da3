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
    .argument("[id...]", "the decisions' ids")
    .option("--all", "every decision of the directory but those that were retired")
    .option(
      "-y, --yes",
      "with --all: sign anew over a lock that is older than, or another than, the one seen",
    );
  addSigningFlags(command)
    .summary("sign a definition as it is now")
    .description(
      "Signs decisions, with the guardrails, targets and endpoints that bear on them, into `decisions.lock` in " +
        "the directory of definitions. With --require-approval, or the setting require_approval, only what is " +
        "signed with a trusted key is decided by. A definition that is not valid is not signed, and nothing is " +
        "signed into a lock that is forged. Into one that is older than, or another than, the one that was seen " +
        "here, nothing is signed either, unless it is meant: --all --yes signs all anew over it.",
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
      assertSelection(ids, flags);
      const options = await signingOptions(flags, io);
      // Read anew: what is signed is what stands in the files.
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
    throw new DecisionError("usage", `\`${ids.join(" ")}\` and --all were both given`, {
      hint: "name decisions, or say --all; a retired one is approved again by its name",
    });
  }
  throw new DecisionError("usage", "name the decisions to approve, or --all of them", {
    hint: "`agent-33 decision list` shows them",
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
  if (wentBack !== undefined) warn(flags, io, `the lock ${wentBack}; all is signed anew over it`);
  if (stayRetired > 0 && !flags.quiet) note(io, retiredText(stayRetired));
  return signings;
}

const retiredText = (count: number): string =>
  count === 1
    ? "1 retired decision stays so; name it to approve it again"
    : `${count} retired decisions stay so; name them to approve them again`;

const findByIds = (ids: readonly string[], definitions: OpenedDefinitions): Promise<LoadedDefinition[]> =>
  Promise.all([...new Set(ids)].map((id) => definitions.find(id)));

/** All means all: what cannot be read is not passed over. */
function findEvery(definitions: OpenedDefinitions): Promise<LoadedDefinition[]> {
  const { diagnostics: problems, ids } = definitions;
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
  return findByIds(ids, definitions);
}
