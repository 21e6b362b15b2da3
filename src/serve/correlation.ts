import type { IncomingHttpHeaders } from "node:http";
import { DecisionError } from "../errors.js";
import { maxTextLength } from "./operations/shared-fields.js";

/** Printable ASCII without spaces: what a header can carry. */
const visibleCharacters = /^[\x21-\x7e]+$/;
const isHeaderValue = (id: string): boolean => id.length <= maxTextLength && visibleCharacters.test(id);

/** Returns the correlation id of a request: from its own header, otherwise the trace id of `traceparent`. */
export function correlationFromHeaders(headers: IncomingHttpHeaders): string | undefined {
  const id = headers["x-correlation-id"];
  if (id === undefined) return parseTraceId(headers["traceparent"]);
  if (typeof id === "string" && isHeaderValue(id)) return id;
  throw new DecisionError(
    "input_invalid",
    `\`x-correlation-id\` must have 1 to ${maxTextLength} printable ASCII characters`,
    {
      hint: "send an id such as a UUID",
    },
  );
}

/** Returns the correlation id of a body, which takes precedence; undefined: it has none that a header can carry. */
export function correlationFromInput(input: unknown): string | undefined {
  const { correlation_id: id } = (input ?? {}) as { readonly correlation_id?: unknown };
  return typeof id === "string" && isHeaderValue(id) ? id : undefined;
}

/** W3C Trace Context: version, trace id, parent id and flags. Ids of zeros are invalid. */
const traceparent = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** Returns the trace id of `traceparent`. A malformed one is ignored, as the standard requires. */
export function parseTraceId(parent: unknown): string | undefined {
  if (typeof parent !== "string") return undefined;
  const [, version, traceId, extra] = traceparent.exec(parent) ?? [];
  // Later versions may add fields after the flags; version ff is invalid.
  return version === "ff" || (version === "00" && extra !== undefined) ? undefined : traceId;
}

/** Returns the correlation id of an MCP call: from its `_meta`, otherwise from the request. */
export function correlationFromMeta(
  meta: Readonly<Record<string, unknown>> | undefined,
  requestId: string | undefined,
): string | undefined {
  const id = meta?.["correlation_id"];
  if (id === undefined) return parseTraceId(meta?.["traceparent"]) ?? requestId;
  if (typeof id === "string" && id !== "" && id.length <= maxTextLength) return id;
  throw new DecisionError("input_invalid", "`correlation_id` in `_meta` must be a string", {
    hint: `send 1 to ${maxTextLength} characters`,
  });
}
