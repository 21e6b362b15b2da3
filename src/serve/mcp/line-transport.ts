import type { Readable } from "node:stream";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import type { McpOptions } from "./server.js";
import type { JsonRpcError } from "./json-rpc.js";
import { parseLine, jsonRpcError } from "./json-rpc.js";
import { isJSONRPCRequest, ProtocolErrorCode } from "./sdk.js";

interface LineTransport extends Transport {
  /** There is no more to be read. */
  readonly ended: Promise<void>;
  /** Reads no more; resolves when all that was asked is answered. */
  readonly drain: () => Promise<void>;
}

interface LineTransportOptions extends Pick<McpOptions, "log"> {
  readonly input: Readable;
  readonly write: (text: string) => Promise<void>;
}

/** As long as the body of a request may be. */
const maxLineBytes = 4 * 1024 * 1024;

/**
 * A message on each line. That of the SDK gives up at the first line that is too long, and forgets what it was asked
 * when the input ends.
 */
export function lineTransport({ input, write, log }: LineTransportOptions): LineTransport {
  const waiting = new Set<RequestId>();
  let whenAnswered = (): void => undefined;
  let whenEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => (whenEnded = resolve));
  const answered = (id: unknown): void => {
    if (waiting.delete(id as RequestId) && waiting.size === 0) whenAnswered();
  };
  const refuse = (given: JsonRpcError): void => {
    log({ level: "warn", event: "refused_line", ...given.error });
    void write(`${JSON.stringify(given)}\n`);
  };
  const lines = lineSplitter(maxLineBytes, {
    onLine(line) {
      const read = parseLine(line);
      if (read === "nothing") return;
      if ("refusal" in read) {
        refuse(read.refusal);
        return;
      }
      if (expectsResponse(read.message)) waiting.add(read.message.id);
      answered(cancelledRequestId(read.message));
      transport.onmessage?.(read.message);
    },
    onTooLong: () =>
      refuse(jsonRpcError(ProtocolErrorCode.InvalidRequest, `the line is longer than ${maxLineBytes} bytes`)),
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
    drain() {
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
const expectsResponse = (message: JSONRPCMessage): message is JSONRPCMessage & { readonly id: RequestId } =>
  isJSONRPCRequest(message) && message.method !== "subscriptions/listen";

/** Nobody answers what was cancelled. */
function cancelledRequestId(message: JSONRPCMessage): unknown {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params?.["requestId"];
}

const newline = 0x0a;

interface LineListener {
  readonly onLine: (line: Buffer) => void;
  /** Once for each line that is longer, however long. */
  readonly onTooLong: () => void;
}

interface LineSplitter {
  readonly push: (chunk: Buffer) => void;
  /** What is left without a line break is the last line. */
  readonly end: () => void;
}

/** Cuts what arrives into lines, and never holds more than one of them. */
function lineSplitter(longest: number, { onLine, onTooLong: onOverlong }: LineListener): LineSplitter {
  let pieces: Buffer[] = [];
  let length = 0;
  const keep = (piece: Buffer): void => {
    length += piece.length;
    if (length > longest) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const finish = (): void => {
    if (length > longest) onOverlong();
    else if (length > 0) onLine(Buffer.concat(pieces));
    pieces = [];
    length = 0;
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        keep(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      keep(chunk.subarray(from));
    },
    end: finish,
  };
}
