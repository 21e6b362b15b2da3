import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import type { LogLine, Query, Ledger } from "../../model/store.js";
import type { Format } from "../../present/format.js";
import { newestRecords } from "../../record/record-query.js";
import type { Records } from "../../record/records.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags, QueryFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, addQueryFlags, queryFor } from "../flags.js";
import type { Io } from "../io.js";
import { openPrinter, warnAboutDamage } from "../output.js";
import { note, openRecords, warn } from "../world.js";

interface LogFlags extends StoreFlags, QueryFlags {
  readonly reverse?: boolean;
  readonly follow?: boolean;
}

/** Default number of records on a terminal, and before following. */
const terminalLimit = 50;
const followLimit = 10;

export function addLogCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = addQueryFlags(parent.command("log"))
    .option("--reverse", "print the newest record first")
    .option("-f, --follow", "print new records as they are written, until Ctrl-C");
  addCommonFlags(addStoreFlags(command))
    .summary("list records")
    .description(
      `List the records of the log, oldest first. A terminal shows the newest ${terminalLimit} unless --limit is used; a ` +
        "pipe gets all records, each exactly as written to the log. " +
        `--follow starts with the newest ${followLimit}.`,
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision log
  $ agent-33 decision log --decision-id expense-approval --since 7d
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
  const { lines, hasMore } = isShortened
    ? await newestOnTerminal(records, query)
    : { lines: newestRecords(records.log, query), hasMore: false };
  for await (const line of lines) printer.print(line);
  printer.end();
  if (hasMore && !flags.quiet)
    note(io, `showing the newest ${terminalLimit} records; use --limit N for more`);
  if (printer.printed === 0) await noteEmpty(records, flags, io);
  warnAboutDamage(printer, flags, io);
  return 0;
}

/** Reads one more record than is printed, to know whether there are more. */
async function newestOnTerminal(
  { log }: Records,
  query: Query,
): Promise<{ readonly lines: readonly LogLine[]; readonly hasMore: boolean }> {
  const lines: LogLine[] = [];
  for await (const line of log.select({ ...query, limit: terminalLimit + 1 })) lines.push(line);
  const hasMore = lines.length > terminalLimit;
  if (hasMore) lines.splice(query.reverse ? -1 : 0, 1);
  return { lines, hasMore };
}

async function noteEmpty({ log }: Records, flags: LogFlags, io: Io): Promise<void> {
  if (flags.quiet || !io.err.isTerminal) return;
  const { size } = await log.state();
  note(io, size === 0 ? "no records yet" : "no matching records");
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
    // Lets pending signals run.
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
      onTruncated: () => warn(flags, io, "the log was truncated; run `agent-33 decision verify`"),
    },
  );
  warnAboutDamage(printer, flags, io);
  return 130;
}

/** Throws for options that need the end of the log. */
function assertCanFollow({ reverse, until }: LogFlags, format: Format): void {
  const other = reverse ? "--reverse" : until === undefined ? undefined : "--until";
  if (other !== undefined) {
    throw new DecisionError("usage", `--follow and ${other} cannot be combined`, {
      hint: "remove one of them",
    });
  }
  if (format !== "json" && format !== "yaml") return;
  throw new DecisionError("usage", `--follow cannot be combined with --format ${format}`, {
    hint: "use jsonl, plain or table",
  });
}

interface FollowOptions {
  /** Number of the last record that was already printed. */
  readonly after: number;
  readonly onRecord: (line: LogLine) => void;
  /** Called if the log is shorter than before, so it was replaced. */
  readonly onTruncated: () => void;
  readonly signal: AbortSignal;
  readonly everyMilliseconds?: number;
}

/** Calls `onRecord` for each new matching record until the signal. */
export async function followLog(
  log: Pick<Ledger, "state" | "select">,
  query: Query,
  { after, onRecord, onTruncated, signal, everyMilliseconds = 250 }: FollowOptions,
): Promise<void> {
  let last = after;
  const poll = async (): Promise<void> => {
    const { size } = await log.state();
    if (size < last) onTruncated();
    if (size <= last) {
      last = size;
      return;
    }
    for await (const line of log.select({ ...query, after: last })) {
      const { seq } = line.record;
      // A damaged line may have no number.
      if (seq > last) last = seq;
      onRecord(line);
      // Lets pending signals run.
      if (seq % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
    }
    last = Math.max(last, size);
  };
  while (!signal.aborted) {
    await poll().catch(ignorePruned);
    await sleep(everyMilliseconds, undefined, { signal }).catch(() => undefined);
  }
}

/** Ignores a segment that another process removed between listing and reading; the next poll does not list it. */
function ignorePruned(error: unknown): void {
  const { code, cause } = error as NodeJS.ErrnoException;
  const isMissing = code === "ENOENT" || (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  if (!isMissing) throw error;
}
