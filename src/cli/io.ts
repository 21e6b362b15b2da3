import { fstatSync, readSync, statSync, writeSync } from "node:fs";
import { DecisionError } from "../errors.js";

/** The terminal or pipes that a command talks to; the only place that writes. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: Stream;
  readonly err: Stream;
  readonly stdin: Input;
}

export interface Stream {
  readonly isTerminal: boolean;
  /** How wide it is; without limit where it is no terminal. */
  readonly columns: number;
  write(text: string): void;
}

export interface Input {
  readonly isTerminal: boolean;
  /** Undefined: it is no file or stream of the system. */
  readonly fd?: number;
  /** Fills the buffer with what there is, at least one byte; 0 at the end. */
  read(buffer: Uint8Array): number;
}

/** Thrown when whoever reads our output has gone; `| head` is no error. */
export class OutputClosed extends Error {}

export function processIo(): Io {
  return { env: process.env, cwd: process.cwd(), out: stream(1), err: stream(2), stdin: input(0) };
}

function stream(fd: 1 | 2): Stream {
  return {
    get isTerminal() {
      return isTerminalDevice(fd);
    },
    get columns() {
      if (!this.isTerminal) return Infinity;
      return (fd === 1 ? process.stdout : process.stderr).columns || 80;
    },
    write: (text) => writeAll(fd, Buffer.from(text)),
  };
}

/** Straight to the descriptor: loading `process.stdout` takes longer than making a decision. */
function writeAll(fd: 1 | 2, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") throw new OutputClosed();
      if (code !== "EAGAIN") throw unwritable(error as Error);
      pause(2);
    }
  }
}

function unwritable(error: Error): DecisionError {
  return new DecisionError("file_unwritable", `the answer could not be written: ${error.message}`, {
    cause: error,
  });
}

/** node:tty brings all of the network code along, so it is only asked about what may be a terminal. */
function isTerminalDevice(fd: number): boolean {
  const stats = attempt(() => fstatSync(fd));
  if (!stats?.isCharacterDevice() || stats.rdev === attempt(() => statSync("/dev/null"))?.rdev) return false;
  return fd === 0 ? process.stdin.isTTY : (fd === 1 ? process.stdout : process.stderr).isTTY;
}

function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
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

const waiting = new Int32Array(new SharedArrayBuffer(4));

/** A pipe that is full or empty for the moment answers EAGAIN; there is nothing else to do but wait. */
function pause(milliseconds: number): void {
  Atomics.wait(waiting, 0, 0, milliseconds);
}

/** Whether something that cannot be undone may be done: `--yes`, or a yes on the terminal. */
export function confirm(question: string, { yes = false }: { readonly yes?: boolean }, io: Io): boolean {
  if (yes) return true;
  if (!io.stdin.isTerminal || !io.err.isTerminal) {
    throw new DecisionError("usage", "this cannot be undone, so it has to be confirmed", {
      hint: "add --yes to do it without being asked",
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
