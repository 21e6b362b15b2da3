import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { formatCount } from "../../present/text.js";
import type { Style, View } from "../../present/format.js";
import { fieldLine, hangingText, headline, present } from "../../present/format.js";
import type { LogProblem, LogProblemKind } from "../../record/verify-log.js";
import { isLogDamage } from "../../record/verify-log.js";
import type { Expectation, Verification } from "../../store/drivers/jsonl/verify-store.js";
import type { ExitCode } from "../exit-codes.js";
import type { AllowEmptyFlag, StoreFlags } from "../flags.js";
import {
  addAllowEmptyFlag,
  addCommonFlags,
  addStoreFlags,
  failUnlessAllowed,
  formatFor,
  styleFor,
} from "../flags.js";
import type { Io } from "../io.js";
import { Progress, percent } from "../progress.js";
import { assertStoreExists, storeConfiguration } from "../world.js";
import { oneLine } from "../../text.js";

interface VerifyFlags extends StoreFlags, AllowEmptyFlag {
  readonly expect?: string;
  readonly key?: string;
}

export function addVerifyCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("verify")
    .argument("[export]", "directory or manifest.json of an export (default: verify the log)")
    .option("--expect <size:head>", "size and head from an earlier verify: the log must contain that state")
    .option(
      "--key <file>",
      "public key (PEM, Ed25519) that the last checkpoint of the log, or the export, must be signed with",
    );
  addCommonFlags(addStoreFlags(addAllowEmptyFlag(command)))
    .summary("check the log or an export for tampering")
    .description(
      "Read the whole log and check every byte against the hash chain, the head and the checkpoints. If a record was modified, report the first one and exit with code 6. With the path of an export, verify the export instead; this needs neither the store nor the definitions.",
    )
    .addHelpText(
      "after",
      `
A hash chain detects changes, but not the replacement of the whole log. To
detect that, store SIZE:HEAD elsewhere and pass it to --expect, or sign
checkpoints and exports: agent-33 decision config set signing_key FILE
In an unsigned export, these changes are not detected: its time, version and
filters and, in CSV or filtered exports, the end of the log. With --key every
change is detected.

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
  const options: VerifyOptions = {
    key: flags.key,
    expect,
    progress: (read, total) => progress.show(() => `verifying, ${percent(read, total)}`),
  };
  if (path === undefined) assertStoreExists(flags, io);
  const where = path ?? storeConfiguration(flags, io).directory;
  const verification = await (path === undefined ? verifyLog : verifyExported)(where, options);
  progress.erase();
  const view = verificationView(verification, where, path === undefined ? "log" : "export");
  io.out.write(await present(view, format, await styleFor(flags, io)));
  if (!verification.ok) return 6;
  // An export has a manifest to check.
  const isEmptyLog = verification.size === 0 && path === undefined;
  if (isEmptyLog && expect === undefined) failUnlessAllowed(flags, "there are no records");
  return 0;
}

interface VerifyOptions {
  /** The file of a public key. */
  readonly key: string | undefined;
  readonly expect: Expectation | undefined;
  readonly progress: (read: number, total: number) => void;
}

async function verifyLog(directory: string, { key, ...options }: VerifyOptions): Promise<Verification> {
  const { verifyStore } = await import("../../store/drivers/jsonl/verify-store.js");
  const { verifyDerived, discardDerived } = await import("../../store/drivers/jsonl/verify-derived.js");
  const { setDamageMark } = await import("../../store/drivers/jsonl/damage-detection.js");
  const { checkpointSignatureCheck } = await import("../../store/signing.js");
  const checkSignature = key === undefined ? undefined : checkpointSignatureCheck(key);
  const verification = verifyStore(directory, { ...options, checkSignature });
  const problem = verification.problems.find(isLogDamage);
  setDamageMark(directory, problem?.message);
  if (problem !== undefined) return verification;
  const derived = verifyDerived(directory, Date.now() * 1000);
  discardDerived(directory, derived);
  const { ok, problems } = verification;
  return { ...verification, ok: ok && derived.length === 0, problems: [...problems, ...derived] };
}

async function verifyExported(path: string, { key, ...options }: VerifyOptions): Promise<Verification> {
  const { verifyExport } = await import("../../store/verify-export.js");
  const { textSignatureCheck } = await import("../../store/signing.js");
  const checkTextSignature = key === undefined ? undefined : textSignatureCheck(key);
  return verifyExport(path, { ...options, checkTextSignature });
}

function parseExpectation(text: string): Expectation {
  const [, size, head] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (size !== undefined && head !== undefined) return { size: Number(size), head: head.toLowerCase() };
  throw new DecisionError("usage", `--expect must be SIZE:HEAD (got \`${text}\`)`, {
    hint: "copy it from the output of an earlier `agent-33 decision verify`: a number of records and 64 hex digits",
  });
}

export function verificationView(verification: Verification, where: string, subject: "log" | "export"): View {
  const { size, records } = verification;
  const total = `${formatCount(size)} record${size === 1 ? "" : "s"}`;
  const found = `${formatCount(records)} record${records === 1 ? "" : "s"}`;
  const amount = subject === "log" || records === size ? found : `${formatCount(records)} of ${total}`;
  return {
    value: verification,
    plain: () => plainVerification(verification, subject),
    table: (style) => describeVerification(verification, `${amount} in ${oneLine(where)}`, style),
  };
}

function plainVerification({ ok, size, head, problems }: Verification, subject: string): string {
  const lines = [[subject, ok ? "ok" : failureText(problems).plain, `${size}:${head}`].join("\t")];
  for (const { kind, seq, file, line, message } of problems) {
    lines.push(["problem", kind, seq ?? "", file ?? "", line ?? "", oneLine(message)].join("\t"));
  }
  return lines.join("\n");
}

function describeVerification(verification: Verification, summary: string, style: Style): string {
  const { paint } = style;
  const { ok, size, head, problems, pruned, checkpoints, signed, notes } = verification;
  const verdict = ok ? paint("green", "✓ intact") : paint("red", `✗ ${failureText(problems).table}`);
  const lines = [headline(paint("bold", verdict), summary, style), ""];
  for (const problem of problems) lines.push(describeLogProblem(problem, style));
  if (problems.length > 0) lines.push("");
  const field = (name: string, value: string): string => fieldLine(name, value, style, 11);
  if (ok) lines.push(field("head", `${size}:${head}`));
  lines.push(field("checkpoints", `${formatCount(checkpoints)}, ${formatCount(signed)} signed`));
  if (pruned > 0) lines.push(field("pruned", `records 1 to ${formatCount(pruned)}`));
  for (const note of notes) lines.push(field("note", oneLine(note)));
  return lines.join("\n");
}

/** Distinguishes damage from an intact log that has the wrong signature or differs from --expect. */
function failureText(problems: readonly LogProblem[]): { readonly plain: string; readonly table: string } {
  const kinds = new Set(problems.map(({ kind }) => kind));
  const isOnly = (...expected: readonly LogProblemKind[]): boolean =>
    [...kinds].every((kind) => expected.includes(kind));
  if (isOnly("derived")) return { plain: "derived", table: "files derived from the log were wrong" };
  if (isOnly("signature")) return { plain: "unsigned", table: "not signed with this key" };
  if (isOnly("signature", "expectation")) return { plain: "unexpected", table: "different from --expect" };
  return { plain: "damaged", table: "damaged" };
}

function describeLogProblem({ file, line, message, record_id }: LogProblem, style: Style): string {
  const place = file === undefined ? [] : [`${file}${line === undefined ? "" : `:${line}`}`];
  const where = [...(record_id === undefined ? [] : [record_id]), ...place].join(", ");
  const text = `${oneLine(message)}${where === "" ? "" : ` (${where})`}`;
  return `  ${style.paint("red", "✗")} ${hangingText(text, style, { start: 4, indent: 4 })}`;
}
