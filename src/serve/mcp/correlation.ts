import { DecisionError } from "../../errors.js";
import { longestText } from "../questions/fields.js";
import { traceIdOf } from "../trace-id.js";

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
