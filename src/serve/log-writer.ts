import type { AuthenticatedCaller } from "../model/record.js";
import { printable } from "../text.js";

/** Appends bytes to the log, then calls `done`. */
export type WriteBytes = (bytes: Uint8Array, done: (error: Error | null) => void) => void;

export type LogLevel = "info" | "warn" | "error";

/** Requests do not wait for a slow reader of the log; at most this much is buffered. */
const maxBufferedChars = 1024 * 1024;

/** How long lines are collected before they are written. */
const batchMs = 20;

/** Writes log entries as JSON lines, in batches. */
export class LogWriter {
  readonly #write: WriteBytes;
  readonly #clock: () => string;
  readonly #isQuiet: boolean;
  #buffer = "";
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #writeNow = (): void => undefined;

  constructor(write: WriteBytes, options: { readonly clock: () => string; readonly quiet: boolean }) {
    this.#write = write;
    this.#clock = options.clock;
    this.#isQuiet = options.quiet;
  }

  /** Writes an entry; a quiet log leaves out the level `info`. */
  log(level: LogLevel, message: string, fields: object = {}): void {
    if (this.#isQuiet && level === "info") return;
    // The log may be read on a terminal; the escapes do not change the JSON value.
    this.#add(`${printable(JSON.stringify({ time: this.#clock(), level, message, ...fields }))}\n`);
    if (level !== "info") this.#writeNow();
  }

  /** Writes plain text for people between the entries. */
  writeText(text: string): void {
    this.#add(`${printable(text)}\n`);
    this.#writeNow();
  }

  /** Resolves when everything is written, when writing fails, or after the timeout. */
  async flush(timeoutMs = Infinity): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      if (timeoutMs < Infinity) timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#allWritten(), timeout]);
    clearTimeout(timer);
  }

  async #allWritten(): Promise<void> {
    while (this.#writing !== undefined) {
      this.#writeNow();
      await this.#writing;
    }
  }

  #add(line: string): void {
    if (this.#buffer.length > maxBufferedChars) {
      this.#dropped++;
      return;
    }
    this.#buffer += line;
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    await this.#collect();
    while (this.#buffer !== "") {
      const lines = this.#buffer;
      this.#buffer = "";
      await new Promise<void>((resolve) => this.#write(Buffer.from(lines), () => resolve()));
      if (this.#dropped > 0 && this.#buffer.length < maxBufferedChars) this.#logDropped();
    }
    this.#writing = undefined;
  }

  /** Waits a moment for more lines, unless one is urgent. */
  async #collect(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, batchMs);
      this.#writeNow = () => {
        clearTimeout(timer);
        setImmediate(resolve);
      };
    });
    this.#writeNow = () => undefined;
  }

  #logDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.log("warn", "log lines were dropped because the log could not be written in time", { dropped });
  }
}

/** The fields of a log entry that identify the caller. */
export const callerLogFields = (caller: AuthenticatedCaller | undefined): object =>
  caller === undefined ? {} : { caller: caller.subject, actors: caller.actors.map(({ subject }) => subject) };

/** Rounds to microseconds. */
export const roundMs = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;
