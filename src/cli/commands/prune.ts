import type { Command } from "commander";
import { systemClock } from "../../clock.js";
import { DecisionError } from "../../errors.js";
import type { Prunable, PruneBound } from "../../model/store.js";
import { formatBytes, formatCount } from "../../present/text.js";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { parseDuration } from "../../definition/duration.js";
import { microsecondsOf, parseTime } from "../../record/timestamp.js";
import { confirm } from "../io.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { note, openRecords, assertStoreExists } from "../world.js";

interface PruneFlags extends StoreFlags {
  readonly before?: string;
  readonly keep?: string;
  readonly yes?: boolean;
}

export function addPruneCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("prune")
    .option(
      "--before <time>",
      "remove records before this time: a timestamp, a date, or a duration such as 90d",
    )
    .option("--keep <amount>", "keep the newest records: a number, or a duration such as 90d")
    .option("-y, --yes", "do not ask for confirmation");
  addCommonFlags(addStoreFlags(command))
    .summary("remove the oldest records")
    .description(
      "Permanently remove old records. Only whole log files are removed, so some older records can remain. A note in the log records the removal, so that `verify` still succeeds.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision prune --before 2025-01-01 --yes
  $ agent-33 decision prune --keep 90d --yes
  $ agent-33 decision prune --keep 1000000`,
    )
    .action(async (flags: PruneFlags) => done(await prune(flags, io)));
}

async function prune(flags: PruneFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const bound = parseBound(flags);
  assertStoreExists(flags, io);
  const records = await openRecords(flags, io);
  const found = await records.log.prunable(bound);
  if (found.records > 0 && !confirm(confirmationText(found), flags, io)) {
    note(io, "nothing removed");
    return 2;
  }
  await records.prune(
    found,
    flags.before === undefined ? { keep: flags.keep ?? "" } : { before: flags.before },
  );
  io.out.write(await present(prunedView(found), format, await styleFor(flags, io)));
  if (found.records === 0 && !flags.quiet) {
    const { size } = await records.log.state();
    note(
      io,
      size === 0 ? "no records yet" : "nothing removed: every log file still contains a record to keep",
    );
  }
  return 0;
}

const confirmationText = ({ records, bytes }: Prunable): string =>
  `Remove the oldest ${formatCount(records)} record${records === 1 ? "" : "s"} (${formatBytes(bytes)}) permanently?`;

function parseBound({ before, keep }: PruneFlags): PruneBound {
  const now = microsecondsOf(systemClock());
  if ((before === undefined) === (keep === undefined)) {
    throw new DecisionError("usage", "specify either --before or --keep", { hint: "for example --keep 90d" });
  }
  if (before !== undefined) {
    const time = parseTime(before, now);
    if (time !== undefined) return { before: time };
    throw new DecisionError("usage", `--before must be a time (got \`${before}\`)`, {
      hint: "such as 2026-01-31, 2026-01-31T12:00:00Z or 90d",
    });
  }
  const text = keep ?? "";
  const duration = parseDuration(text);
  if (duration !== undefined) return { before: now - duration };
  if (/^\d{1,15}$/.test(text)) return { keep: Number(text) };
  throw new DecisionError("usage", `--keep must be a number of records or a duration (got \`${text}\`)`, {
    hint: "such as 1000000 or 90d",
  });
}

function prunedView({ records, through, bytes }: Prunable): View {
  return {
    value: { removed: records, through, bytes },
    plain: () => `${records}\t${through}\t${bytes}`,
    table: () =>
      records === 0
        ? "nothing to remove"
        : `removed ${formatCount(records)} record${records === 1 ? "" : "s"}, up to number ${formatCount(through)} (${formatBytes(bytes)})`,
  };
}
