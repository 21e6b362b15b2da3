import type { Command } from "commander";
import { ReplayMismatchError } from "../../contract-errors.js";
import { DecisionError } from "../../errors.js";
import type { Query } from "../../model/store.js";
import { count } from "../../present/amounts.js";
import { present } from "../../present/format.js";
import { replayView } from "../../present/replay-view.js";
import type { Records } from "../../record/records.js";
import { changedText, mismatchText } from "../../replay/difference-text.js";
import type { ReplayReport } from "../../replay/replay-log.js";
import { Replay, replayLog } from "../../replay/replay-log.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress } from "../progress.js";
import { findRecord } from "../../record/record-reference.js";
import type { TimeRangeFlags } from "../time-range.js";
import { addTimeRangeFlags, timeRange } from "../time-range.js";
import { note, openRecords, refuseMissingStore, warn } from "../world.js";

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
      refuseMixed(references, flags);
      if (flags.payload !== undefined) {
        const { replayPayloads } = await import("../replay-payloads.js");
        done(await replayPayloads({ ...flags, payload: flags.payload }, io));
        return;
      }
      done(await replay(references, flags, io));
    });
}

function refuseMixed(references: readonly string[], flags: ReplayFlags): void {
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
  refuseMissingStore(flags, io);
  const records = await openRecords(flags, io);
  const report = flags.all ? await replayAll(records, flags, io) : await replayNamed(references, records);
  io.out.write(await present(replayView(report), format, await styleFor(flags, io)));
  if (report.total === 0) noteNothing(flags, io);
  if (report.not_replayable > 0) {
    warn(flags, io, `${recordsText(report.not_replayable)} could not be replayed: ${reasonsOf(report)}`);
  }
  if (report.mismatched > 0) return differing(report, flags, io);
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
  `${count(number)} ${more}record${number === 1 ? "" : "s"}`;

const reasonsOf = ({ reasons }: ReplayReport): string =>
  reasons.map(({ reason, count: number }) => `${reason} (${count(number)})`).join("; ");

async function replayAll({ store }: Records, flags: ReplayFlags, io: Io): Promise<ReplayReport> {
  const { decisionId } = flags;
  const query: Query = {
    ...timeRange(flags),
    ...(decisionId !== undefined && { decision_id: decisionId, kind: "decision" }),
  };
  const progress = new Progress(io, flags.quiet);
  const report = await replayLog(store, query, (done) =>
    progress.show((seconds) => `${count(done)} replayed, ${count(Math.round(done / seconds))} per second`),
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
  const replay = new Replay(records.store);
  for (const line of lines) await replay.add(line);
  return replay.report();
}

/** Strict, it is an error; else it is told in the words of the contract. */
function differing({ mismatches, mismatched }: ReplayReport, flags: ReplayFlags, io: Io): ExitCode {
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
