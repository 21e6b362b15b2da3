import type { Command } from "commander";
import { ReplayMismatchError, DecisionError } from "../../errors.js";
import type { Query } from "../../model/store.js";
import { printable } from "../../text.js";
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
import { parseJson, readText, stripByteOrderMark } from "../input.js";
import type { Io } from "../io.js";
import { Progress } from "../progress.js";
import { note, openRecords, assertStoreExists, warn } from "../world.js";

interface ReplayFlags extends StoreFlags, TimeRangeFlags {
  readonly all?: boolean;
  readonly decisionId?: string;
  readonly payload?: string;
  readonly strict: boolean;
}

export function addReplayCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("replay")
    .argument("[record...]", "records: an id or the beginning of one, a number in the log, or latest")
    .option("--all", "all records, or those that the following flags leave")
    .option("--decision-id <id>", "only this decision")
    .option(
      "--payload <json>",
      "audit payloads of scored decisions instead: JSON, @file, or - for standard input",
    )
    .option("--no-strict", "tell of differences on stderr, and exit with 0");
  addTimeRangeFlags(command);
  addCommonFlags(addStoreFlags(command))
    .summary("prove that past decisions come to the same answer again")
    .description(
      "Asks the question of a record again: its context and its facts, of the definition that it was made with, which " +
        "the store keeps whatever has become of the file. The answer and the deterministic hash must be the same, else the " +
        "exit code is 6. What cannot be replayed, as its inputs were not logged or are masked, is counted and named. " +
        "Needs neither clock nor network nor definitions.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision replay latest
  $ agent-33 decision replay --all --since 7d
  $ agent-33 decision replay --all --decision-id loan-approval --json
  $ agent-33 decision evaluate loan-approval --input @context.json --format audit | agent-33 decision replay --payload -`,
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
  const ways = [references.length > 0, flags.all === true, flags.payload !== undefined].filter(
    Boolean,
  ).length;
  if (ways === 0) {
    throw new DecisionError("usage", "there is nothing to replay", {
      hint: "name a record, as in `replay latest`; or give --all or --payload",
    });
  }
  if (ways > 1) {
    throw new DecisionError("usage", "records, --all and --payload exclude each other");
  }
  const isFiltered = [flags.decisionId, flags.since, flags.until].some((each) => each !== undefined);
  if (isFiltered && !flags.all) {
    throw new DecisionError("usage", "--decision-id, --since and --until go with --all", {
      hint: "add --all",
    });
  }
}

async function replay(references: readonly string[], flags: ReplayFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  assertStoreExists(flags, io);
  const records = await openRecords(flags, io);
  const report = flags.all ? await replayAll(records, flags, io) : await replayNamed(references, records);
  io.out.write(await present(replayView(report), format, await styleFor(flags, io)));
  if (report.total === 0) noteNothing(flags, io);
  if (report.not_replayable > 0) {
    warn(flags, io, `${recordsText(report.not_replayable)} could not be replayed: ${reasonsText(report)}`);
  }
  if (report.mismatched > 0) return reportMismatches(report, flags, io);
  // Who asks must not take silence for proof.
  const isUnproven = report.not_replayable > 0 && (!flags.all || report.matched === 0);
  return isUnproven ? 1 : 0;
}

function noteNothing({ decisionId, since, until, quiet }: ReplayFlags, io: Io): void {
  if (decisionId !== undefined && since === undefined && until === undefined) {
    throw new DecisionError("record_not_found", `no decision called \`${decisionId}\` is recorded`, {
      hint: "see `agent-33 decision log`",
    });
  }
  if (!quiet) note(io, "no decision is recorded that fits");
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
  const progress = new Progress(io, flags.quiet);
  const report = await replayLog(store, query, (done) =>
    progress.show(
      (seconds) => `${formatCount(done)} replayed, ${formatCount(Math.round(done / seconds))} per second`,
    ),
  );
  progress.erase();
  return report;
}

async function replayNamed(references: readonly string[], records: Records): Promise<ReplayReport> {
  const lines = await Promise.all(references.map((reference) => findRecord(reference, records)));
  const other = lines.find(({ record }) => record.kind !== "decision");
  if (other !== undefined) {
    throw new DecisionError("usage", `record ${other.record.seq} is no decision, so it cannot be replayed`);
  }
  return await replayLines(lines, records.store);
}

/** Strict, it is an error; else it is told in the words of the contract. */
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

/** Decides again by the votes of audit payloads: one document, or one on each line as `--inputs --format audit` writes them. */
export async function replayPayloads(flags: PayloadFlags, io: Io): Promise<ExitCode> {
  const payloads = readPayloads(flags.payload, io);
  const format = formatFor(flags, io, { answer: payloads.length === 1 ? "one" : "many" });
  const tell = (text: string): void => io.err.write(`${text}\n`);
  const replayed: ReplayedDecision[] = [];
  const failures: DecisionError[] = [];
  for (const [index, payload] of payloads.entries()) {
    try {
      replayed.push(replayPayload(payload, { strict: flags.strict, warn: tell }));
      if (!hasHash(payload))
        warn(flags, io, `${linePrefix(payloads, index)}it has no hash, so nothing proves its votes`);
    } catch (error) {
      if (!(error instanceof DecisionError)) throw error;
      failures.push(withLinePrefix(error, linePrefix(payloads, index)));
    }
  }
  if (replayed.length > 0)
    io.out.write(await present(payloadReplayView(replayed), format, await styleFor(flags, io)));
  const [first, ...others] = failures;
  for (const other of others) tell(`error: ${printable(other.message)}`);
  if (first !== undefined) throw first;
  return 0;
}

const hasHash = (payload: unknown): boolean =>
  typeof payload !== "object" ||
  payload === null ||
  ["deterministic_hash", ":deterministic_hash"].some((key) => Object.hasOwn(payload, key));

const linePrefix = ({ length }: readonly unknown[], index: number): string =>
  length === 1 ? "" : `line ${index + 1}: `;

/** The same error, saying where; one payload alone needs no place. */
function withLinePrefix(error: DecisionError, where: string): DecisionError {
  if (where === "") return error;
  const { code, message, hint, details } = error;
  return new DecisionError(code, `${where}${message}`, { hint, details, cause: error });
}

function readPayloads(given: string, io: Io): readonly unknown[] {
  const { text, from } = readText(given, io, "--payload");
  const whole = stripByteOrderMark(text).trim();
  if (whole === "") throw new DecisionError("input_invalid", `${from} is empty`);
  const lines = whole.split("\n");
  if (lines.length === 1 || !isJson(lines[0] ?? "")) return [parseJson(whole, from)];
  return lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [parseJson(line, `line ${index + 1} of ${from}`)],
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
