import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { present } from "../../present/format.js";
import { verificationView } from "../../present/verification-view.js";
import type { Expectation, Verification } from "../../store/drivers/jsonl/verify.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress, percent } from "../progress.js";
import { refuseMissingStore, storeConfiguration } from "../world.js";

interface VerifyFlags extends StoreFlags {
  readonly expect?: string;
  readonly key?: string;
}

export function addVerifyCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("verify")
    .argument("[export]", "what `export --out` made: its directory or its manifest.json; without it, the log")
    .option(
      "--expect <size:head>",
      "what an earlier verify said: the log must still be that, or have grown from it",
    )
    .option(
      "--key <file>",
      "a public key (PEM, Ed25519): the last checkpoint of the log, which covers all before it, or the export must be signed with it",
    );
  addCommonFlags(addStoreFlags(command))
    .summary("prove that the log is what was written")
    .description(
      "Reads the whole log and checks every byte against the chain of hashes, the head and the checkpoints. Names the first record that is not as it was written; exit code 6. With the path of an export it checks that instead, and needs neither the log nor the definitions for it.",
    )
    .addHelpText(
      "after",
      `
A chain shows what was changed, not that all of it was made anew. Keep SIZE:HEAD somewhere else and
give it to --expect, or sign checkpoints and exports: agent-33 decision config set signing_key FILE
Of an export without a signature, these can be changed unseen: when and by which version it was made, what
it was filtered by and, in CSV or where records were left out, how the log ended. With --key nothing can.

Examples:
  $ agent-33 decision verify
  $ agent-33 decision verify --expect 1200:9f2c…
  $ agent-33 decision verify --key public.pem --format json
  $ agent-33 decision verify audit-2026 --key public.pem`,
    )
    .action(async (path: string | undefined, flags: VerifyFlags) => done(await verify(path, flags, io)));
}

async function verify(path: string | undefined, flags: VerifyFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const expect = flags.expect === undefined ? undefined : parseExpectation(flags.expect);
  const progress = new Progress(io, flags.quiet);
  const checking: Checking = {
    key: flags.key,
    expect,
    progress: (read, total) => progress.show(() => `verifying, ${percent(read, total)}`),
  };
  if (path === undefined) refuseMissingStore(flags, io);
  const where = path ?? storeConfiguration(flags, io).directory;
  const verification = await (path === undefined ? verifyLog : verifyExported)(where, checking);
  progress.erase();
  const view = verificationView(verification, where, path === undefined ? "log" : "export");
  io.out.write(await present(view, format, await styleFor(flags, io)));
  return verification.ok ? 0 : 6;
}

interface Checking {
  /** The file of a public key. */
  readonly key: string | undefined;
  readonly expect: Expectation | undefined;
  readonly progress: (read: number, total: number) => void;
}

async function verifyLog(directory: string, { key, ...options }: Checking): Promise<Verification> {
  const { verifyStore } = await import("../../store/drivers/jsonl/verify.js");
  const { markDamage } = await import("../../store/drivers/jsonl/damage-mark.js");
  const { signatureCheckOf } = await import("../../store/signing.js");
  const checkSignature = key === undefined ? undefined : signatureCheckOf(key);
  const verification = verifyStore(directory, { ...options, checkSignature });
  const [problem] = verification.problems.filter(
    ({ kind }) => kind !== "expectation" && kind !== "signature",
  );
  markDamage(directory, problem?.message);
  return verification;
}

async function verifyExported(path: string, { key, ...options }: Checking): Promise<Verification> {
  const { verifyExport } = await import("../../store/verify-export.js");
  const { textSignatureCheckOf } = await import("../../store/signing.js");
  const checkSignatureOfText = key === undefined ? undefined : textSignatureCheckOf(key);
  return verifyExport(path, { ...options, checkSignatureOfText });
}

function parseExpectation(text: string): Expectation {
  const [, size, head] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (size !== undefined && head !== undefined) return { size: Number(size), head: head.toLowerCase() };
  throw new DecisionError("usage", `--expect must be SIZE:HEAD (got \`${text}\`)`, {
    hint: "take both from an earlier `agent-33 decision verify`: a number of records and 64 hex digits",
  });
}
