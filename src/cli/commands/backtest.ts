import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import { prepareLazily } from "../../evaluate/prepare-lazily.js";
import type { LoadedDefinition } from "../../model/definition.js";
import { backtestView } from "../../present/backtest-view.js";
import { count } from "../../present/amounts.js";
import { present } from "../../present/format.js";
import type { Records } from "../../record/records.js";
import type { BacktestReport } from "../../replay/backtest.js";
import { Backtest } from "../../replay/backtest.js";
import { libraryAgainst } from "../definition-against.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress } from "../progress.js";
import { decisionsDirectory } from "../settings.js";
import type { TimeRangeFlags } from "../time-range.js";
import { addTimeRangeFlags, timeRange } from "../time-range.js";
import { note, openRecords, warn, warnOfProblems } from "../world.js";

interface BacktestFlags extends StoreFlags, TimeRangeFlags {
  readonly against?: string;
  readonly maxChange?: string;
}

export function addBacktestCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("backtest")
    .argument("<id>", "the decision's id")
    .option("--against <path>", "the definition in this file or directory; else the one of today")
    .option("--max-change <share>", "exit with 6 where more would change, such as 5% or 0.05");
  addTimeRangeFlags(command);
  addCommonFlags(addStoreFlags(command))
    .summary("show what another definition would have changed")
    .description(
      "Asks a definition what the records of the decision were asked, with their contexts, facts and times, and shows what " +
        "would have come out differently: how much, from what to what, and examples. What was held back and would be let " +
        "through comes first. Nothing is recorded.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision backtest decision-quality-gate
  $ agent-33 decision backtest loan-approval --against draft/loan.yaml --since 30d
  $ agent-33 decision backtest decision-quality-gate --max-change 5%`,
    )
    .action(async (id: string, flags: BacktestFlags) => done(await backtest(id, flags, io)));
}

async function backtest(id: string, flags: BacktestFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const most = flags.maxChange === undefined ? undefined : shareOf(flags.maxChange);
  const loaded = await definitionFor(id, flags, io);
  const report = await run(loaded, await openRecords(flags, io), flags, io);
  io.out.write(await present(backtestView(report), format, await styleFor(flags, io)));
  if (report.total === 0 && !flags.quiet) note(io, "no decision is recorded that fits");
  if (report.not_replayable > 0) {
    const why = report.reasons.map(({ reason, count: number }) => `${reason} (${count(number)})`).join("; ");
    warn(
      flags,
      io,
      `${count(report.not_replayable)} of ${count(report.total)} could not be replayed: ${why}`,
    );
  }
  return most === undefined ? 0 : judged(report, most);
}

/** Where nothing could be asked again, nothing is known to be within bounds. */
function judged({ change_rate, total, not_replayable }: BacktestReport, most: number): ExitCode {
  const isUnknown = total > 0 && not_replayable === total;
  return isUnknown || change_rate > most ? 6 : 0;
}

async function definitionFor(id: string, flags: BacktestFlags, io: Io): Promise<LoadedDefinition> {
  const { against } = flags;
  const directory = decisionsDirectory(flags.decisions, io).value;
  const definitions = await (against === undefined
    ? composeDefinitions({ decisions: directory })
    : libraryAgainst(against, directory, id));
  const loaded = await definitions.find(id);
  warnOfProblems(flags, io, definitions.problems);
  return loaded;
}

async function run(
  loaded: LoadedDefinition,
  { store }: Records,
  flags: BacktestFlags,
  io: Io,
): Promise<BacktestReport> {
  const { definition } = loaded;
  const test = new Backtest({ loaded, prepared: await prepareLazily(definition) }, store);
  const progress = new Progress(io, flags.quiet);
  const query = { ...timeRange(flags), decision_id: definition.id, kind: "decision" as const };
  for await (const line of store.log.select(query, (unreadable) => test.addUnreadable(unreadable))) {
    const added = test.add(line);
    if (added !== undefined) await added;
    progress.show((seconds) => {
      const { done } = test;
      return `${count(done)} asked again, ${count(Math.round(done / seconds))} per second`;
    });
  }
  progress.erase();
  return test.report();
}

function shareOf(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim());
  const share = found === null ? Number.NaN : Number(found[1]) / (found[2] === "%" ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new DecisionError("usage", `--max-change must be a share (got \`${text}\`)`, {
    hint: "such as 5% or 0.05",
  });
}
