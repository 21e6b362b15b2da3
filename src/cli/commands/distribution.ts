import { setTimeout as sleep } from "node:timers/promises";
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
import { terminalText } from "../../text.js";

interface DistributionFlags extends StoreFlags, TimeRangeFlags {
  readonly check?: boolean;
  readonly watch?: boolean;
}

export function addDistributionCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent.command("distribution").argument("<id>", "id of the decision");
  addTimeRangeFlags(command)
    .option("--check", "exit with code 6 if the split of a weighted decision does not match its weights")
    .option("--watch", "refresh every second until Ctrl-C (terminal only)");
  addCommonFlags(addStoreFlags(command))
    .summary("show how often each branch was selected")
    .description(
      "Count the records of a decision by branch. For a weighted decision, also test whether the split matches the " +
        "weights, over the distinct inputs of the current definition. A mismatch is an e-value of at least 1,000, which " +
        "at most 1 of 1,000 correct splits ever reaches, however often you look. The p of a chi-square test is shown, too.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision distribution decision-ab-prompt-variant
  $ agent-33 decision distribution decision-ab-prompt-variant --since 7d --check
  $ agent-33 decision distribution decision-escalation-rules \\
      --since 2026-11-01 --until 2026-11-08 --json`,
    )
    .action(async (id: string, flags: DistributionFlags) => {
      done(await (flags.watch ? watch : showOnce)(id, flags, io));
    });
}

async function showOnce(id: string, flags: DistributionFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const range = timeRange(flags);
  const source = await openSource(flags, io);
  const current = await currentDefinition(id, source);
  const distribution = computeDistribution(id, await tallyOf(id, source, range), current);
  io.out.write(await present(distributionView(distribution), format, await styleFor(flags, io)));
  warnAboutDefinitions(flags, io, source.definitions.diagnostics);
  return flags.check ? checkDistribution(distribution, flags, io) : 0;
}

interface DistributionSource {
  readonly definitions: Pick<ReadableWorld["definitions"], "diagnostics" | "findForInspection">;
  readonly records: ReadableWorld["records"];
}

/** Opens definitions and records; the records alone if there are no definitions and --decisions is not used. */
async function openSource(flags: DistributionFlags, io: Io): Promise<DistributionSource> {
  try {
    const world = await openReadableWorld(flags, io);
    warnIfStoreMissing(flags, io);
    return world;
  } catch (error) {
    if (!isCode(error, ["definitions_missing"]) || flags.decisions !== undefined) throw error;
    return {
      definitions: { findForInspection: () => Promise.reject(error), diagnostics: [] },
      records: await openRecords(flags, io),
    };
  }
}

/** Returns the current definition, or the last recorded one if it no longer exists. */
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

function tallyOf(id: string, source: DistributionSource, range: TimeRange): Promise<Tally> {
  return source.records.log.tally(id, range);
}

function checkDistribution(
  { check, distinct_inputs }: Distribution,
  flags: DistributionFlags,
  io: Io,
): ExitCode {
  if (check?.mismatch) return 6;
  if (distinct_inputs === null) {
    warn(flags, io, "cannot check: the inputs are masked, so distinct inputs cannot be counted");
  } else if (check === null) {
    warn(flags, io, "nothing to check: only weighted decisions without conditions have expected shares");
  } else if (!check.reliable) {
    warn(flags, io, `not enough distinct inputs to check (${check.sample} so far)`);
  }
  return 0;
}

async function watch(id: string, flags: DistributionFlags, io: Io): Promise<ExitCode> {
  if (flags.check) {
    throw new DecisionError("usage", "--check and --watch cannot be combined", {
      hint: "remove one of them",
    });
  }
  if (!io.out.isTerminal || formatFor(flags, io, { answer: "one" }) !== "table") {
    throw new DecisionError("usage", "--watch requires a terminal and the table format", {
      hint: "remove --watch to print the distribution once",
    });
  }
  timeRange(flags);
  const source = await openSource(flags, io);
  const current = await currentDefinition(id, source);
  warnAboutDefinitions(flags, io, source.definitions.diagnostics);
  await redrawUntilInterrupted(io, async () => {
    // Parsed every time: `--since 1h` moves with the clock.
    const distribution = computeDistribution(id, await tallyOf(id, source, timeRange(flags)), current);
    return present(distributionView(distribution), "table", await styleFor(flags, io));
  });
  return 130;
}

const refreshInterval = 1000;

/** Redraws in place until Ctrl-C, which leaves the last output on the screen. */
async function redrawUntilInterrupted(io: Io, draw: () => Promise<string>): Promise<void> {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const stop = (): void => interrupt.abort();
  process.once("SIGINT", stop);
  try {
    let height = 0;
    do {
      const lines = fitToScreen(terminalText(await draw()));
      io.out.draw(frame(lines, height));
      height = lines.length;
      if (!signal.aborted) await sleep(refreshInterval, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted);
    // Erases the `^C` that the terminal prints.
    io.out.draw("\r\u001b[K");
  } finally {
    process.removeListener("SIGINT", stop);
  }
}

/** Cuts the text to the height of the terminal: lines that scrolled off the top cannot be redrawn. */
function fitToScreen(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  const height = Math.max(1, (process.stdout.rows || 24) - 1);
  return lines.length <= height ? lines : [...lines.slice(0, height - 1), "…"];
}

/** Returns one write that overwrites the previous lines without flicker. Wrapping is off, so that lines can be counted. */
function frame(lines: readonly string[], heightBefore: number): string {
  const up = heightBefore === 0 ? "" : `\u001b[${heightBefore}A`;
  const drawn = lines.map((line) => `${line}\u001b[K\n`).join("");
  return `${up}\r\u001b[?7l${drawn}\u001b[J\u001b[?7h`;
}
