import { existsSync, realpathSync, statSync } from "node:fs";
import type { Command } from "commander";
import { composeDefinitions } from "../../compose.js";
import { uniqueFetches } from "../../definition/fetches.js";
import type { FileSummary } from "../../definition/definition-file.js";
import { declaredEndpoints } from "../../definition/definition-file.js";
import type { Library } from "../../definition/library.js";
import { DecisionError } from "../../errors.js";
import { prepareLazily } from "../../evaluate/prepare-lazily.js";
import type { LoadedDefinition } from "../../model/definition.js";
import { formatCount } from "../../present/text.js";
import { present } from "../../present/format.js";
import { backtestView } from "../../present/replay-views.js";
import type { Records } from "../../record/records.js";
import type { BacktestReport } from "../../replay/backtest.js";
import { backtestLog } from "../../replay/backtest.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, TimeRangeFlags } from "../flags.js";
import {
  addCommonFlags,
  addStoreFlags,
  formatFor,
  styleFor,
  addTimeRangeFlags,
  timeRange,
} from "../flags.js";
import type { Io } from "../io.js";
import type { DefinitionFiles } from "../definition-files.js";
import { libraryOf, readDefinitionFiles } from "../definition-files.js";
import { Progress } from "../progress.js";
import { decisionsDirectory } from "../settings.js";
import { note, openRecords, warn, warnAboutDefinitions } from "../world.js";

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
  const most = flags.maxChange === undefined ? undefined : parseShare(flags.maxChange);
  const loaded = await definitionFor(id, flags, io);
  const report = await run(loaded, await openRecords(flags, io), flags, io);
  io.out.write(await present(backtestView(report), format, await styleFor(flags, io)));
  if (report.total === 0 && !flags.quiet) note(io, "no decision is recorded that fits");
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
  return most === undefined ? 0 : exitCodeFor(report, most);
}

/** Where nothing could be asked again, nothing is known to be within bounds. */
function exitCodeFor({ change_rate, total, not_replayable }: BacktestReport, most: number): ExitCode {
  const isUnknown = total > 0 && not_replayable === total;
  return isUnknown || change_rate > most ? 6 : 0;
}

async function definitionFor(id: string, flags: BacktestFlags, io: Io): Promise<LoadedDefinition> {
  const { against } = flags;
  const directory = decisionsDirectory(flags.decisions, io).value;
  const definitions = await (against === undefined
    ? composeDefinitions({ decisions: directory })
    : draftLibrary(against, directory, id));
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
  const progress = new Progress(io, flags.quiet);
  const query = { ...timeRange(flags), decision_id: definition.id, kind: "decision" as const };
  const ready = {
    loaded,
    prepared: await prepareLazily(definition),
    fetches: uniqueFetches(definition),
  };
  const report = await backtestLog(ready, store, query, (replayed) =>
    progress.show(
      (seconds) =>
        `${formatCount(replayed)} replayed, ${formatCount(Math.round(replayed / seconds))} per second`,
    ),
  );
  progress.erase();
  return report;
}

function parseShare(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim());
  const share = found === null ? Number.NaN : Number(found[1]) / (found[2] === "%" ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new DecisionError("usage", `--max-change must be a share (got \`${text}\`)`, {
    hint: "such as 5% or 0.05",
  });
}

/**
 * The definitions of another directory; or those of one file in the place of those with the same ids, so that
 * the guardrails and targets beside them count as they would if it were put there. A file that has no say in
 * the decision is refused, as what is there already would pass for it.
 */
async function draftLibrary(against: string, directory: string, id: string): Promise<Library> {
  if (!isFile(against)) return libraryOf(await readDefinitionFiles(against, true));
  const draft = await readDefinitionFiles(against, false);
  for (const summary of draft.summaries) assertDefines(summary, id);
  if (!existsSync(directory)) return libraryOf(draft);
  return libraryOf(replaceDefinitions(await readDefinitionFiles(directory, true), draft, against));
}

function assertDefines(summary: FileSummary, id: string): void {
  const { file, diagnostics: problems, definitions, guardrails, targets, endpoints } = summary;
  if (problems.length > 0) {
    throw new DecisionError("definition_invalid", `\`${file}\` is not valid`, { details: { problems } });
  }
  const ids = definitions.map((each) => each.id);
  const isBeside = [guardrails, targets, endpoints].some((each) => each !== undefined);
  if (isBeside || ids.includes(id)) return;
  throw new DecisionError("definition_not_found", `\`${file}\` defines no decision called \`${id}\``, {
    hint:
      ids.length === 0
        ? "it defines none at all"
        : `it defines ${ids.map((each) => `\`${each}\``).join(", ")}`,
  });
}

function replaceDefinitions(beside: DefinitionFiles, draft: DefinitionFiles, path: string): DefinitionFiles {
  const ids = new Set(
    draft.summaries.flatMap(({ definitions, claimedIds: claimed }) => [
      ...definitions.map(({ id }) => id),
      ...claimed,
    ]),
  );
  const endpoints = new Set(declaredEndpoints(draft.summaries).map(({ name }) => name));
  const isOther = ({ file }: { readonly file: string }): boolean => !isSameFile(file, path);
  const kept = beside.summaries.filter(isOther).map((summary) => ({
    ...summary,
    definitions: summary.definitions.filter(({ id }) => !ids.has(id)),
    ...(summary.endpoints && { endpoints: summary.endpoints.filter(({ name }) => !endpoints.has(name)) }),
  }));
  return {
    summaries: [...kept, ...draft.summaries],
    located: [...beside.located.filter(isOther), ...draft.located],
  };
}

function isSameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    throw new DecisionError("usage", `there is no file or directory \`${path}\``, {
      hint: "--against takes the path of a definition file, or of a directory of them",
      cause: error,
    });
  }
}
