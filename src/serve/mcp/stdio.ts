import type { Readable, Writable } from "node:stream";
import { lineTransport } from "./line-transport.js";
import type { PlainServer } from "./sdk.js";
import { serveOver } from "./sdk.js";
import type { McpOptions } from "./server.js";
import { createWorkTracker, createMcpServer } from "./server.js";

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Receives everything that is not part of the protocol. */
  readonly errorOutput: Writable;
}

/** Serves MCP on standard input and output until the input ends or a signal arrives, then finishes running requests. */
export async function serveStdio(
  options: McpOptions,
  { input, output, errorOutput }: StdioStreams = {
    input: process.stdin,
    output: process.stdout,
    errorOutput: process.stderr,
  },
): Promise<void> {
  const { write, release } = reserveStream(output, errorOutput);
  const { track, idle } = createWorkTracker();
  const transport = lineTransport({ input, write, log: options.log });
  const stop = listenForStop(output);
  const handle = serveOver(
    ({ era }) => {
      const connection = { caller: undefined, correlationId: undefined, listChanged: true, track };
      const server = createMcpServer(options, connection);
      notifyChanges(server, era, options);
      return server;
    },
    { transport, onerror: ({ message }) => options.log({ level: "warn", event: "protocol", message }) },
  );
  await Promise.race([transport.ended, stop.requested]);
  stop.forget();
  await transport.drain();
  await idle();
  await handle.close();
  release();
}

const signals = ["SIGINT", "SIGTERM"] as const;

/** Resolves on the first signal, or when the output is closed. */
function listenForStop(output: Writable): { readonly requested: Promise<void>; readonly forget: () => void } {
  let stop = (): void => undefined;
  const requested = new Promise<void>((resolve) => (stop = resolve));
  for (const signal of signals) process.once(signal, stop);
  output.on("error", stop);
  // The error listener stays: responses to running requests still fail one by one.
  return { requested, forget: () => signals.forEach((signal) => process.off(signal, stop)) };
}

/** Notifies the client of changes; one of the older protocol only after it has sent `initialized`. */
function notifyChanges(server: PlainServer, era: "legacy" | "modern", { subscribe, log }: McpOptions): void {
  const onError = (error: unknown): void => log({ level: "warn", event: "protocol", message: String(error) });
  let forget = (): void => undefined;
  const begin = (): void => {
    forget();
    forget = subscribe(() => {
      server.sendToolListChanged().catch(onError);
      server.sendResourceListChanged().catch(onError);
    });
  };
  if (era === "modern") begin();
  else server.oninitialized = begin;
  server.onclose = () => forget();
}

export interface ReservedStream {
  /** Resolves when the text is written or writing fails. */
  readonly write: (text: string) => Promise<void>;
  readonly release: () => void;
}

/** Reserves a stream for one writer: other writes to it, including `console.log`, go to `fallback`. */
export function reserveStream(stream: Writable, fallback: Writable): ReservedStream {
  const original = Object.getOwnPropertyDescriptor(stream, "write");
  const write = stream.write.bind(stream);
  const redirected = fallback.write.bind(fallback);
  Object.defineProperty(stream, "write", { value: redirected, configurable: true, writable: true });
  return {
    write: (text) => new Promise((resolve) => void write(text, () => resolve())),
    release() {
      if (original === undefined) Reflect.deleteProperty(stream, "write");
      else Object.defineProperty(stream, "write", original);
    },
  };
}
