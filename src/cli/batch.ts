import { stopwatch } from "../clock.js";
import { openSync } from "node:fs";
import type { Composed } from "../compose.js";
import { DecisionError } from "../errors.js";
import type { Result } from "../model/result.js";
import { printable } from "../printable.js";
import { resultLine } from "../present/result-line.js";
import { plainResult, targetLine } from "../present/result-view.js";
import { parseJson, refuseTerminal } from "./input.js";
import type { Input, Io } from "./io.js";
import { input } from "./io.js";
import type { Line } from "./lines.js";
import { readLines } from "./lines.js";
import { errorDocument } from "./report-error.js";

export type BatchFormat = "jsonl" | "plain" | "target";

/** Enough for one write to be worth it, little enough to be gone before the garbage collector ages it. */
const flushedAt = 64 * 1024;

export interface Batch {
  readonly decisionId: string;
  readonly file: string;
  readonly format: BatchFormat;
  readonly dryRun: boolean;
  readonly strict: boolean;
  readonly quiet: boolean;
}

/** Answers each line of a file or of standard input; tells how many lines could not be answered. */
export async function answerLines(batch: Batch, world: Composed, io: Io): Promise<number> {
  const progress = new Progress(io, batch.quiet);
  const unanswered = new Unanswered();
  let bad = 0;
  let answered = 0;
  for (const lines of readLines(openLines(batch.file, io))) {
    let answers = "";
    for (const line of lines) {
      if ("text" in line && line.text.trim() === "") continue;
      const outcome = await answerLine(line, batch, world);
      answered++;
      if (!(outcome instanceof DecisionError)) {
        answers += write(outcome, batch.format);
        unanswered.note(line.number, outcome);
        if (answers.length > flushedAt) {
          io.out.write(answers);
          answers = "";
        }
        continue;
      }
      bad++;
      if (batch.format === "jsonl")
        answers += `${JSON.stringify({ line: line.number, ...errorDocument(outcome) })}\n`;
      else {
        // An empty line keeps answers and questions in step.
        io.out.write(`${answers}\n`);
        answers = "";
        io.err.write(`error: line ${line.number}: ${printable(outcome.message)}\n`);
      }
    }
    progress.erase();
    io.out.write(answers);
    progress.show(answered);
  }
  progress.erase();
  if (batch.format !== "jsonl" && !batch.quiet) unanswered.warn(io, answered);
  return bad;
}

function openLines(file: string, io: Io): Input {
  if (file === "-") {
    refuseTerminal(io);
    return io.stdin;
  }
  const opened = reading(file, () => input(openSync(file, "r")));
  return { isTerminal: false, read: (buffer) => reading(file, () => opened.read(buffer)) };
}

function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const message = `cannot read \`${file}\`: ${(error as Error).message}`;
    throw new DecisionError("input_invalid", message, { cause: error });
  }
}

async function answerLine(line: Line, batch: Batch, world: Composed): Promise<Result | DecisionError> {
  try {
    if ("tooLong" in line) throw new DecisionError("input_invalid", "the line is longer than 16 MiB");
    const context = parseJson(line.text, "the line");
    return await world.decide({
      decision_id: batch.decisionId,
      context,
      dry_run: batch.dryRun,
      strict: batch.strict,
    });
  } catch (error) {
    if (error instanceof DecisionError) return error;
    throw error;
  }
}

function write(result: Result, format: BatchFormat): string {
  switch (format) {
    case "jsonl":
      return `${resultLine(result)}\n`;
    case "plain":
      return `${plainResult(result)}\n`;
    case "target":
      return `${targetLine(result)}\n`;
  }
}

/** Lines with conditions that could not be evaluated: told once, not a thousand times. */
class Unanswered {
  #lines = 0;
  #first = "";

  note(line: number, { warnings }: Result): void {
    const [warning] = warnings;
    if (warning === undefined) return;
    if (++this.#lines === 1) this.#first = `line ${line}: ${warning}`;
  }

  warn(io: Io, answered: number): void {
    if (this.#lines === 0) return;
    const what = `${this.#lines} of ${answered} lines had something that could not be evaluated`;
    io.err.write(`warning: ${what}; first ${printable(this.#first)}\n`);
  }
}

/** A line on the terminal that says how far we are; nothing anywhere else. */
class Progress {
  readonly #io: Io;
  readonly #wanted: boolean;
  readonly #startedAt = stopwatch();
  #shownAt = 0;
  #visible = false;

  constructor(io: Io, quiet: boolean) {
    this.#io = io;
    this.#wanted = io.err.isTerminal && !quiet;
  }

  show(answered: number): void {
    const now = stopwatch();
    if (!this.#wanted || now - this.#startedAt < 300 || now - this.#shownAt < 100) return;
    const rate = Math.round(answered / ((now - this.#startedAt) / 1000));
    this.#io.err.write(
      `\r${answered.toLocaleString("en")} answered, ${rate.toLocaleString("en")} per second\u001b[K`,
    );
    this.#shownAt = now;
    this.#visible = true;
  }

  erase(): void {
    if (this.#visible) this.#io.err.write("\r\u001b[K");
    this.#visible = false;
  }
}
