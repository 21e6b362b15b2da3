import { DecisionError } from "../../errors.js";
import { errorDocument } from "../../error-document.js";
import { isKept, toldError } from "../told-details.js";
import type { McpOptions } from "./options.js";
import { ProtocolError, ProtocolErrorCode } from "./sdk.js";

/** A failure as JSON-RPC tells of it. What is a bug of ours is only told to whoever runs the server. */
export function protocolError(
  error: unknown,
  method: string,
  { log }: Pick<McpOptions, "log">,
): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof DecisionError) {
    const { InvalidRequest, InternalError } = ProtocolErrorCode;
    const code = error.code === "forbidden" ? InvalidRequest : InternalError;
    const told = toldError(error);
    if (isKept(error))
      log({ level: "error", event: "failed", method, message: error.message, hint: error.hint });
    return new ProtocolError(code, told.message, errorDocument(told));
  }
  log({ level: "error", event: "bug", method, stack: error instanceof Error ? error.stack : String(error) });
  return new ProtocolError(ProtocolErrorCode.InternalError, "internal error");
}
