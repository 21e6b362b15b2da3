import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { Readable, Writable } from "node:stream";
import type { McpOptions } from "../../../src/serve/mcp/server.js";
import { serveStdio } from "../../../src/serve/mcp/stdio.js";

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A session of a client that writes raw lines. */
export interface Session {
  readonly send: (line: string | Buffer) => void;
  readonly ask: (id: number, method: string, params?: object) => void;
  readonly next: () => Promise<Message>;
  readonly nextLine: () => Promise<string>;
  /** All lines so far. */
  readonly lines: readonly string[];
}

export const opening = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

export function sessionOver(input: Writable, output: Readable): Session {
  const lines: string[] = [];
  let read = 0;
  const arrivals = createInterface({ input: output })
    .on("line", (line) => lines.push(line))
    .on("error", () => undefined);
  const nextLine = async (): Promise<string> => {
    while (lines[read] === undefined) await once(arrivals, "line");
    return lines[read++] ?? "";
  };
  const send = (line: string | Buffer): void => void input.write(line);
  return {
    lines,
    send,
    ask: (id, method, params = {}) => send(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`),
    nextLine,
    next: async () => JSON.parse(await nextLine()) as Message,
  };
}

/** Initializes the session as in the older protocol. */
export async function open({ ask, next, send }: Session): Promise<void> {
  ask(0, "initialize", opening);
  await next();
  send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
}

export interface InProcess extends Session {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly aside: PassThrough;
  readonly ended: Promise<void>;
}

export function serveInProcess(options: McpOptions): InProcess {
  const [input, output, aside] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ended = serveStdio(options, { input, output, errorOutput: aside });
  return { ...sessionOver(input, output), input, output, aside, ended };
}
