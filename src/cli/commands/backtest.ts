import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { uniqueFetches } from "../../definition/fetches.js";
import { DecisionError } from "../../errors.js";
import { prepareLoaded } from "../../evaluate/prepare-lazily.js";
import type { LoadedDefinition } from "../../model/definition.js";
import { formatCount } from "../../present/text.js";
import { present } from "../../present/format.js";
import { backtestView } from "../../present/replay-views.js";
import type { Records } from "../../record/records.js";
import type { BacktestReport } from "../../replay/backtest.js";
import { backtestLog } from "../../replay/backtest.js";
import type { ExitCode } from "../exit-codes.js";
import type { AllowEmptyFlag, StoreFlags, TimeRangeFlags } from "../flags.js";
import {
  addAllowEmptyFlag,
  addCommonFlags,
  failUnlessAllowed,
  addStoreFlags,
  formatFor,
  styleFor,
  addTimeRangeFlags,
  timeRange,
} from "../flags.js";
import type { Io } from "../io.js";
import { draftLibrary } from "../draft-definitions.js";
import { walkProgress } from "../progress.js";
import { decisionsDirectory } from "../settings.js";
import type { DamageWatch } from "../world.js";
import { note, openRecords, warn, warnAboutDefinitions } from "../world.js";

interface BacktestFlags extends StoreFlags, TimeRangeFlags, AllowEmptyFlag {
  readonly against?: string;
  readonly maxChange?: string;
}

export function addBacktestCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("backtest")
    .argument("<id>", "id of the decision")
    .option("--against <path>", "definition file or directory to test (default: the current definition)")
    .option(
      "--max-change <share>",
      "exit with code 6 if a larger share of results changes, such as 5% or 0.05",
    );
  addAllowEmptyFlag(addTimeRangeFlags(command));
  addCommonFlags(addStoreFlags(command))
    .summary("evaluate past decisions with another definition")
    .description(
      "Evaluate the recorded contexts of a decision again, with their facts and times, and show which results would " +
        "change: how many, from what to what, and examples. Decisions that were blocked or denied and would now pass come " +
        "first. Nothing is recorded.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision backtest expense-approval
  $ agent-33 decision backtest expense-approval --against draft.yaml
  $ agent-33 decision backtest expense-approval --max-change 5%`,
    )
    .action(async (id: string, flags: BacktestFlags) => done(await backtest(id, flags, io)));
}

async function backtest(id: string, flags: BacktestFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const maxChange = flags.maxChange === undefined ? undefined : parseShare(flags.maxChange);
  const loaded = await definitionFor(id, flags, io);
  const damage: DamageWatch | undefined = maxChange === undefined ? undefined : { isDamaged: false };
  const report = await run(loaded, await openRecords(flags, io, damage), flags, io);
  io.out.write(await present(backtestView(report), format, await styleFor(flags, io)));
  if (report.total === 0 && maxChange !== undefined)
    failUnlessAllowed(flags, "there are no matching records");
  if (report.total === 0 && !flags.quiet) note(io, "no matching records");
  if (report.not_replayable > 0) {
    const why = report.reasons
      .map(({ reason, count: number }) => `${reason} (${formatCount(number)})`)
      .join("; ");
    warn(
      flags,
      io,
      `${formatCount(report.not_replayable)} of ${formatCount(report.total)} could not be replayed: ${why}`,
    );
  }
  if (maxChange === undefined) return 0;
  return damage?.isDamaged === true ? 6 : exitCodeFor(report, maxChange);
}

/** Fails if no record could be replayed: then nothing is known about the changes. */
function exitCodeFor({ change_rate, total, not_replayable }: BacktestReport, maxChange: number): ExitCode {
  const isUnknown = total > 0 && not_replayable === total;
  return isUnknown || change_rate > maxChange ? 6 : 0;
}

async function definitionFor(id: string, flags: BacktestFlags, io: Io): Promise<LoadedDefinition> {
  const { against } = flags;
  const directory = decisionsDirectory(flags.decisions, io).value;
  const definitions = await (against === undefined
    ? composeDefinitions({ decisions: directory })
    : draftLibrary(against, { id, directory, mayBeShared: true }));
  const loaded = await definitions.find(id);
  warnAboutDefinitions(flags, io, definitions.diagnostics);
  return loaded;
}

async function run(
  loaded: LoadedDefinition,
  { store }: Records,
  flags: BacktestFlags,
  io: Io,
): Promise<BacktestReport> {
  const { definition } = loaded;
  const progress = walkProgress(flags, io, "replayed");
  const query = { ...timeRange(flags), decision_id: definition.id, kind: "decision" as const };
  const ready = {
    loaded,
    prepared: await prepareLoaded(loaded),
    fetches: uniqueFetches(definition),
  };
  const report = await backtestLog(ready, store, query, progress.show);
  progress.erase();
  return report;
}

function parseShare(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim());
  const share = found === null ? Number.NaN : Number(found[1]) / (found[2] === "%" ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new DecisionError(
    "usage",
    `--max-change must be a share from 0 to 1 or a percentage (got \`${text}\`)`,
    {
      hint: "such as 5% or 0.05",
    },
  );
}
