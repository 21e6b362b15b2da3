import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import type { McpOptions } from "./server.js";
import { parseJSONRPCMessage, ProtocolErrorCode, ProtocolError } from "./sdk.js";
import { InvalidJson, parseJson } from "../../digest/parse-json.js";
import { DecisionError, errorDocument, toFileError } from "../../errors.js";
import { isOperatorOnly, visibleError } from "../visible-error.js";

/** The response to a line that is not a valid message. */
export interface JsonRpcError {
  readonly jsonrpc: "2.0";
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

type ParsedLine = { readonly message: JSONRPCMessage } | { readonly error: JsonRpcError } | "nothing";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses one line. An empty line, or a malformed response, is `nothing`. */
export function parseLine(line: Buffer): ParsedLine {
  let value: unknown;
  try {
    const text = utf8.decode(line);
    if (text.trim() === "") return "nothing";
    value = parseJson(text);
  } catch (error) {
    return { error: rejectText(error) };
  }
  try {
    return { message: parseJSONRPCMessage(value) };
  } catch {
    return rejectMessage(value);
  }
}

/** Answers the request itself where its id is known, so that the client does not wait. */
function rejectText(error: unknown): JsonRpcError {
  const { ParseError, InvalidRequest } = ProtocolErrorCode;
  if (!(error instanceof InvalidJson) || error.value === undefined)
    return jsonRpcError(ParseError, "the line is not JSON");
  const { message, hint, value } = error;
  const advice = hint === undefined ? "" : `; ${hint}`;
  return jsonRpcError(InvalidRequest, `the line cannot be used: ${message}${advice}`, requestIdOf(value));
}

function requestIdOf(value: unknown): RequestId | null {
  const { id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
}

export function jsonRpcError(code: number, message: string, id: RequestId | null = null): JsonRpcError {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

export const batchNotSupported = (): JsonRpcError =>
  jsonRpcError(ProtocolErrorCode.InvalidRequest, "batches are not supported");

/** Does not answer a malformed response: two peers doing so would never stop. */
function rejectMessage(value: unknown): ParsedLine {
  const { InvalidRequest } = ProtocolErrorCode;
  if (Array.isArray(value)) return { error: batchNotSupported() };
  const { method, result, error } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (method === undefined && (result !== undefined || error !== undefined)) return "nothing";
  return {
    error: jsonRpcError(InvalidRequest, "the line is not a JSON-RPC 2.0 message", requestIdOf(value)),
  };
}

/** Converts an error to JSON-RPC. The details of a bug only go to the log. */
export function toProtocolError(
  thrown: unknown,
  method: string,
  { log }: Pick<McpOptions, "log">,
): ProtocolError {
  const error = toFileError(thrown) ?? thrown;
  if (error instanceof ProtocolError) return error;
  if (error instanceof DecisionError) {
    const { InvalidRequest, InternalError } = ProtocolErrorCode;
    const code = error.code === "forbidden" ? InvalidRequest : InternalError;
    const visible = visibleError(error, "mcp");
    if (isOperatorOnly(error))
      log({ level: "error", event: "failed", method, message: error.message, hint: error.hint });
    return new ProtocolError(code, visible.message, errorDocument(visible));
  }
  log({ level: "error", event: "bug", method, stack: error instanceof Error ? error.stack : String(error) });
  return new ProtocolError(ProtocolErrorCode.InternalError, "internal error");
}
