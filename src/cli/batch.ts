import { openSync, fstatSync } from "node:fs";
import type { Socket } from "node:net";
import type { ToContext } from "./input.js";
import { parseJson, assertNotTerminal, stripByteOrderMark } from "./input.js";
import type { Input, Io } from "./io.js";
import { input } from "./io.js";
import { Progress } from "./progress.js";
import type { Composed } from "../compose.js";
import type { DecisionRequest } from "../decide/decide.js";
import type { ErrorCode } from "../errors.js";
import { errorDocument, DecisionError } from "../errors.js";
import type { Result } from "../model/result.js";
import { printable } from "../text.js";
import { targetLine } from "../present/result-rows.js";
import { auditText, plainResult } from "../present/result-view.js";
import { resultJson } from "../record/record-json.js";

export type BatchFormat = "jsonl" | "plain" | "target" | "audit";

/** Enough for one write to be worth it, little enough to be gone before the garbage collector ages it. */
const flushSize = 64 * 1024;

export interface Batch {
  readonly request: Omit<DecisionRequest, "context">;
  readonly file: string;
  readonly toContext: ToContext;
  /** Whether decisions that it leads to are made too. */
  readonly follow: boolean;
  readonly format: BatchFormat;
  readonly quiet: boolean;
}

/** So many are decided at a time: recorded together, or few enough to be young still when they are forgotten. */
const windowSizes = { recorded: 256, dry: 32 };

/** Answers each line of a file or stream as soon as it is there; tells how many could not be answered. */
export function runBatch(batch: Batch, world: Composed, io: Io): Promise<number | "interrupted"> {
  const opened = openInput(batch.file, io);
  return untilInterrupted((signal) => {
    const pieces = withReadErrors(batch.file, readChunks(opened, signal));
    return decideAll(readLines(pieces, signal), { batch, world, io });
  });
}

interface BatchRun {
  readonly batch: Batch;
  readonly world: Composed;
  readonly io: Io;
}

async function decideAll(arriving: AsyncIterable<readonly Line[]>, asking: BatchRun): Promise<number> {
  const { batch, world, io } = asking;
  const progress = new Progress(io, batch.quiet);
  const warned = new WarningSummary();
  const window = batch.request.dry_run ? windowSizes.dry : windowSizes.recorded;
  let bad = 0;
  let answered = 0;
  for await (const lines of arriving) {
    for (let from = 0; from < lines.length; from += window) {
      const asked = lines.slice(from, from + window).filter((line) => !isBlank(line));
      const outcomes = await Promise.all(asked.map((line) => decideLine(line, batch, world)));
      progress.erase();
      bad += writeResults(asked, outcomes, { batch, warned, io });
      answered += asked.length;
      const so = answered;
      progress.show(
        (seconds) => `${formatCount(so)} answered, ${formatCount(Math.round(so / seconds))} per second`,
      );
    }
  }
  progress.erase();
  if (batch.format !== "jsonl" && !batch.quiet) warned.warn(io, answered);
  return bad;
}

const formatCount = (number: number): string => number.toLocaleString("en");

const isBlank = (line: Line): boolean => "text" in line && line.text.trim() === "";

interface BatchOutput {
  readonly batch: Batch;
  readonly warned: WarningSummary;
  readonly io: Io;
}

/** Writes what came of the lines, in their order; tells how many were bad. */
function writeResults(
  lines: readonly Line[],
  outcomes: readonly (Result | DecisionError)[],
  { batch: { format }, warned, io }: BatchOutput,
): number {
  let bad = 0;
  let answers = "";
  const flush = (): void => {
    io.out.write(answers);
    answers = "";
  };
  for (const [index, outcome] of outcomes.entries()) {
    const line = lines[index]?.number ?? 0;
    if (!(outcome instanceof DecisionError)) {
      answers += formatResult(outcome, format);
      warned.note(line, outcome);
      if (answers.length > flushSize) flush();
      continue;
    }
    bad++;
    if (format === "jsonl") answers += `${JSON.stringify({ line, ...errorDocument(outcome) })}\n`;
    else {
      // An empty line keeps answers and questions in step.
      answers += "\n";
      flush();
      io.err.write(`error: line ${line}: ${printable(outcome.message)}\n`);
    }
  }
  flush();
  return bad;
}

function openInput(file: string, io: Io): Input {
  if (file === "-") {
    assertNotTerminal(io);
    return io.stdin;
  }
  try {
    return input(openSync(file, "r"));
  } catch (error) {
    throw readError(file, error);
  }
}

async function* withReadErrors(file: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces;
  } catch (error) {
    throw readError(file, error);
  }
}

function readError(file: string, error: unknown): DecisionError {
  const what = file === "-" ? "standard input" : `\`${file}\``;
  const message = `cannot read ${what}: ${(error as Error).message}`;
  return new DecisionError("input_invalid", message, { cause: error });
}

async function decideLine(line: Line, batch: Batch, world: Composed): Promise<Result | DecisionError> {
  try {
    if ("tooLong" in line) throw new DecisionError("input_invalid", "the line is longer than 16 MiB");
    const given = parseJson(line.number === 1 ? stripByteOrderMark(line.text) : line.text, "the line");
    const decide = batch.follow ? world.follow : world.decide;
    return await decide({ ...batch.request, context: batch.toContext(given) });
  } catch (error) {
    if (error instanceof DecisionError && !fatalCodes.has(error.code)) return error;
    throw error;
  }
}

/** Where one decision cannot be recorded, none can. */
const fatalCodes: ReadonlySet<ErrorCode> = new Set(["store_failed", "store_busy", "log_damaged"]);

function formatResult(result: Result, format: BatchFormat): string {
  switch (format) {
    case "jsonl":
      return `${resultJson(result)}\n`;
    case "plain":
      return `${plainResult(result)}\n`;
    case "target":
      return `${targetLine(result)}\n`;
    case "audit":
      return auditText(result);
  }
}

/** Lines with warnings, be it of a condition or a guardrail: told once, not a thousand times. */
class WarningSummary {
  #lines = 0;
  #first = "";

  note(line: number, { warnings }: Result): void {
    const [warning] = warnings;
    if (warning === undefined) return;
    if (++this.#lines === 1) this.#first = `line ${line}: ${warning}`;
  }

  warn(io: Io, answered: number): void {
    if (this.#lines === 0) return;
    const what = `${this.#lines} of ${answered} lines ${this.#lines === 1 ? "has" : "have"} warnings`;
    io.err.write(`warning: ${what}; first ${printable(this.#first)}\n`);
  }
}

export type Line =
  { readonly number: number; readonly text: string } | { readonly number: number; readonly tooLong: true };

const maxLineBytes = 16 * 1024 * 1024;
const newline = 10;

/**
 * The lines of a stream, as many at a time as have arrived, never holding more than one unfinished line. The
 * last needs no end, unless the stream was cut short by the signal.
 */
export async function* readLines(
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  let rest: Buffer[] = [];
  let restLength = 0;
  let number = 0;
  const finish = (end: Buffer): Line => {
    number++;
    const whole = restLength === 0 ? end : Buffer.concat([...rest, end]);
    const tooLong = restLength + end.length > maxLineBytes;
    rest = [];
    restLength = 0;
    return tooLong ? { number, tooLong } : { number, text: whole.toString("utf8") };
  };
  for await (const piece of pieces) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      lines.push(finish(piece.subarray(from, at)));
      from = at + 1;
    }
    const left = piece.subarray(from);
    if (left.length > 0) {
      restLength += left.length;
      if (restLength <= maxLineBytes) rest.push(Buffer.from(left));
      else rest = [];
    }
    if (lines.length > 0) yield lines;
  }
  if (restLength > 0 && !signal.aborted) yield [finish(Buffer.alloc(0))];
}

const chunkSize = 256 * 1024;

/**
 * What comes in, piece by piece, as soon as it is there. After the signal no more is read, but what was read
 * already still comes. A piece is only good until the next is asked for.
 */
export async function* readChunks(input: Input, signal: AbortSignal): AsyncGenerator<Buffer> {
  const socket = input.fd === undefined ? undefined : await openSocket(input.fd);
  if (socket === undefined) yield* readFileChunks(input, signal);
  else yield* readSocketChunks(socket, signal);
}

/** What may keep us waiting is waited for in the event loop, where signals are heard; other things are there. */
async function openSocket(fd: number): Promise<Socket | undefined> {
  const stats = fstatSync(fd);
  if (stats.isFIFO() || stats.isSocket()) {
    const net = await import("node:net");
    return new net.Socket({ fd, readable: true, writable: false });
  }
  if (!stats.isCharacterDevice()) return undefined;
  const { isatty, ReadStream } = await import("node:tty");
  return isatty(fd) ? new ReadStream(fd) : undefined;
}

async function* readFileChunks(input: Input, signal: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkSize);
  while (!signal.aborted) {
    const length = input.read(buffer);
    if (length === 0) return;
    yield buffer.subarray(0, length);
    // Else a signal would not be heard before the end.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* readSocketChunks(socket: Socket, signal: AbortSignal): AsyncGenerator<Buffer> {
  let wake = (): void => undefined;
  let failure: Error | undefined;
  const notice = (): void => wake();
  socket.on("readable", notice).on("close", notice);
  socket.on("error", (error) => (failure = error));
  signal.addEventListener("abort", notice);
  try {
    for (;;) {
      const isLast = signal.aborted;
      // All that has arrived while the last piece was worked on, as one.
      const piece = socket.read() as Buffer | null;
      if (piece !== null) yield piece;
      else if (failure !== undefined) throw failure;
      if (isLast || (piece === null && socket.closed)) return;
      if (piece === null) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", notice);
    socket.destroy();
  }
}

const interruptSignals = ["SIGINT", "SIGTERM"] as const;

/**
 * Works until it is done or told to end, by Ctrl-C or SIGTERM; what is told is heard once, so that a second
 * time ends the process at once.
 */
export async function untilInterrupted<Outcome>(
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome | "interrupted"> {
  const interrupt = new AbortController();
  const forget = (): void => {
    for (const name of interruptSignals) process.removeListener(name, stop);
  };
  const stop = (name: NodeJS.Signals): void => {
    forget();
    interrupt.abort(name);
  };
  for (const name of interruptSignals) process.on(name, stop);
  try {
    const outcome = await work(interrupt.signal);
    if (!interrupt.signal.aborted) return outcome;
  } finally {
    forget();
  }
  // Whoever supervises us sees what it asked for: an end by this signal.
  if (interrupt.signal.reason === "SIGTERM") process.kill(process.pid, "SIGTERM");
  return "interrupted";
}
