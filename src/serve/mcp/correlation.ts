import { DecisionError } from "../../errors.js";
import { longestText } from "../questions/fields.js";

/** W3C Trace Context: version, trace id, parent id, flags. */
const traceparent = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** What ties a call to the rest: what its `_meta` says, else what is known of the request. */
export function correlationOf(
  meta: Readonly<Record<string, unknown>> | undefined,
  ofRequest: string | undefined,
): string | undefined {
  const given = meta?.["correlation_id"];
  if (given === undefined) return traceIdOf(meta?.["traceparent"]) ?? ofRequest;
  if (typeof given === "string" && given !== "" && given.length <= longestText) return given;
  throw new DecisionError("input_invalid", "`correlation_id` in `_meta` must be text", {
    hint: `at least one and at most ${longestText} characters`,
  });
}

/** One that is malformed is to be ignored, as the standard says. */
export function traceIdOf(parent: unknown): string | undefined {
  return typeof parent === "string" ? traceparent.exec(parent)?.[1] : undefined;
}
