import { fstatSync, readSync, statSync, writeSync } from "node:fs";
import type { WriteStream } from "node:tty";
import { DecisionError } from "../errors.js";
import { wrapMessages } from "../present/text-width.js";
import { terminalText } from "../text.js";

/** Environment and streams of a command. Commands write through it only. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: Stream;
  readonly err: Stream;
  readonly stdin: Input;
}

export interface Stream {
  readonly isTerminal: boolean;
  /** Equal for two streams to one terminal; undefined if it is not a terminal. */
  readonly terminalId: number | undefined;
  /** Width in columns; Infinity if it is not a terminal. */
  readonly columns: number;
  /** Height; 0 if it is not known. */
  readonly rows: number;
  /** True once a write has found that the reader has closed the pipe. */
  readonly isClosed: boolean;
  /** Writes text that moves the cursor. It must not contain data that is not escaped. */
  draw(text: string): void;
  /**
   * Drops text that has no reader: a command ends as usual, because its exit code is part of the answer. What is drawn
   * around the text is part of the same write.
   */
  write(text: string, around?: DrawnAround): void;
}

export interface DrawnAround {
  readonly before: string;
  readonly after: string;
}

/** The width for help, also in a pipe to a pager: then standard error is the terminal. */
export const helpWidth = ({ out, err }: Io): number => Math.min(out.columns, err.columns);

/**
 * Writes through `io`, but escapes what data could do to a terminal, and wraps messages to its width. A pipe receives
 * the data as it is.
 */
export function escapeForTerminal(io: Io): Io {
  const wrapped = (text: string): string => wrapMessages(text, io.err.columns);
  return { ...io, out: escapingStream(io.out), err: escapingStream(io.err, wrapped) };
}

function escapingStream(stream: Stream, format = (text: string): string => text): Stream {
  let isTerminal: boolean | undefined;
  return {
    get isTerminal() {
      return stream.isTerminal;
    },
    get terminalId() {
      return stream.terminalId;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    get isClosed() {
      return stream.isClosed;
    },
    write(text, around) {
      isTerminal ??= stream.isTerminal;
      stream.write(isTerminal ? format(terminalText(text)) : text, around);
    },
    draw: (text) => stream.draw(text),
  };
}

export interface Input {
  readonly isTerminal: boolean;
  /** The file descriptor; undefined in tests. */
  readonly fd?: number;
  /** Reads at least one byte into the buffer and returns the number of bytes; 0 at the end. */
  read(buffer: Uint8Array): number;
}

/** Ends a command that prints a stream of answers early; `| head` is not an error. */
export class OutputClosed extends Error {}

/** Throws `OutputClosed` if the reader has closed the pipe. */
export function assertOpen(stream: Pick<Stream, "isClosed">): void {
  if (stream.isClosed) throw new OutputClosed();
}

export function processIo(): Io {
  return { env: process.env, cwd: process.cwd(), out: stream(1), err: stream(2), stdin: input(0) };
}

function stream(fd: 1 | 2): Stream {
  let isClosed = false;
  const write = (text: string): void => {
    isClosed ||= !writeAll(fd, Buffer.from(text));
  };
  const tty = (): WriteStream => (fd === 1 ? process.stdout : process.stderr);
  return {
    get isClosed() {
      return isClosed;
    },
    get isTerminal() {
      return isTerminalDevice(fd);
    },
    get terminalId() {
      return this.isTerminal ? fstatSync(fd).rdev : undefined;
    },
    get columns() {
      return this.isTerminal ? tty().columns || 80 : Infinity;
    },
    get rows() {
      return this.isTerminal ? tty().rows || 0 : 0;
    },
    write: (text, around) => write(around === undefined ? text : around.before + text + around.after),
    draw: write,
  };
}

/**
 * Writes to the file descriptor: loading `process.stdout` takes longer than making a decision. Returns false if the
 * reader has closed the pipe.
 */
function writeAll(fd: 1 | 2, bytes: Uint8Array): boolean {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return false;
      if (code !== "EAGAIN") throw unwritable(error as Error);
      pause(2);
    }
  }
  return true;
}

function unwritable(error: Error): DecisionError {
  return new DecisionError("file_unwritable", `cannot write output: ${error.message}`, {
    cause: error,
  });
}

/** Loads node:tty, and with it the network modules, only if the descriptor can be a terminal. */
function isTerminalDevice(fd: number): boolean {
  const stats = attempt(() => fstatSync(fd));
  if (!stats?.isCharacterDevice() || stats.rdev === attempt(() => statSync("/dev/null"))?.rdev) return false;
  return fd === 0 ? process.stdin.isTTY : (fd === 1 ? process.stdout : process.stderr).isTTY;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

export function input(fd: number): Input {
  return {
    fd,
    get isTerminal() {
      return isTerminalDevice(fd);
    },
    read(buffer) {
      for (;;) {
        try {
          return readSync(fd, buffer);
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          if (code === "EOF") return 0;
          if (code !== "EAGAIN") throw error;
          pause(2);
        }
      }
    },
  };
}

const waitBuffer = new Int32Array(new SharedArrayBuffer(4));

/** Blocks. A full or empty non-blocking pipe returns EAGAIN, so the only option is to wait and retry. */
function pause(milliseconds: number): void {
  Atomics.wait(waitBuffer, 0, 0, milliseconds);
}

/** Asks before an action that cannot be undone. Returns true with `--yes`, or if the user answers yes. */
export function confirm(question: string, { yes = false }: { readonly yes?: boolean }, io: Io): boolean {
  if (yes) return true;
  if (!io.stdin.isTerminal || !io.err.isTerminal) {
    throw new DecisionError("usage", "this cannot be undone and needs confirmation", {
      hint: "add --yes to confirm",
    });
  }
  io.err.write(`${question} [y/N] `);
  const answer = readAnswer(io);
  if (!answer.endsWith("\n")) io.err.write("\n");
  return /^y(?:es)?$/i.test(answer.trim());
}

function readAnswer(io: Io): string {
  const buffer = new Uint8Array(256);
  return Buffer.from(buffer.subarray(0, io.stdin.read(buffer))).toString("utf8");
}
