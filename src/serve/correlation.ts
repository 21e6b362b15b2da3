import type { IncomingHttpHeaders } from "node:http";
import { DecisionError } from "../errors.js";
import { maxTextLength } from "./operations/shared-fields.js";

/** As long as in a body; a header cannot carry other characters. */
const visibleCharacters = /^[\x21-\x7e]+$/;
const isHeaderValue = (id: string): boolean => id.length <= maxTextLength && visibleCharacters.test(id);

/** What ties a request to others: its own header, else the trace that it is part of. */
export function correlationFromHeaders(headers: IncomingHttpHeaders): string | undefined {
  const named = headers["x-correlation-id"];
  if (named === undefined) return parseTraceId(headers["traceparent"]);
  if (typeof named === "string" && isHeaderValue(named)) return named;
  throw new DecisionError(
    "input_invalid",
    `\`x-correlation-id\` must be 1 to ${maxTextLength} visible characters`,
    {
      hint: "such as a UUID",
    },
  );
}

/** That of the body, which goes before the others; undefined: none that a header could carry. */
export function correlationFromInput(input: unknown): string | undefined {
  const { correlation_id: id } = (input ?? {}) as { readonly correlation_id?: unknown };
  return typeof id === "string" && isHeaderValue(id) ? id : undefined;
}

/** W3C Trace Context: version, trace, parent and flags; ids of noughts are none. */
const traceparent = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** The trace that something is part of; one that is malformed is to be ignored, as the standard says. */
export function parseTraceId(parent: unknown): string | undefined {
  if (typeof parent !== "string") return undefined;
  const [, version, trace, more] = traceparent.exec(parent) ?? [];
  // Only versions that are yet to come may have more behind the flags; ff never will be one.
  return version === "ff" || (version === "00" && more !== undefined) ? undefined : trace;
}

/** What ties a call to the rest: what its `_meta` says, else what is known of the request. */
export function correlationFromMeta(
  meta: Readonly<Record<string, unknown>> | undefined,
  ofRequest: string | undefined,
): string | undefined {
  const given = meta?.["correlation_id"];
  if (given === undefined) return parseTraceId(meta?.["traceparent"]) ?? ofRequest;
  if (typeof given === "string" && given !== "" && given.length <= maxTextLength) return given;
  throw new DecisionError("input_invalid", "`correlation_id` in `_meta` must be text", {
    hint: `at least one and at most ${maxTextLength} characters`,
  });
}
