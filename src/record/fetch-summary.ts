import { isText } from "./well-formed.js";
import { isObject } from "../expression/equal.js";

/** The outcome of a fetch, as a record has it. */
export interface FetchSummary {
  readonly endpoint: string;
  /** Where in the context the response was put; absent: only its success was used. */
  readonly into?: string;
  readonly outcome:
    | {
        readonly type: "came";
        readonly from: "endpoint" | "cache" | "stale_cache";
        /** When the endpoint responded. */
        readonly at: string;
      }
    | { readonly type: "failed"; readonly why: string }
    | { readonly type: "left_out" };
}

/** Returns the outcomes of fetches from a record's facts; malformed ones are left out. */
export function summarizeFetches(fetched: unknown): readonly FetchSummary[] {
  if (!isObject(fetched)) return [];
  return Object.values(fetched).flatMap((fact) => {
    if (!isObject(fact) || !isText(fact["endpoint"])) return [];
    const { endpoint, into } = fact;
    const outcome = fetchOutcome(fact);
    return outcome === undefined ? [] : [{ endpoint, ...(isText(into) && { into }), outcome }];
  });
}

function fetchOutcome(fact: Readonly<Record<string, unknown>>): FetchSummary["outcome"] | undefined {
  const { ok, from, fetched_at: at, left_out: leftOut, error } = fact;
  if (ok === true) {
    const source = (["endpoint", "cache", "stale_cache"] as const).find((each) => each === from);
    return source === undefined || !isText(at) ? undefined : { type: "came", from: source, at };
  }
  if (leftOut === true) return { type: "left_out" };
  if (!isObject(error) || !isText(error["message"])) return undefined;
  return { type: "failed", why: error["message"] };
}
