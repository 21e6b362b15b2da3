import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { LogLine, Query } from "../../model/store.js";
import type { Format } from "../../present/format.js";
import { logWriting } from "../../present/log-writing.js";
import { newestRecords } from "../../record/newest-records.js";
import type { Records } from "../../record/records.js";
import { warnOfDamage } from "../damaged-lines.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import { followLog } from "../follow-log.js";
import type { Io } from "../io.js";
import type { QueryFlags } from "../log-query.js";
import { addQueryFlags, queryFor } from "../log-query.js";
import { RecordPrinter } from "../record-printer.js";
import { note, openRecords, warn } from "../world.js";

interface LogFlags extends StoreFlags, QueryFlags {
  readonly reverse?: boolean;
  readonly follow?: boolean;
}

/** What a terminal shows of a long log, and what it shows before it follows one. */
const onTerminal = 50;
const beforeFollowing = 10;

export function addLogCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = addQueryFlags(parent.command("log"))
    .option("--reverse", "newest first")
    .option("-f, --follow", "go on with each new record as it comes, until Ctrl-C");
  addCommonFlags(addStoreFlags(command))
    .summary("list what was decided")
    .description(
      `Lists the records of the log, oldest first. On a terminal the newest ${onTerminal} are shown unless --limit ` +
        "says otherwise; in a pipe all of them are, each as the very line that was written. " +
        `--follow begins with the newest ${beforeFollowing}.`,
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision log
  $ agent-33 decision log --decision-id decision-quality-gate --since 7d --limit 20
  $ agent-33 decision log --label default --reverse --format plain
  $ agent-33 decision log --follow --workflow-id nightly`,
    )
    .action(async (flags: LogFlags) => done(await (flags.follow ? follow : show)(flags, io)));
}

async function show(flags: LogFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "many" });
  const query: Query = { ...queryFor(flags), reverse: flags.reverse ?? false };
  const isShortened = query.limit === undefined && format === "table" && io.out.isTerminal;
  const records = await openRecords(flags, io);
  const printer = await openPrinter(flags, io, format);
  const { lines, isMore } = isShortened
    ? await newestOnTerminal(records, query)
    : { lines: newestRecords(records.log, query), isMore: false };
  for await (const line of lines) printer.print(line);
  printer.end();
  if (isMore && !flags.quiet) note(io, `the newest ${onTerminal} of more; --limit N shows the newest N`);
  if (printer.printed === 0) await sayEmpty(records, flags, io);
  warnOfDamage(printer, flags, io);
  return 0;
}

async function openPrinter(flags: LogFlags, io: Io, format: Format): Promise<RecordPrinter> {
  return new RecordPrinter(io, await logWriting(format, await styleFor(flags, io)));
}

/** One more than is shown tells whether there are more. */
async function newestOnTerminal(
  { log }: Records,
  query: Query,
): Promise<{ readonly lines: readonly LogLine[]; readonly isMore: boolean }> {
  const lines: LogLine[] = [];
  for await (const line of log.select({ ...query, limit: onTerminal + 1 })) lines.push(line);
  const isMore = lines.length > onTerminal;
  if (isMore) lines.splice(query.reverse ? -1 : 0, 1);
  return { lines, isMore };
}

async function sayEmpty({ log }: Records, flags: LogFlags, io: Io): Promise<void> {
  if (flags.quiet || !io.err.isTerminal) return;
  const { size } = await log.state();
  note(io, size === 0 ? "nothing has been recorded yet" : "no record fits");
}

async function follow(flags: LogFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "many" });
  refuseEndless(flags, format);
  const query = queryFor(flags);
  const limit = query.limit ?? (query.since === undefined ? beforeFollowing : Infinity);
  const { log } = await openRecords(flags, io);
  const printer = await openPrinter(flags, io, format);
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  let { size: after } = await log.state();
  for await (const line of newestRecords(log, { ...query, limit })) {
    printer.print(line);
    if (line.record.seq > after) after = line.record.seq;
    // Else a signal would not be heard before all of them are written.
    if (line.record.seq % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (interrupt.signal.aborted) break;
  }
  printer.settle();
  await followLog(
    log,
    { ...query, limit: Infinity },
    {
      after,
      signal: interrupt.signal,
      onRecord(line) {
        printer.print(line);
        printer.flush();
      },
      onShorter: () => warn(flags, io, "the log has become shorter; see `agent-33 decision verify`"),
    },
  );
  warnOfDamage(printer, flags, io);
  return 130;
}

/** What follows never ends, so it can be neither completed nor turned around. */
function refuseEndless({ reverse, until }: LogFlags, format: Format): void {
  const other = reverse ? "--reverse" : until === undefined ? undefined : "--until";
  if (other !== undefined) {
    throw new DecisionError("usage", `--follow and ${other} exclude each other`, {
      hint: "what is still to come has no end to begin with: leave one of them out",
    });
  }
  if (format !== "json" && format !== "yaml") return;
  throw new DecisionError("usage", `--follow cannot be written as \`${format}\``, {
    hint: "choose jsonl, plain or table",
  });
}
