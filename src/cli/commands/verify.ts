import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { present } from "../../present/format.js";
import { verificationView } from "../../present/verification-view.js";
import type { Expectation } from "../../store/drivers/jsonl/verify.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress, percent } from "../progress.js";
import { storeConfiguration } from "../world.js";

interface VerifyFlags extends StoreFlags {
  readonly expect?: string;
  readonly key?: string;
}

export function addVerifyCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("verify")
    .option(
      "--expect <size:head>",
      "what an earlier verify said: the log must still be that, or have grown from it",
    )
    .option("--key <file>", "a public key (PEM, Ed25519): every checkpoint must be signed with it");
  addCommonFlags(addStoreFlags(command))
    .summary("prove that the log is what was written")
    .description(
      "Reads the whole log and checks every byte against the chain of hashes, the head and the checkpoints. Names the first record that is not as it was written; exit code 6.",
    )
    .addHelpText(
      "after",
      `
A chain shows what was changed, not that all of it was made anew. Keep SIZE:HEAD somewhere else and
give it to --expect, or sign checkpoints: agent-33 decision config set signing_key FILE

Examples:
  $ agent-33 decision verify
  $ agent-33 decision verify --expect 1200:9f2c…
  $ agent-33 decision verify --key public.pem --format json`,
    )
    .action(async (flags: VerifyFlags) => done(await verify(flags, io)));
}

async function verify(flags: VerifyFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const expect = flags.expect === undefined ? undefined : parseExpectation(flags.expect);
  const { directory } = storeConfiguration(flags, io);
  const { verifyStore } = await import("../../store/drivers/jsonl/verify.js");
  const { signatureCheckOf } = await import("../../store/signing.js");
  const progress = new Progress(io, flags.quiet);
  const verification = verifyStore(directory, {
    expect,
    checkSignature: flags.key === undefined ? undefined : signatureCheckOf(flags.key),
    progress: (read, total) => progress.show(() => `verifying, ${percent(read, total)}`),
  });
  progress.erase();
  io.out.write(await present(verificationView(verification, directory), format, await styleFor(flags, io)));
  return verification.ok ? 0 : 6;
}

function parseExpectation(text: string): Expectation {
  const [, size, head] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (size !== undefined && head !== undefined) return { size: Number(size), head: head.toLowerCase() };
  throw new DecisionError("usage", `--expect must be SIZE:HEAD (got \`${text}\`)`, {
    hint: "take both from an earlier `agent-33 decision verify`: a number of records and 64 hex digits",
  });
}
