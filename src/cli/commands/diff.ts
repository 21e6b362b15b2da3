import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { diffView } from "../../present/diff-view.js";
import { present } from "../../present/format.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { approvalSettings, decisionsDirectory } from "../settings.js";
import { openSeenLocks, warn, warnOfMissingStore } from "../world.js";

interface DiffFlags extends StoreFlags {
  readonly check?: boolean;
}

export function addDiffCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("diff")
    .argument("<id>", "the decision's id")
    .option("--check", "exit code 6 unless it is as it was approved");
  addCommonFlags(addStoreFlags(command))
    .summary("show what changed since a decision was approved")
    .description(
      "Compares a decision, and the guardrails, targets and endpoints that bear on it, with what was approved " +
        "last, which `decisions.lock` keeps.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision diff decision-quality-gate
  $ agent-33 decision diff decision-quality-gate --check --quiet --format json`,
    )
    .action(async (id: string, flags: DiffFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const { value: directory } = decisionsDirectory(flags.decisions, io);
      const definitions = await composeDefinitions({ decisions: directory });
      warnOfMissingStore(flags, io);
      const { diffWithApproved } = await import("../diff-with-approved.js");
      const diff = await diffWithApproved(id, definitions, {
        directory,
        trustedKeys: approvalSettings({}, io).trustedKeys(),
        shelf: await openSeenLocks(flags, io),
        doubt: (message) => warn(flags, io, message),
      });
      io.out.write(await present(diffView(diff), format, await styleFor(flags, io)));
      done(flags.check && diff.approval.state !== "approved" ? 6 : 0);
    });
}
