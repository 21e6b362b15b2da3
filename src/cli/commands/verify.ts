import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { printable } from "../../text.js";
import { formatCount } from "../../present/text.js";
import type { Style, View } from "../../present/format.js";
import { present } from "../../present/format.js";
import type { LogProblem, LogProblemKind } from "../../record/verify-log.js";
import type { Expectation, Verification } from "../../store/drivers/jsonl/verify-store.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress, percent } from "../progress.js";
import { assertStoreExists, storeConfiguration } from "../world.js";

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
  const checking: VerifyOptions = {
    key: flags.key,
    expect,
    progress: (read, total) => progress.show(() => `verifying, ${percent(read, total)}`),
  };
  if (path === undefined) assertStoreExists(flags, io);
  const where = path ?? storeConfiguration(flags, io).directory;
  const verification = await (path === undefined ? verifyLog : verifyExported)(where, checking);
  progress.erase();
  const view = verificationView(verification, where, path === undefined ? "log" : "export");
  io.out.write(await present(view, format, await styleFor(flags, io)));
  return verification.ok ? 0 : 6;
}

interface VerifyOptions {
  /** The file of a public key. */
  readonly key: string | undefined;
  readonly expect: Expectation | undefined;
  readonly progress: (read: number, total: number) => void;
}

async function verifyLog(directory: string, { key, ...options }: VerifyOptions): Promise<Verification> {
  const { verifyStore } = await import("../../store/drivers/jsonl/verify-store.js");
  const { setDamageMark: markDamage } = await import("../../store/drivers/jsonl/damage-detection.js");
  const { checkpointSignatureCheck: signatureCheckOf } = await import("../../store/signing.js");
  const checkSignature = key === undefined ? undefined : signatureCheckOf(key);
  const verification = verifyStore(directory, { ...options, checkSignature });
  const [problem] = verification.problems.filter(
    ({ kind }) => kind !== "expectation" && kind !== "signature",
  );
  markDamage(directory, problem?.message);
  return verification;
}

async function verifyExported(path: string, { key, ...options }: VerifyOptions): Promise<Verification> {
  const { verifyExport } = await import("../../store/verify-export.js");
  const { textSignatureCheck: textSignatureCheckOf } = await import("../../store/signing.js");
  const checkSignatureOfText = key === undefined ? undefined : textSignatureCheckOf(key);
  return verifyExport(path, { ...options, checkTextSignature: checkSignatureOfText });
}

function parseExpectation(text: string): Expectation {
  const [, size, head] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (size !== undefined && head !== undefined) return { size: Number(size), head: head.toLowerCase() };
  throw new DecisionError("usage", `--expect must be SIZE:HEAD (got \`${text}\`)`, {
    hint: "take both from an earlier `agent-33 decision verify`: a number of records and 64 hex digits",
  });
}

function verificationView(verification: Verification, where: string, what: "log" | "export" = "log"): View {
  const { size, records } = verification;
  const whole = `${formatCount(size)} record${size === 1 ? "" : "s"}`;
  const found = `${formatCount(records)} record${records === 1 ? "" : "s"}`;
  const amount = what === "log" || records === size ? found : `${formatCount(records)} of ${whole}`;
  return {
    value: verification,
    plain: () => plainVerification(verification, what),
    table: (style) => describeVerification(verification, `${amount} in ${printable(where)}`, style),
  };
}

function plainVerification({ ok, size, head, problems }: Verification, what: string): string {
  const lines = [[what, ok ? "ok" : failureText(problems).plain, `${size}:${head}`].join("\t")];
  for (const { kind, seq, file, line, message } of problems) {
    lines.push(["problem", kind, seq ?? "", file ?? "", line ?? "", printable(message)].join("\t"));
  }
  return lines.join("\n");
}

function describeVerification(verification: Verification, what: string, { paint }: Style): string {
  const { ok, size, head, problems, pruned, checkpoints, signed, notes } = verification;
  const verdict = ok ? paint("green", "✓ intact") : paint("red", `✗ ${failureText(problems).table}`);
  const lines = [`${paint("bold", verdict)}  ${what}`, ""];
  for (const problem of problems) lines.push(describeLogProblem(problem, { paint }));
  if (problems.length > 0) lines.push("");
  const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(11))} ${value}`;
  if (ok) lines.push(field("head", `${size}:${head}`));
  lines.push(field("checkpoints", `${formatCount(checkpoints)}, ${formatCount(signed)} signed`));
  if (pruned > 0) lines.push(field("pruned", `records 1 to ${formatCount(pruned)}`));
  for (const note of notes) lines.push(field("note", printable(note)));
  return lines.join("\n");
}

/** What holds together may still not be what a key or a memory vouches for. */
function failureText(problems: readonly LogProblem[]): { readonly plain: string; readonly table: string } {
  const kinds = new Set(problems.map(({ kind }) => kind));
  const isOnly = (...expected: readonly LogProblemKind[]): boolean =>
    [...kinds].every((kind) => expected.includes(kind));
  if (isOnly("signature")) return { plain: "unsigned", table: "not signed with this key" };
  if (isOnly("signature", "expectation")) return { plain: "unexpected", table: "not what was expected" };
  return { plain: "damaged", table: "not as it was written" };
}

function describeLogProblem(
  { file, line, message, record_id }: LogProblem,
  { paint }: Pick<Style, "paint">,
): string {
  const place = file === undefined ? [] : [`${file}${line === undefined ? "" : `:${line}`}`];
  const where = [...(record_id === undefined ? [] : [record_id]), ...place].join(", ");
  return `  ${paint("red", "✗")} ${printable(message)}${where === "" ? "" : ` ${paint("dim", `(${where})`)}`}`;
}
