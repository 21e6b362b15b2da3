import type { Command } from "commander";
import { formatFor } from "../flags.js";
import type { Io } from "../io.js";
import type { SigningFlags } from "../signing-options.js";
import { addSigningFlags, showSignings, signingOptions } from "../signing-options.js";

export function addRetireCommand(parent: Command, io: Io): void {
  addSigningFlags(parent.command("retire").argument("<id...>", "ids of decisions"))
    .summary("retire decisions (signed)")
    .description(
      "Sign in `decisions.lock` that decisions are retired, whether their files still exist or not. Where approval is " +
        "required they are rejected from then on, even in the version that was approved before.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision retire expense-approval --key ~/keys/approval.pem`,
    )
    .action(async (ids: readonly string[], flags: SigningFlags) => {
      formatFor(flags, io, { answer: "many" });
      const options = await signingOptions(flags, io);
      const { retire } = await import("../../store/approve.js");
      const signings = await retire([...new Set(ids)], options);
      await showSignings(signings, options, { flags, io });
    });
}
