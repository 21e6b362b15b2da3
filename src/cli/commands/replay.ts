import type { Command } from "commander";
import { isOwnSpelling } from "../../digest/parse-json.js";
import { ReplayMismatchError, DecisionError } from "../../errors.js";
import type { Query } from "../../model/store.js";
import { formatCount } from "../../present/text.js";
import { present } from "../../present/format.js";
import { replayView, payloadReplayView } from "../../present/replay-views.js";
import { findRecord } from "../../record/find-records.js";
import type { Records } from "../../record/records.js";
import type { ReplayReport } from "../../replay/replay-log.js";
import { replayLines, replayLog } from "../../replay/replay-log.js";
import { changedText, mismatchText } from "../../replay/difference-text.js";
import type { ReplayedDecision } from "../../replay/replay-payload.js";
import { replayPayload } from "../../replay/replay-payload.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, TimeRangeFlags, CommonFlags } from "../flags.js";
import {
  addCommonFlags,
  addStoreFlags,
  formatFor,
  styleFor,
  addTimeRangeFlags,
  timeRange,
} from "../flags.js";
import { jsonHint, parseDocument, readText, stripByteOrderMark } from "../input.js";
import type { Io } from "../io.js";
import { walkProgress } from "../progress.js";
import type { DamageWatch } from "../world.js";
import { note, openRecords, assertStoreExists, warn } from "../world.js";
import { oneLine } from "../../text.js";

interface ReplayFlags extends StoreFlags, TimeRangeFlags {
  readonly all?: boolean;
  readonly decisionId?: string;
  readonly payload?: string;
  readonly strict: boolean;
}

export function addReplayCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("replay")
    .argument("[record...]", "record ids or unique prefixes, numbers in the log, or latest")
    .option("--all", "replay all records that match the filters")
    .option("--decision-id <id>", "with --all: filter by decision")
    .option(
      "--payload <json>",
      "replay audit payloads of scored decisions: JSON, @file, or - for standard input",
    )
    .option("--no-strict", "print differences on stderr and exit with code 0");
  addTimeRangeFlags(command);
  addCommonFlags(addStoreFlags(command))
    .summary("verify that past decisions are reproducible")
    .description(
      "Evaluate recorded decisions again, with the recorded context, facts and definition. If the result or the " +
        "deterministic hash differs, or the log is damaged, the exit code is 6. Records that cannot be replayed, because their inputs were not " +
        "logged or are masked, are counted and reported. Needs only the store: no clock, network or definitions.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision replay latest
  $ agent-33 decision replay --all --since 7d
  $ agent-33 decision replay --all --decision-id expense-approval --json
  $ agent-33 decision evaluate loan-approval --input @context.json \\
      --format audit | agent-33 decision replay --payload -`,
    )
    .action(async (references: readonly string[], flags: ReplayFlags) => {
      assertOneSource(references, flags);
      if (flags.payload !== undefined) {
        done(await replayPayloads({ ...flags, payload: flags.payload }, io));
        return;
      }
      done(await replay(references, flags, io));
    });
}

function assertOneSource(references: readonly string[], flags: ReplayFlags): void {
  const sources = [references.length > 0, flags.all === true, flags.payload !== undefined].filter(
    Boolean,
  ).length;
  if (sources === 0) {
    throw new DecisionError("usage", "specify a record to replay", {
      hint: "for example `agent-33 decision replay latest`; or use --all or --payload",
    });
  }
  if (sources > 1) {
    throw new DecisionError("usage", "records, --all and --payload cannot be combined");
  }
  const isFiltered = [flags.decisionId, flags.since, flags.until].some((each) => each !== undefined);
  if (isFiltered && !flags.all) {
    throw new DecisionError("usage", "--decision-id, --since and --until require --all", {
      hint: "add --all",
    });
  }
}

async function replay(references: readonly string[], flags: ReplayFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  assertStoreExists(flags, io);
  const damage: DamageWatch = { isDamaged: false };
  const records = await openRecords(flags, io, damage);
  const report = flags.all ? await replayAll(records, flags, io) : await replayNamed(references, records);
  io.out.write(await present(replayView(report), format, await styleFor(flags, io)));
  if (report.total === 0) noteNothing(flags, io);
  if (report.not_replayable > 0) {
    warn(flags, io, `${recordsText(report.not_replayable)} could not be replayed: ${reasonsText(report)}`);
  }
  if (report.mismatched > 0) return reportMismatches(report, flags, io);
  if (damage.isDamaged && flags.strict) return 6;
  // Records that could not be replayed prove nothing.
  const isUnproven = report.not_replayable > 0 && (!flags.all || report.matched === 0);
  return isUnproven ? 1 : 0;
}

function noteNothing({ decisionId, since, until, quiet }: ReplayFlags, io: Io): void {
  if (decisionId !== undefined && since === undefined && until === undefined) {
    throw new DecisionError("record_not_found", `no records of \`${decisionId}\``, {
      hint: "run `agent-33 decision log` to list records",
    });
  }
  if (!quiet) note(io, "no matching records");
}

const recordsText = (number: number, more = ""): string =>
  `${formatCount(number)} ${more}record${number === 1 ? "" : "s"}`;

const reasonsText = ({ reasons }: ReplayReport): string =>
  reasons.map(({ reason, count: number }) => `${reason} (${formatCount(number)})`).join("; ");

async function replayAll({ store }: Records, flags: ReplayFlags, io: Io): Promise<ReplayReport> {
  const { decisionId } = flags;
  const query: Query = {
    ...timeRange(flags),
    ...(decisionId !== undefined && { decision_id: decisionId, kind: "decision" }),
  };
  const progress = walkProgress(flags, io, "replayed");
  const report = await replayLog(store, query, progress.show);
  progress.erase();
  return report;
}

async function replayNamed(references: readonly string[], records: Records): Promise<ReplayReport> {
  const lines = await Promise.all(references.map((reference) => findRecord(reference, records)));
  const other = lines.find(({ record }) => record.kind !== "decision");
  if (other !== undefined) {
    throw new DecisionError(
      "usage",
      `record ${other.record.seq} is not a decision, so it cannot be replayed`,
    );
  }
  return await replayLines(lines, records.store);
}

/** Throws if strict; otherwise prints the differences in the wording of the specification. */
function reportMismatches({ mismatches, mismatched }: ReplayReport, flags: ReplayFlags, io: Io): ExitCode {
  const [first] = mismatches;
  if (first === undefined) return 6;
  if (flags.strict) {
    const { expected, actual, differences } = first;
    const more = mismatched > 1 ? [`and ${recordsText(mismatched - 1, "more ")}`] : [];
    throw new ReplayMismatchError({
      expected,
      actual,
      differences: [...differences.map(mismatchText), ...more],
    });
  }
  for (const { record_id, seq, differences } of mismatches) {
    const where = mismatches.length === 1 ? "" : ` in ${record_id ?? `record ${seq}`}`;
    io.err.write(`[DecisionAgent::Replay] Non-strict mode differences detected${where}:\n`);
    for (const difference of differences) io.err.write(`  - ${changedText(difference)}\n`);
  }
  return 0;
}

interface PayloadFlags extends CommonFlags {
  readonly payload: string;
  readonly strict: boolean;
}

/** Replays audit payloads: one document, or one per line as `--inputs --format audit` prints them. */
async function replayPayloads(flags: PayloadFlags, io: Io): Promise<ExitCode> {
  const payloads = readPayloads(flags.payload, io);
  const format = formatFor(flags, io, { answer: payloads.length === 1 ? "one" : "many" });
  const print = (text: string): void => io.err.write(`${text}\n`);
  const replayed: ReplayedDecision[] = [];
  const failures: DecisionError[] = [];
  for (const [index, payload] of payloads.entries()) {
    try {
      replayed.push(replayPayload(payload, { strict: flags.strict, warn: print }));
      if (!hasHash(payload))
        warn(
          flags,
          io,
          `${linePrefix(payloads, index)}the payload has no hash, so its votes cannot be verified`,
        );
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      failures.push(withLinePrefix(error, linePrefix(payloads, index)));
    }
  }
  if (replayed.length > 0)
    io.out.write(await present(payloadReplayView(replayed), format, await styleFor(flags, io)));
  const [first, ...others] = failures;
  for (const other of others) print(`error: ${oneLine(other.message)}`);
  if (first !== undefined) throw first;
  return 0;
}

const hasHash = (payload: unknown): boolean =>
  typeof payload !== "object" ||
  payload === null ||
  ["deterministic_hash", ":deterministic_hash"].some((key) => Object.hasOwn(payload, key));

const linePrefix = ({ length }: readonly unknown[], index: number): string =>
  length === 1 ? "" : `line ${index + 1}: `;

/** Adds the line to the message of an error. */
function withLinePrefix(error: DecisionError, prefix: string): DecisionError {
  if (prefix === "") return error;
  const { code, message, hint, details } = error;
  return new DecisionError(code, `${prefix}${message}`, { hint, details, cause: error });
}

function readPayloads(value: string, io: Io): readonly unknown[] {
  const { text, from } = readText(value, io, "--payload");
  const whole = stripByteOrderMark(text).trim();
  if (whole === "") throw new DecisionError("input_invalid", `${from} is empty`, { hint: emptyHint });
  const lines = whole.split("\n");
  // `--format audit` writes payloads.
  const limits = { isAccepted: isOwnSpelling, hint: jsonHint(value, "--payload") };
  if (lines.length === 1 || !isJson(lines[0] ?? "")) return [parseDocument(whole, from, limits)];
  return lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [parseDocument(line, `line ${index + 1} of ${from}`, limits)],
  );
}

const emptyHint = "`agent-33 decision evaluate ID --input JSON --format audit` prints a payload";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
