import { openSync } from "node:fs";
import type { Composed } from "../compose.js";
import type { Request } from "../decide/decide.js";
import { errorDocument } from "../error-document.js";
import type { ErrorCode } from "../errors.js";
import { DecisionError } from "../errors.js";
import type { Result } from "../model/result.js";
import { printable } from "../printable.js";
import { resultLine } from "../record/result-line.js";
import { targetLine } from "../present/outcome-rows.js";
import { auditText, plainResult } from "../present/result-view.js";
import { parseJson, refuseTerminal, withoutMark } from "./input.js";
import type { Input, Io } from "./io.js";
import { input } from "./io.js";
import type { Line } from "./lines.js";
import { readLines } from "./lines.js";
import type { ToContext } from "./map-flag.js";
import { piecesOf } from "./pieces.js";
import { Progress } from "./progress.js";
import { untilInterrupted } from "./until-interrupted.js";

export type BatchFormat = "jsonl" | "plain" | "target" | "audit";

/** Enough for one write to be worth it, little enough to be gone before the garbage collector ages it. */
const flushedAt = 64 * 1024;

export interface Batch {
  readonly request: Omit<Request, "context">;
  readonly file: string;
  readonly toContext: ToContext;
  /** Whether decisions that it leads to are made too. */
  readonly follow: boolean;
  readonly format: BatchFormat;
  readonly quiet: boolean;
}

/** So many are decided at a time: recorded together, or few enough to be young still when they are forgotten. */
const windows = { recorded: 256, dry: 32 };

/** Answers each line of a file or stream as soon as it is there; tells how many could not be answered. */
export function answerLines(batch: Batch, world: Composed, io: Io): Promise<number | "interrupted"> {
  const opened = openLines(batch.file, io);
  return untilInterrupted((signal) => {
    const pieces = readable(batch.file, piecesOf(opened, signal));
    return answerAll(readLines(pieces, signal), { batch, world, io });
  });
}

interface Asking {
  readonly batch: Batch;
  readonly world: Composed;
  readonly io: Io;
}

async function answerAll(arriving: AsyncIterable<readonly Line[]>, asking: Asking): Promise<number> {
  const { batch, world, io } = asking;
  const progress = new Progress(io, batch.quiet);
  const warned = new Warned();
  const window = batch.request.dry_run ? windows.dry : windows.recorded;
  let bad = 0;
  let answered = 0;
  for await (const lines of arriving) {
    for (let from = 0; from < lines.length; from += window) {
      const asked = lines.slice(from, from + window).filter((line) => !isBlank(line));
      const outcomes = await Promise.all(asked.map((line) => answerLine(line, batch, world)));
      progress.erase();
      bad += writeAnswers(asked, outcomes, { batch, warned, io });
      answered += asked.length;
      const so = answered;
      progress.show((seconds) => `${count(so)} answered, ${count(Math.round(so / seconds))} per second`);
    }
  }
  progress.erase();
  if (batch.format !== "jsonl" && !batch.quiet) warned.warn(io, answered);
  return bad;
}

const count = (number: number): string => number.toLocaleString("en");

const isBlank = (line: Line): boolean => "text" in line && line.text.trim() === "";

interface Audience {
  readonly batch: Batch;
  readonly warned: Warned;
  readonly io: Io;
}

/** Writes what came of the lines, in their order; tells how many were bad. */
function writeAnswers(
  lines: readonly Line[],
  outcomes: readonly (Result | DecisionError)[],
  { batch: { format }, warned, io }: Audience,
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
      answers += write(outcome, format);
      warned.note(line, outcome);
      if (answers.length > flushedAt) flush();
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

function openLines(file: string, io: Io): Input {
  if (file === "-") {
    refuseTerminal(io);
    return io.stdin;
  }
  try {
    return input(openSync(file, "r"));
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function* readable(file: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces;
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): DecisionError {
  const what = file === "-" ? "standard input" : `\`${file}\``;
  const message = `cannot read ${what}: ${(error as Error).message}`;
  return new DecisionError("input_invalid", message, { cause: error });
}

async function answerLine(line: Line, batch: Batch, world: Composed): Promise<Result | DecisionError> {
  try {
    if ("tooLong" in line) throw new DecisionError("input_invalid", "the line is longer than 16 MiB");
    const given = parseJson(line.number === 1 ? withoutMark(line.text) : line.text, "the line");
    const decide = batch.follow ? world.follow : world.decide;
    return await decide({ ...batch.request, context: batch.toContext(given) });
  } catch (error) {
    if (error instanceof DecisionError && !endsAll.has(error.code)) return error;
    throw error;
  }
}

/** Where one decision cannot be recorded, none can. */
const endsAll: ReadonlySet<ErrorCode> = new Set(["store_failed", "store_busy", "log_damaged"]);

function write(result: Result, format: BatchFormat): string {
  switch (format) {
    case "jsonl":
      return `${resultLine(result)}\n`;
    case "plain":
      return `${plainResult(result)}\n`;
    case "target":
      return `${targetLine(result)}\n`;
    case "audit":
      return auditText(result);
  }
}

/** Lines with warnings, be it of a condition or a guardrail: told once, not a thousand times. */
class Warned {
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
