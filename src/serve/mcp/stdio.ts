import type { Readable, Writable } from "node:stream";
import { lineTransport } from "./line-transport.js";
import type { PlainServer } from "./sdk.js";
import { serveOver } from "./sdk.js";
import type { McpOptions } from "./server.js";
import { createWorkTracker, createMcpServer } from "./server.js";

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
  /** Where that goes which is no part of the protocol. */
  readonly errorOutput: Writable;
}

/** Answers whoever started us, until the input ends or a signal comes; what was begun by then is still answered. */
export async function serveStdio(
  options: McpOptions,
  { input, output, errorOutput: aside }: StdioStreams = {
    input: process.stdin,
    output: process.stdout,
    errorOutput: process.stderr,
  },
): Promise<void> {
  const { write, release } = reserveStream(output, aside);
  const { track: during, idle } = createWorkTracker();
  const transport = lineTransport({ input, write, log: options.log });
  const stopped = listenForStop(output);
  const handle = serveOver(
    ({ era }) => {
      const connection = { caller: undefined, correlationId: undefined, listChanged: true, during };
      const server = createMcpServer(options, connection);
      notifyChanges(server, era, options);
      return server;
    },
    { transport, onerror: ({ message }) => options.log({ level: "warn", event: "protocol", message }) },
  );
  await Promise.race([transport.ended, stopped.asked]);
  stopped.forget();
  await transport.drain();
  await idle();
  await handle.close();
  release();
}

const signals = ["SIGINT", "SIGTERM"] as const;

/** By a signal, which is heard once, or because nobody reads our answers any more. */
function listenForStop(output: Writable): { readonly asked: Promise<void>; readonly forget: () => void } {
  let stop = (): void => undefined;
  const asked = new Promise<void>((resolve) => (stop = resolve));
  for (const signal of signals) process.once(signal, stop);
  output.on("error", stop);
  // The stream stays guarded: answers to what is still running fail one by one.
  return { asked, forget: () => signals.forEach((signal) => process.off(signal, stop)) };
}

/** Before a client of the old kind says that it is ready, it must not be told anything. */
function notifyChanges(server: PlainServer, era: "legacy" | "modern", { subscribe, log }: McpOptions): void {
  const onTrouble = (error: unknown): void =>
    log({ level: "warn", event: "protocol", message: String(error) });
  let forget = (): void => undefined;
  const begin = (): void => {
    forget();
    forget = subscribe(() => {
      server.sendToolListChanged().catch(onTrouble);
      server.sendResourceListChanged().catch(onTrouble);
    });
  };
  if (era === "modern") begin();
  else server.oninitialized = begin;
  server.onclose = () => forget();
}

export interface ReservedStream {
  /** Resolves when it is written, or can never be. */
  readonly write: (text: string) => Promise<void>;
  readonly release: () => void;
}

/** Keeps a stream for one writer: what others write to it, `console.log` too, goes elsewhere. */
export function reserveStream(stream: Writable, elsewhere: Writable): ReservedStream {
  const usual = Object.getOwnPropertyDescriptor(stream, "write");
  const write = stream.write.bind(stream);
  const redirected = elsewhere.write.bind(elsewhere);
  Object.defineProperty(stream, "write", { value: redirected, configurable: true, writable: true });
  return {
    write: (text) => new Promise((resolve) => void write(text, () => resolve())),
    release() {
      if (usual === undefined) Reflect.deleteProperty(stream, "write");
      else Object.defineProperty(stream, "write", usual);
    },
  };
}
