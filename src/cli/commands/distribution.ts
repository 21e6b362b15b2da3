import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { Store, Tally } from "../../model/store.js";
import { distributionView } from "../../present/distribution-view.js";
import { present } from "../../present/format.js";
import type { CurrentDefinition, DefinitionDistribution, Distribution } from "../../record/distribution.js";
import { computeDistribution, countPeriods, distributionOf } from "../../record/distribution.js";
import { parseChoice } from "../../record/record-query.js";
import {
  findDefinitionByHash,
  findStoredDefinition,
  latestStoredDefinition,
} from "../../record/stored-definition.js";
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
import { assertOpen } from "../io.js";
import type { DamageWatch, ReadableWorld } from "../world.js";
import { openReadableWorld, openRecords, warn, warnIfStoreMissing, warnAboutDefinitions } from "../world.js";
import { terminalText } from "../../text.js";

interface DistributionFlags extends StoreFlags, TimeRangeFlags, AllowEmptyFlag {
  readonly check?: boolean;
  readonly watch?: boolean;
  readonly hash?: string;
  readonly allDefinitions?: boolean;
  readonly by?: string;
}

export function addDistributionCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent.command("distribution").argument("<id>", "id of the decision");
  addTimeRangeFlags(command)
    .option("--hash <hash>", "show an earlier definition: its hash or a unique prefix")
    .option("--all-definitions", "list the other definitions that have records, too, each with its own check")
    .option("--by <period>", "list the counts of each day or hour (UTC), too")
    .option("--check", "exit with code 6 if the split of a weighted decision does not match its weights")
    .option("--watch", "refresh every second until Ctrl-C (terminal only)");
  addCommonFlags(addStoreFlags(addAllowEmptyFlag(command)))
    .summary("show how often each branch was selected")
    .description(
      "Count the records of the current definition of a decision by branch. For a weighted decision, also test whether " +
        "the split of its distinct inputs matches the weights. A mismatch is an e-value of at least 1,000, which " +
        "at most 1 of 1,000 correct splits ever reaches, however often you look. The p of a chi-square test is shown, too.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision distribution prompt-test
  $ agent-33 decision distribution prompt-test --since 7d --check
  $ agent-33 decision distribution prompt-test --by day
  $ agent-33 decision distribution prompt-test --all-definitions
  $ agent-33 decision distribution expense-approval \\
      --since 2026-11-01 --until 2026-11-08 --json`,
    )
    .action(async (id: string, flags: DistributionFlags) => {
      done(await (flags.watch ? watch : showOnce)(id, flags, io));
    });
}

async function showOnce(id: string, flags: DistributionFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  timeRange(flags);
  const damage: DamageWatch | undefined = flags.check ? { isDamaged: false } : undefined;
  const source = await openSource(flags, io, damage);
  const distribution = await measure(await chooseDefinition(id, source, flags), source, flags);
  io.out.write(await present(distributionView(distribution), format, await styleFor(flags, io)));
  warnAboutDefinitions(flags, io, source.definitions.diagnostics);
  if (!flags.check) return 0;
  const exitCode = checkDistribution(distribution, flags, io);
  return damage?.isDamaged === true ? 6 : exitCode;
}

/** The decision, its current definition, and the one to show. */
interface Choice {
  readonly id: string;
  readonly current: CurrentDefinition;
  readonly shown: CurrentDefinition;
}

async function chooseDefinition(
  id: string,
  source: DistributionSource,
  { hash }: DistributionFlags,
): Promise<Choice> {
  const current = await currentDefinition(id, source);
  if (hash === undefined) return { id, current, shown: current };
  try {
    return { id, current, shown: await findDefinitionByHash(id, hash, source.records.store) };
  } catch (error) {
    // The current definition is stored with its first record.
    const isCurrent = current?.definition_hash.startsWith(hash.toLowerCase()) ?? false;
    if (!isCode(error, ["definition_not_found"]) || !isCurrent) throw error;
    return { id, current, shown: current };
  }
}

async function measure(
  { id, current, shown }: Choice,
  { records: { log, store } }: DistributionSource,
  flags: DistributionFlags,
): Promise<Distribution> {
  const range = timeRange(flags);
  const by = flags.by === undefined ? undefined : parseChoice("period", flags.by, ["day", "hour"]);
  const tally = await log.tally(id, range);
  const distribution = computeDistribution(id, tally, current, shown);
  const { definition_hash } = distribution;
  return {
    ...distribution,
    ...(flags.allDefinitions && {
      other_definitions: await otherDefinitions(tally, definition_hash, store),
    }),
    ...(by && { periods: countPeriods(await log.tallyByHour(id, range), definition_hash, by) }),
  };
}

const noRecords = { total: 0, counts: {}, distinct_inputs: 0 };

/** Returns the distributions of the other definitions that have records, the newest first. */
async function otherDefinitions(
  tally: Tally,
  shownHash: string | null,
  store: Store,
): Promise<readonly DefinitionDistribution[]> {
  const hashes = Object.keys(tally.definitions).filter((hash) => hash !== shownHash && shownHash !== null);
  const others: DefinitionDistribution[] = [];
  for (const definition_hash of hashes.toReversed()) {
    const definition = await findStoredDefinition(definition_hash, store);
    const { total, counts, distinct_inputs } = tally.definitions[definition_hash] ?? noRecords;
    const ofOne = { ...tally, total, counts };
    others.push(
      definition === undefined
        ? { ...distributionOf(undefined, ofOne), definition_hash, distinct_inputs }
        : distributionOf({ definition, definition_hash }, ofOne),
    );
  }
  return others;
}

interface DistributionSource {
  readonly definitions: Pick<ReadableWorld["definitions"], "diagnostics" | "findForInspection">;
  readonly records: ReadableWorld["records"];
}

/** Opens definitions and records; the records alone if there are no definitions and --decisions is not used. */
async function openSource(
  flags: DistributionFlags,
  io: Io,
  damage?: DamageWatch,
): Promise<DistributionSource> {
  try {
    const world = await openReadableWorld(flags, io, undefined, damage);
    warnIfStoreMissing(flags, io);
    return world;
  } catch (error) {
    if (!isCode(error, ["definitions_missing"]) || flags.decisions !== undefined) throw error;
    return {
      definitions: { findForInspection: () => Promise.reject(error), diagnostics: [] },
      records: await openRecords(flags, io, damage),
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

function checkDistribution(
  { check, distinct_inputs }: Distribution,
  flags: DistributionFlags,
  io: Io,
): ExitCode {
  if (check?.mismatch) return 6;
  if (distinct_inputs === null) {
    failUnlessAllowed(flags, "the inputs are masked, so distinct inputs cannot be counted");
  } else if (check === null) {
    failUnlessAllowed(flags, "only weighted decisions without conditions have expected shares");
  } else if (check.sample === 0) {
    failUnlessAllowed(flags, "there are no records of this definition");
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
  const choice = await chooseDefinition(id, source, flags);
  warnAboutDefinitions(flags, io, source.definitions.diagnostics);
  await redrawUntilInterrupted(io, async () => {
    // Measured with the range of now: `--since 1h` moves with the clock.
    const distribution = await measure(choice, source, flags);
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
      assertOpen(io.out);
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
