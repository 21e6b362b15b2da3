import type { Readable } from "node:stream";
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import type { McpOptions } from "./server.js";
import type { JsonRpcError } from "./json-rpc.js";
import { parseLine, jsonRpcError } from "./json-rpc.js";
import { isJSONRPCRequest, ProtocolErrorCode } from "./sdk.js";

interface LineTransport extends Transport {
  /** Resolves at the end of the input. */
  readonly ended: Promise<void>;
  /** Stops reading. Resolves when every request is answered. */
  readonly drain: () => Promise<void>;
}

interface LineTransportOptions extends Pick<McpOptions, "log"> {
  readonly input: Readable;
  readonly write: (text: string) => Promise<void>;
}

/** Longer lines are answered with an error. */
const maxLineBytes = 4 * 1024 * 1024;

/**
 * A transport with one JSON-RPC message per line. The transport of the SDK stops at the first line that is too long,
 * and drops running requests when the input ends.
 */
export function lineTransport({ input, write, log }: LineTransportOptions): LineTransport {
  const waiting = new Set<RequestId>();
  let onAllAnswered = (): void => undefined;
  let onEnded = (): void => undefined;
  const ended = new Promise<void>((resolve) => (onEnded = resolve));
  const markAnswered = (id: unknown): void => {
    if (waiting.delete(id as RequestId) && waiting.size === 0) onAllAnswered();
  };
  const reject = (error: JsonRpcError): void => {
    log({ level: "warn", event: "refused_line", ...error.error });
    void write(`${JSON.stringify(error)}\n`);
  };
  const lines = lineSplitter(maxLineBytes, {
    onLine(line) {
      const parsed = parseLine(line);
      if (parsed === "nothing") return;
      if ("error" in parsed) {
        reject(parsed.error);
        return;
      }
      if (expectsResponse(parsed.message)) waiting.add(parsed.message.id);
      markAnswered(cancelledRequestId(parsed.message));
      transport.onmessage?.(parsed.message);
    },
    onTooLong: () =>
      reject(jsonRpcError(ProtocolErrorCode.InvalidRequest, `the line is longer than ${maxLineBytes} bytes`)),
  });
  const stop = (): void => {
    input.off("data", lines.push).pause();
  };
  const end = (): void => {
    lines.end();
    onEnded();
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
      if ("id" in message && !("method" in message)) markAnswered(message.id);
    },
    drain() {
      stop();
      return waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => (onAllAnswered = resolve));
    },
    close() {
      stop();
      this.onclose?.();
      return Promise.resolve();
    },
  };
  return transport;
}

/** A subscription is answered only when it ends. */
const expectsResponse = (message: JSONRPCMessage): message is JSONRPCMessage & { readonly id: RequestId } =>
  isJSONRPCRequest(message) && message.method !== "subscriptions/listen";

/** Returns the id of a cancelled request, which gets no response. */
function cancelledRequestId(message: JSONRPCMessage): unknown {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params?.["requestId"];
}

const newline = 0x0a;

interface LineListener {
  readonly onLine: (line: Buffer) => void;
  /** Called once for each line that exceeds the limit. */
  readonly onTooLong: () => void;
}

interface LineSplitter {
  readonly push: (chunk: Buffer) => void;
  /** Handles text without a final line break as the last line. */
  readonly end: () => void;
}

/** Splits chunks into lines. Buffers at most one line. */
function lineSplitter(maxBytes: number, { onLine, onTooLong }: LineListener): LineSplitter {
  let pieces: Buffer[] = [];
  let length = 0;
  const keep = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const finish = (): void => {
    if (length > maxBytes) onTooLong();
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
