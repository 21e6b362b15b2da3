import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { LogLine, Query, Ledger } from "../../model/store.js";
import type { Format } from "../../present/format.js";
import { createLogWriter } from "../../present/log-writer.js";
import { newestRecords } from "../../record/record-query.js";
import type { Records } from "../../record/records.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, QueryFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor, addQueryFlags, queryFor } from "../flags.js";
import type { Io } from "../io.js";
import { warnAboutDamage, RecordPrinter } from "../output.js";
import { note, openRecords, warn } from "../world.js";

interface LogFlags extends StoreFlags, QueryFlags {
  readonly reverse?: boolean;
  readonly follow?: boolean;
}

/** What a terminal shows of a long log, and what it shows before it follows one. */
const terminalLimit = 50;
const followLimit = 10;

export function addLogCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = addQueryFlags(parent.command("log"))
    .option("--reverse", "newest first")
    .option("-f, --follow", "go on with each new record as it comes, until Ctrl-C");
  addCommonFlags(addStoreFlags(command))
    .summary("list what was decided")
    .description(
      `Lists the records of the log, oldest first. On a terminal the newest ${terminalLimit} are shown unless --limit ` +
        "says otherwise; in a pipe all of them are, each as the very line that was written. " +
        `--follow begins with the newest ${followLimit}.`,
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
  if (isMore && !flags.quiet) note(io, `the newest ${terminalLimit} of more; --limit N shows the newest N`);
  if (printer.printed === 0) await noteEmpty(records, flags, io);
  warnAboutDamage(printer, flags, io);
  return 0;
}

async function openPrinter(flags: LogFlags, io: Io, format: Format): Promise<RecordPrinter> {
  return new RecordPrinter(io, await createLogWriter(format, await styleFor(flags, io)));
}

/** One more than is shown tells whether there are more. */
async function newestOnTerminal(
  { log }: Records,
  query: Query,
): Promise<{ readonly lines: readonly LogLine[]; readonly isMore: boolean }> {
  const lines: LogLine[] = [];
  for await (const line of log.select({ ...query, limit: terminalLimit + 1 })) lines.push(line);
  const isMore = lines.length > terminalLimit;
  if (isMore) lines.splice(query.reverse ? -1 : 0, 1);
  return { lines, isMore };
}

async function noteEmpty({ log }: Records, flags: LogFlags, io: Io): Promise<void> {
  if (flags.quiet || !io.err.isTerminal) return;
  const { size } = await log.state();
  note(io, size === 0 ? "nothing has been recorded yet" : "no record fits");
}

async function follow(flags: LogFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "many" });
  assertCanFollow(flags, format);
  const query = queryFor(flags);
  const limit = query.limit ?? (query.since === undefined ? followLimit : Infinity);
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
      onTruncated: () => warn(flags, io, "the log has become shorter; see `agent-33 decision verify`"),
    },
  );
  warnAboutDamage(printer, flags, io);
  return 130;
}

/** What follows never ends, so it can be neither completed nor turned around. */
function assertCanFollow({ reverse, until }: LogFlags, format: Format): void {
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

interface FollowOptions {
  /** Records up to this number are known already. */
  readonly after: number;
  readonly onRecord: (line: LogLine) => void;
  /** The log has become shorter: somebody has put another one in its place. */
  readonly onTruncated: () => void;
  readonly signal: AbortSignal;
  readonly everyMilliseconds?: number;
}

/** Tells of each new record that fits, until it is told to stop. */
export async function followLog(
  log: Pick<Ledger, "state" | "select">,
  query: Query,
  { after, onRecord, onTruncated: onShorter, signal, everyMilliseconds = 250 }: FollowOptions,
): Promise<void> {
  let known = after;
  const look = async (): Promise<void> => {
    const { size } = await log.state();
    if (size < known) onShorter();
    if (size <= known) {
      known = size;
      return;
    }
    for await (const line of log.select({ ...query, after: known })) {
      const { seq } = line.record;
      // A damaged line may have none.
      if (seq > known) known = seq;
      onRecord(line);
      // Else a signal would not be heard before all of them are written.
      if (seq % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
    }
    known = Math.max(known, size);
  };
  while (!signal.aborted) {
    await look().catch(ignorePruned);
    await pause(everyMilliseconds, signal);
  }
}

/** A segment that another process has removed between finding and reading it; the next look goes without. */
function ignorePruned(error: unknown): void {
  const { code, cause } = error as NodeJS.ErrnoException;
  const isMissing = code === "ENOENT" || (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  if (!isMissing) throw error;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, signal.aborted ? 0 : milliseconds);
    signal.addEventListener("abort", wake);
  });
}
