import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import type { Readable } from "node:stream";
import { lineSplitter } from "./line-splitter.js";
import type { McpOptions } from "./options.js";
import type { Refusal } from "./read-message.js";
import { readMessage, refusal } from "./read-message.js";
import { isJSONRPCRequest, ProtocolErrorCode } from "./sdk.js";

export interface LineTransport extends Transport {
  /** There is no more to be read. */
  readonly ended: Promise<void>;
  /** Reads no more; resolves when all that was asked is answered. */
  readonly settle: () => Promise<void>;
}

interface Streams extends Pick<McpOptions, "log"> {
  readonly input: Readable;
  readonly write: (text: string) => Promise<void>;
}

/** As long as the body of a request may be. */
const longest = 4 * 1024 * 1024;

/**
 * A message on each line. That of the SDK gives up at the first line that is too long, and forgets what it was asked
 * when the input ends.
 */
export function lineTransport({ input, write, log }: Streams): LineTransport {
  const waiting = new Set<RequestId>();
  let whenAnswered = (): void => undefined;
  let whenEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => (whenEnded = resolve));
  const answered = (id: unknown): void => {
    if (waiting.delete(id as RequestId) && waiting.size === 0) whenAnswered();
  };
  const refuse = (given: Refusal): void => {
    log({ level: "warn", event: "refused_line", ...given.error });
    void write(`${JSON.stringify(given)}\n`);
  };
  const lines = lineSplitter(longest, {
    onLine(line) {
      const read = readMessage(line);
      if (read === "nothing") return;
      if ("refusal" in read) {
        refuse(read.refusal);
        return;
      }
      if (isAwaited(read.message)) waiting.add(read.message.id);
      answered(cancelledBy(read.message));
      transport.onmessage?.(read.message);
    },
    onOverlong: () =>
      refuse(refusal(ProtocolErrorCode.InvalidRequest, `the line is longer than ${longest} bytes`)),
  });
  const stop = (): void => {
    input.off("data", lines.push).pause();
  };
  const end = (): void => {
    lines.end();
    whenEnded();
  };
  const transport: LineTransport = {
    ended,
    start() {
      input.on("data", lines.push).once("end", end).once("close", end).once("error", end);
      if (input.readableEnded || input.destroyed) end();
      return Promise.resolve();
    },
    async send(message) {
      await write(`${JSON.stringify(message)}\n`);
      if ("id" in message && !("method" in message)) answered(message.id);
    },
    settle() {
      stop();
      return waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => (whenAnswered = resolve));
    },
    close() {
      stop();
      this.onclose?.();
      return Promise.resolve();
    },
  };
  return transport;
}

/** A subscription is only answered when all is over. */
const isAwaited = (message: JSONRPCMessage): message is JSONRPCMessage & { readonly id: RequestId } =>
  isJSONRPCRequest(message) && message.method !== "subscriptions/listen";

/** Nobody answers what was cancelled. */
function cancelledBy(message: JSONRPCMessage): unknown {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params?.["requestId"];
}
