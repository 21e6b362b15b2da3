import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io, Stream } from "../../src/cli/io.js";

const home = mkdtempSync(join(tmpdir(), "agent-33-home-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

export interface FakeIo extends Io {
  readonly written: { out: string; err: string };
}

interface FakeOptions {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Undefined: standard input is a terminal. */
  readonly stdin?: string | Uint8Array;
}

/** A terminal or pipes that remember what was written to them. */
export function fakeIo({
  terminal = false,
  columns = 100,
  env = {},
  cwd = process.cwd(),
  stdin,
}: FakeOptions = {}): FakeIo {
  const written = { out: "", err: "" };
  const stream = (name: "out" | "err"): Stream => ({
    isTerminal: terminal,
    terminalId: terminal ? 1 : undefined,
    isClosed: false,
    columns: terminal ? columns : Infinity,
    rows: terminal ? 24 : 0,
    write: (text, { before, after } = { before: "", after: "" }) => (written[name] += before + text + after),
    draw: (text) => (written[name] += text),
  });
  let rest = Buffer.from(stdin ?? "");
  return {
    written,
    cwd,
    env: { AGENT33_CACHE: "", AGENT33_HOME: home, ...env },
    out: stream("out"),
    err: stream("err"),
    stdin: {
      isTerminal: stdin === undefined,
      read(buffer) {
        const length = Math.min(buffer.length, rest.length);
        buffer.set(rest.subarray(0, length));
        rest = rest.subarray(length);
        return length;
      },
    },
  };
}
