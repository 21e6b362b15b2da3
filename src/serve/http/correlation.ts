import type { IncomingHttpHeaders } from "node:http";
import { DecisionError } from "../../errors.js";
import { longestText } from "../questions/fields.js";
import { traceIdOf } from "../trace-id.js";

/** As long as in a body; a header cannot carry other characters. */
const visible = /^[\x21-\x7e]+$/;
const isUsable = (id: string): boolean => id.length <= longestText && visible.test(id);

/** What ties a request to others: its own header, else the trace that it is part of. */
export function correlationOf(headers: IncomingHttpHeaders): string | undefined {
  const named = headers["x-correlation-id"];
  if (named === undefined) return traceIdOf(headers["traceparent"]);
  if (typeof named === "string" && isUsable(named)) return named;
  throw new DecisionError(
    "input_invalid",
    `\`x-correlation-id\` must be 1 to ${longestText} visible characters`,
    {
      hint: "such as a UUID",
    },
  );
}

/** That of the body, which goes before the others; undefined: none that a header could carry. */
export function correlationIn(input: unknown): string | undefined {
  const { correlation_id: id } = (input ?? {}) as { readonly correlation_id?: unknown };
  return typeof id === "string" && isUsable(id) ? id : undefined;
}
