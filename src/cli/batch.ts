import { openSync, fstatSync } from "node:fs";
import type { Socket } from "node:net";
import type { ToContext } from "./input.js";
import { parseDocument, assertNotTerminal, stripByteOrderMark } from "./input.js";
import type { Input, Io } from "./io.js";
import { assertOpen, input } from "./io.js";
import { Progress, workText } from "./progress.js";
import type { Composed } from "../compose.js";
import type { DecisionRequest } from "../decide/decide.js";
import { answersWithList, assertOutputs } from "../definition/outputs.js";
import type { ErrorCode } from "../errors.js";
import { DecisionError, errorDocument, fileErrorHint } from "../errors.js";
import type { Result } from "../model/result.js";
import { formatCount, plural } from "../present/text.js";
import { auditText, outputLine, plainResult, targetLine } from "../present/answer-line.js";
import { resultJson } from "../record/record-json.js";
import { oneLine } from "../text.js";

export type BatchFormat = "jsonl" | "plain" | "target" | "output" | "audit";

/** Output is written in pieces of this size: large enough for few writes, small enough to be freed young. */
const flushSize = 64 * 1024;

export interface Batch {
  readonly request: Omit<DecisionRequest, "context">;
  readonly file: string;
  readonly toContext: ToContext;
  /** Whether to continue with the decisions that the targets name. */
  readonly follow: boolean;
  readonly format: BatchFormat;
  readonly quiet: boolean;
  /** Whether errors on standard error are JSON. */
  readonly jsonErrors: boolean;
}

/** Number of decisions made at a time. Recorded ones share one commit; dry runs are limited by memory alone. */
const windowSizes = { recorded: 256, dry: 32 };

/** Decides each line of a file or stream as it arrives. Returns the number of failed lines. */
export function runBatch(batch: Batch, world: Composed, io: Io): Promise<number | "interrupted"> {
  const opened = openInput(batch.file, io);
  const bytes: ReadBytes = { before: 0, current: 0, total: sizeOfFile(opened) };
  return untilInterrupted(async (signal) => {
    const chunks = countBytes(withReadErrors(batch.file, readChunks(opened, signal)), bytes);
    const progress = new Progress(io, batch.quiet);
    try {
      return await decideAll(onlyJsonLines(readLines(chunks, signal), batch.file), {
        batch,
        world,
        io,
        bytes,
        progress,
        signal,
      });
    } finally {
      progress.erase();
    }
  });
}

/** How much of the input was read: before the current chunk, the chunk, and of how many bytes in all. */
interface ReadBytes {
  before: number;
  current: number;
  /** Undefined where the input is not a file, such as a pipe. */
  readonly total: number | undefined;
}

function sizeOfFile({ fd }: Input): number | undefined {
  const stats = fd === undefined ? undefined : fstatSync(fd);
  return stats?.isFile() ? stats.size : undefined;
}

async function* countBytes(chunks: AsyncIterable<Buffer>, bytes: ReadBytes): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    bytes.before += bytes.current;
    bytes.current = chunk.length;
    yield chunk;
  }
}

interface BatchRun {
  readonly batch: Batch;
  readonly world: Composed;
  readonly io: Io;
  readonly bytes: ReadBytes;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function decideAll(batches: AsyncIterable<readonly Line[]>, run: BatchRun): Promise<number> {
  const { batch, world, io, bytes, progress, signal } = run;
  const summary = new BatchSummary();
  const output = { batch, summary, io, progress };
  const window = batch.request.dry_run ? windowSizes.dry : windowSizes.recorded;
  let decided = 0;
  for await (const lines of batches) {
    for (let from = 0; from < lines.length; from += window) {
      const pending = lines.slice(from, from + window).filter((line) => !isBlank(line));
      const outcomes = await Promise.all(pending.map((line) => decideLine(line, batch, world)));
      writeResults(pending, outcomes, output);
      decided += pending.length;
      const share = shareOfInput(bytes, Math.min(1, (from + window) / lines.length));
      progress.show((seconds) => workText({ done: decided, what: "decided", share }, seconds));
    }
  }
  progress.erase();
  const text = summary.text(batch, { isInterrupted: signal.aborted });
  if (!batch.quiet && text !== "") io.err.write(text);
  return summary.failed;
}

/** Returns the share of the input that is decided; `share` is that of the current chunk. */
function shareOfInput({ before, current, total }: ReadBytes, share: number): number | undefined {
  return total === undefined || total === 0 ? undefined : Math.min(1, (before + share * current) / total);
}

const isBlank = (line: Line): boolean => "text" in line && line.text.trim() === "";

interface BatchOutput {
  readonly batch: Batch;
  readonly summary: BatchSummary;
  readonly io: Io;
  readonly progress: Progress;
}

/** Writes results and errors in the order of the lines. */
function writeResults(
  lines: readonly Line[],
  outcomes: readonly (Decided | DecisionError)[],
  { batch: { format }, summary, io, progress }: BatchOutput,
): void {
  let text = "";
  const flush = (): void => {
    if (text === "") return;
    progress.writeAbove(io.out, text);
    assertOpen(io.out);
    text = "";
  };
  for (const [index, outcome] of outcomes.entries()) {
    const line = lines[index]?.number ?? 0;
    if (!(outcome instanceof DecisionError)) {
      text += formatResult(outcome, format);
      summary.addResult(line, outcome.result);
      if (text.length > flushSize) flush();
      continue;
    }
    summary.addError(line, outcome);
    if (format === "jsonl") text += `${JSON.stringify({ line, ...errorDocument(outcome) })}\n`;
    else {
      // An empty line keeps output lines aligned with input lines.
      text += "\n";
      flush();
      progress.writeAbove(io.err, `error: line ${line}: ${oneLine(outcome.message)}\n`);
    }
  }
  flush();
}

/**
 * Passes the lines on once it is clear that the input is JSON Lines. Only a first line that could be the start of
 * something else waits for more: a live stream gets its answers at once.
 */
async function* onlyJsonLines(
  batches: AsyncIterable<readonly Line[]>,
  file: string,
): AsyncGenerator<readonly Line[]> {
  let held: readonly Line[] | undefined = [];
  for await (const lines of batches) {
    if (held === undefined) {
      yield lines;
      continue;
    }
    const isMore: boolean = held.length > 0;
    held = [...held, ...lines];
    if (!isMore && isUnclear(textsOf(held)[0] ?? "")) continue;
    assertJsonLines(held, file);
    yield held;
    held = undefined;
  }
  if (held === undefined) return;
  assertJsonLines(held, file);
  yield held;
}

const isUnclear = (first: string): boolean =>
  parsed(first) === undefined && (/^\s*[{[]/.test(first) || isCsv(first, []));

const textsOf = (lines: readonly Line[]): readonly string[] =>
  lines.flatMap((line) => ("text" in line && !isBlank(line) ? [line.text] : []));

/**
 * Throws one error for input that is not JSON Lines at all, instead of one for each line: JSON over several lines, an
 * array, or CSV.
 */
function assertJsonLines(lines: readonly Line[], file: string): void {
  const [text = "", ...others] = textsOf(lines);
  const shape = shapeOf(stripByteOrderMark(text).trim(), others);
  if (shape === undefined) return;
  const [source, given] = file === "-" ? ["standard input", ""] : [`\`${file}\``, ` ${file}`];
  const { name, convert } = shapes[shape];
  const separator = shape === "csv" ? mlrSeparators[csvSeparator(text) ?? ","] : "";
  throw new DecisionError(
    "input_invalid",
    `${source} is ${name}, but --inputs needs one JSON object per line`,
    {
      hint: `convert it first, for example with \`${convert.replace(" cat", `${separator} cat`)}${given}\``,
    },
  );
}

const shapes = {
  array: { name: "a JSON array", convert: "jq -c '.[]'" },
  object: { name: "JSON over several lines", convert: "jq -c ." },
  csv: { name: "CSV", convert: "mlr --icsv --ojsonl cat" },
  utf16: { name: "UTF-16 text", convert: "iconv -f UTF-16 -t UTF-8" },
} as const;

/** The flag of `mlr` for each separator of CSV. */
const mlrSeparators = { ",": "", ";": " --ifs ';'", "\t": " --ifs tab" } as const;

const csvSeparator = (line: string): keyof typeof mlrSeparators | undefined =>
  ([",", ";", "\t"] as const).find((each) => line.includes(each));

/** Returns what a text is instead of JSON Lines; undefined where its first line may be a single bad one. */
function shapeOf(first: string, others: readonly string[]): keyof typeof shapes | undefined {
  // The byte order mark of UTF-16 is not UTF-8.
  if (/^\ufffd{2}.*\0/s.test(first)) return "utf16";
  if (first.startsWith("[")) return isListOfObjects(first) || isSplit(first, others) ? "array" : undefined;
  if (first.startsWith("{")) return isSplit(first, others) ? "object" : undefined;
  return isCsv(first, others) ? "csv" : undefined;
}

/** Events of `--map` may be lists of other values. */
function isListOfObjects(text: string): boolean {
  const value = parsed(text);
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => typeof item === "object" && item !== null)
  );
}

/** A large document has its end beyond the first lines that are read. */
const maxEnds = 5;

/** Whether a document starts on the first line and ends on a later one; or whether it only opens there. */
function isSplit(first: string, others: readonly string[]): boolean {
  if (/^(?:\[\s*\{?|\{)$/.test(first)) return true;
  if (parsed(first) !== undefined) return false;
  const ends = others.flatMap((line, index) => (/^\s*[}\]\s]+$/.test(line) ? [index + 1] : []));
  return ends
    .slice(0, maxEnds)
    .some((end) => parsed([first, ...others.slice(0, end)].join("\n")) !== undefined);
}

/** A line of names, and lines with as many values that are not JSON. */
function isCsv(first: string, others: readonly string[]): boolean {
  const separator = csvSeparator(first);
  if (separator === undefined || !/^[\w .,;"'\t-]+$/.test(first) || parsed(first) !== undefined) return false;
  const columns = first.split(separator).length;
  const [second] = others;
  return second === undefined || (second.split(separator).length >= columns && !/^\s*[{[]/.test(second));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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

async function* withReadErrors(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw readError(file, error);
  }
}

function readError(file: string, error: unknown): DecisionError {
  const source = file === "-" ? "standard input" : `\`${file}\``;
  const message = `cannot read ${source}: ${(error as Error).message}`;
  const hint = file.startsWith("@")
    ? `--inputs takes a path without \`@\`: use --inputs ${file.slice(1)}`
    : fileErrorHint(error, file);
  return new DecisionError("input_invalid", message, { hint, cause: error });
}

/** The result for a line; with `output`, whether it is printed as a list. */
interface Decided {
  readonly result: Result;
  readonly isList: boolean;
}

async function decideLine(line: Line, batch: Batch, world: Composed): Promise<Decided | DecisionError> {
  try {
    if ("tooLong" in line) throw new DecisionError("input_invalid", "the line is longer than 16 MiB");
    const document = parseDocument(line.number === 1 ? stripByteOrderMark(line.text) : line.text, "the line");
    const decide = batch.follow ? world.follow : world.decide;
    const result = await decide({ ...batch.request, context: batch.toContext(document) });
    if (batch.format !== "output") return { result, isList: false };
    // With `follow`, every line may end with another decision.
    const { definition } = await world.definitions.find(result.decision_id);
    assertOutputs(definition);
    return { result, isList: answersWithList(definition) };
  } catch (error) {
    if (error instanceof DecisionError && !fatalCodes.has(error.code)) return error;
    throw error;
  }
}

/** Errors that end the batch: if one decision cannot be recorded, none can. */
const fatalCodes: ReadonlySet<ErrorCode> = new Set(["store_failed", "store_busy", "log_damaged"]);

function formatResult({ result, isList }: Decided, format: BatchFormat): string {
  switch (format) {
    case "jsonl":
      return `${resultJson(result)}\n`;
    case "plain":
      return `${plainResult(result)}\n`;
    case "target":
      return `${targetLine(result)}\n`;
    case "output":
      return `${outputLine(result, isList)}\n`;
    case "audit":
      return auditText(result);
  }
}

/** Counts lines, those that failed and those with warnings, and keeps the first of each. */
class BatchSummary {
  #decided = 0;
  #recorded = 0;
  #failed = 0;
  #warned = 0;
  #firstError: { readonly line: number; readonly error: DecisionError } | undefined;
  #firstWarning = "";

  get failed(): number {
    return this.#failed;
  }

  addResult(line: number, { warnings: [warning], record_id }: Result): void {
    this.#decided++;
    if (record_id !== undefined) this.#recorded++;
    if (warning !== undefined && ++this.#warned === 1) this.#firstWarning = `line ${line}: ${warning}`;
  }

  addError(line: number, error: DecisionError): void {
    if (++this.#failed === 1) this.#firstError = { line, error };
  }

  /** Returns the messages at the end. JSON lines have their warnings; in other formats, the errors are printed above. */
  text(
    { format, file, request, jsonErrors }: Batch,
    { isInterrupted }: { readonly isInterrupted: boolean },
  ): string {
    const all = this.#decided + this.#failed;
    const messages: string[] = [];
    if (this.#warned > 0 && format !== "jsonl") {
      const verb = this.#warned === 1 ? "has" : "have";
      const counts = `${formatCount(this.#warned)} of ${plural(all, "line")} ${verb} warnings`;
      messages.push(`warning: ${counts}; first: ${this.#firstWarning}`);
    }
    if (this.#firstError !== undefined) {
      const { line, error } = this.#firstError;
      const first = format === "jsonl" ? `line ${line}: ${error.message}` : `line ${line}`;
      const message = `${formatCount(this.#failed)} of ${plural(all, "line")} failed; first: ${first}`;
      const document = errorDocument(new DecisionError(error.code, message));
      messages.push(jsonErrors ? JSON.stringify(document) : `error: ${message}`);
    }
    if (isInterrupted) {
      const recorded = request.dry_run ? "" : `, ${formatCount(this.#recorded)} recorded`;
      messages.push(`interrupted: ${plural(this.#decided, "line")} decided${recorded}`);
    } else if (all === 0) {
      const source = file === "-" ? "standard input" : `\`${file}\``;
      messages.push(`warning: no inputs in ${source}, so nothing was decided`);
    }
    return messages.map((message) => `${oneLine(message)}\n`).join("");
  }
}

export type Line =
  { readonly number: number; readonly text: string } | { readonly number: number; readonly tooLong: true };

const maxLineBytes = 16 * 1024 * 1024;
const newline = 10;

/**
 * Splits a stream into lines and yields those that have arrived. Buffers at most one incomplete line. A last line
 * without a newline counts, unless the signal has ended the stream.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
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
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      lines.push(finish(chunk.subarray(from, at)));
      from = at + 1;
    }
    const left = chunk.subarray(from);
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
 * Yields the input as it arrives. After the signal nothing more is read, but data already read is still yielded.
 * A chunk is valid until the next one is requested.
 */
export async function* readChunks(input: Input, signal: AbortSignal): AsyncGenerator<Buffer> {
  const socket = input.fd === undefined ? undefined : await openSocket(input.fd);
  if (socket === undefined) yield* readFileChunks(input, signal);
  else yield* readSocketChunks(socket, signal);
}

/** Opens pipes, sockets and terminals as streams, so that waiting for data does not block signals. */
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
    // Lets pending signals run.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* readSocketChunks(socket: Socket, signal: AbortSignal): AsyncGenerator<Buffer> {
  let wake = (): void => undefined;
  let failure: Error | undefined;
  const onEvent = (): void => wake();
  socket.on("readable", onEvent).on("close", onEvent);
  socket.on("error", (error) => (failure = error));
  signal.addEventListener("abort", onEvent);
  try {
    for (;;) {
      const isLast = signal.aborted;
      // Everything that has arrived since the last read, as one chunk.
      const chunk = socket.read() as Buffer | null;
      if (chunk !== null) yield chunk;
      else if (failure !== undefined) throw failure;
      if (isLast || (chunk === null && socket.closed)) return;
      if (chunk === null) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", onEvent);
    socket.destroy();
  }
}

const interruptSignals = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs work that SIGINT and SIGTERM abort. Only the first signal is caught; a second one ends the process.
 */
export async function untilInterrupted<Outcome>(
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome | "interrupted"> {
  const interrupt = new AbortController();
  const removeListeners = (): void => {
    for (const name of interruptSignals) process.removeListener(name, stop);
  };
  const stop = (name: NodeJS.Signals): void => {
    removeListeners();
    interrupt.abort(name);
  };
  for (const name of interruptSignals) process.on(name, stop);
  try {
    const outcome = await work(interrupt.signal);
    if (!interrupt.signal.aborted) return outcome;
  } finally {
    removeListeners();
  }
  // Ends the process by the signal, so that a supervisor sees it.
  if (interrupt.signal.reason === "SIGTERM") process.kill(process.pid, "SIGTERM");
  return "interrupted";
}
