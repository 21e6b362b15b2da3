import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { Tally, TimeRange } from "../../model/store.js";
import { distributionView } from "../../present/distribution-view.js";
import { present } from "../../present/format.js";
import type { CurrentDefinition, Distribution } from "../../record/distribution.js";
import { computeDistribution } from "../../record/distribution.js";
import { latestStoredDefinition } from "../../record/stored-definition.js";
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
import type { ReadableWorld } from "../world.js";
import { openReadableWorld, openRecords, warn, warnIfStoreMissing, warnAboutDefinitions } from "../world.js";

interface DistributionFlags extends StoreFlags, TimeRangeFlags {
  readonly check?: boolean;
  readonly watch?: boolean;
}

export function addDistributionCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent.command("distribution").argument("<id>", "the decision's id");
  addTimeRangeFlags(command)
    .option("--check", "exit with 6 where a weighted decision does not split as its weights say")
    .option("--watch", "on a terminal: draw it anew every second until Ctrl-C");
  addCommonFlags(addStoreFlags(command))
    .summary("show how often each branch was taken")
    .description(
      "Counts the records of a decision by branch. For a weighted decision it also says whether the split is what " +
        "the weights promise: a chi-square test over the distinct inputs of the current definition, which takes " +
        "a split for wrong that chance brings about less than once in a thousand.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision distribution decision-ab-prompt-variant
  $ agent-33 decision distribution decision-ab-prompt-variant --since 7d --check
  $ agent-33 decision distribution decision-escalation-rules --since 2026-11-01 --until 2026-11-08 --json`,
    )
    .action(async (id: string, flags: DistributionFlags) => {
      done(await (flags.watch ? watch : showOnce)(id, flags, io));
    });
}

async function showOnce(id: string, flags: DistributionFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const range = timeRange(flags);
  const known = await openSource(flags, io);
  const current = await currentDefinition(id, known);
  const distribution = computeDistribution(id, await tallyOf(id, known, range), current);
  io.out.write(await present(distributionView(distribution), format, await styleFor(flags, io)));
  warnAboutDefinitions(flags, io, known.definitions.diagnostics);
  return flags.check ? checkDistribution(distribution, flags, io) : 0;
}

/** Only what is needed here. */
interface DistributionSource {
  readonly definitions: Pick<ReadableWorld["definitions"], "diagnostics" | "findForInspection">;
  readonly records: ReadableWorld["records"];
}

/** What is remembered can be counted where nothing is defined any more, unless something else was asked for. */
async function openSource(flags: DistributionFlags, io: Io): Promise<DistributionSource> {
  try {
    const known = await openReadableWorld(flags, io);
    warnIfStoreMissing(flags, io);
    return known;
  } catch (error) {
    if (!isCode(error, ["definitions_missing"]) || flags.decisions !== undefined) throw error;
    return {
      definitions: { findForInspection: () => Promise.reject(error), diagnostics: [] },
      records: await openRecords(flags, io),
    };
  }
}

/** The one of today; else the last that decided something. */
async function currentDefinition(
  id: string,
  { definitions, records }: DistributionSource,
): Promise<CurrentDefinition> {
  try {
    return await definitions.findForInspection(id);
  } catch (error) {
    if (!isCode(error, ["definition_not_found", "definitions_missing"])) throw error;
    const last = await latestStoredDefinition(id, records.store);
    if (last === "none") throw error;
    return last;
  }
}

const isCode = (error: unknown, codes: readonly string[]): error is DecisionError =>
  error instanceof DecisionError && codes.includes(error.code);

function tallyOf(id: string, known: DistributionSource, range: TimeRange): Promise<Tally> {
  return known.records.log.tally(id, range);
}

function checkDistribution(
  { check, distinct_inputs }: Distribution,
  flags: DistributionFlags,
  io: Io,
): ExitCode {
  if (check?.mismatch) return 6;
  if (distinct_inputs === null) {
    warn(flags, io, "nothing can be checked: the inputs are masked, so they cannot be told apart");
  } else if (check === null) {
    warn(flags, io, "nothing to check: only a weighted decision without conditions has expected shares");
  } else if (!check.reliable) {
    warn(flags, io, `too few distinct inputs to tell (${check.sample} so far)`);
  }
  return 0;
}

async function watch(id: string, flags: DistributionFlags, io: Io): Promise<ExitCode> {
  if (flags.check) {
    throw new DecisionError("usage", "--check and --watch exclude each other", {
      hint: "leave one of them out: --check judges the numbers of this moment, --watch goes on",
    });
  }
  if (!io.out.isTerminal || formatFor(flags, io, { answer: "one" }) !== "table") {
    throw new DecisionError("usage", "--watch draws a table on a terminal, and only there", {
      hint: "leave --watch out to have the numbers once",
    });
  }
  timeRange(flags);
  const known = await openSource(flags, io);
  const current = await currentDefinition(id, known);
  warnAboutDefinitions(flags, io, known.definitions.diagnostics);
  await redrawUntilInterrupted(io, async () => {
    // Anew each time: `--since 1h` moves along.
    const distribution = computeDistribution(id, await tallyOf(id, known, timeRange(flags)), current);
    return present(distributionView(distribution), "table", await styleFor(flags, io));
  });
  return 130;
}

const everyMilliseconds = 1000;

/** Draws in place, one read after the other; Ctrl-C leaves the last picture and a fresh line. */
async function redrawUntilInterrupted(io: Io, draw: () => Promise<string>): Promise<void> {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const stop = (): void => interrupt.abort();
  process.once("SIGINT", stop);
  try {
    let height = 0;
    do {
      const lines = fitToScreen(await draw());
      io.out.write(frame(lines, height));
      height = lines.length;
      if (!signal.aborted) await pause(everyMilliseconds, signal);
    } while (!signal.aborted);
    // Over the `^C` that the terminal has shown.
    io.out.write("\r\u001b[K");
  } finally {
    process.removeListener("SIGINT", stop);
  }
}

/** What scrolled off the top could not be drawn over. */
function fitToScreen(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  const most = Math.max(1, (process.stdout.rows || 24) - 1);
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), "…"];
}

/** One write, line over line, so that nothing flickers; lines are not wrapped, or counting them would go wrong. */
function frame(lines: readonly string[], heightBefore: number): string {
  const up = heightBefore === 0 ? "" : `\u001b[${heightBefore}A`;
  const drawn = lines.map((line) => `${line}\u001b[K\n`).join("");
  return `${up}\r\u001b[?7l${drawn}\u001b[J\u001b[?7h`;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal.addEventListener("abort", wake);
  });
}
