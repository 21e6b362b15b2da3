import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import { parseJSONRPCMessage, ProtocolErrorCode } from "./sdk.js";

/** What is answered to a line that is no message. */
export interface Refusal {
  readonly jsonrpc: "2.0";
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

export type Read = { readonly message: JSONRPCMessage } | { readonly refusal: Refusal } | "nothing";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Understands one line. */
export function readMessage(line: Buffer): Read {
  let value: unknown;
  try {
    const text = utf8.decode(line);
    if (text.trim() === "") return "nothing";
    value = JSON.parse(text);
  } catch {
    return { refusal: refusal(ProtocolErrorCode.ParseError, "the line is not JSON") };
  }
  try {
    return { message: parseJSONRPCMessage(value) };
  } catch {
    return refused(value);
  }
}

export function refusal(code: number, message: string, id: RequestId | null = null): Refusal {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

export const batchRefusal = (): Refusal =>
  refusal(ProtocolErrorCode.InvalidRequest, "batches are not supported");

/** What seems to be an answer is not answered: two who did that would never come to an end. */
function refused(value: unknown): Read {
  const { InvalidRequest } = ProtocolErrorCode;
  if (Array.isArray(value)) return { refusal: batchRefusal() };
  const { id, method, result, error } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (method === undefined && (result !== undefined || error !== undefined)) return "nothing";
  const known = typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
  return { refusal: refusal(InvalidRequest, "the line is not a JSON-RPC 2.0 message", known) };
}
