import { isMapping, isText } from "./well-formed.js";

/** What became of a fetch, as a record tells it. */
export interface FetchSummary {
  readonly endpoint: string;
  /** Where in the context its answer went; absent: only whether it came was of interest. */
  readonly into?: string;
  readonly outcome:
    | {
        readonly type: "came";
        readonly from: "endpoint" | "cache" | "stale_cache";
        /** When the endpoint gave it. */
        readonly at: string;
      }
    | { readonly type: "failed"; readonly why: string }
    | { readonly type: "left_out" };
}

/** What the facts tell of fetches; of a damaged record, what is still sound. */
export function summarizeFetches(fetched: unknown): readonly FetchSummary[] {
  if (!isMapping(fetched)) return [];
  return Object.values(fetched).flatMap((fact) => {
    if (!isMapping(fact) || !isText(fact["endpoint"])) return [];
    const { endpoint, into } = fact;
    const outcome = fetchOutcome(fact);
    return outcome === undefined ? [] : [{ endpoint, ...(isText(into) && { into }), outcome }];
  });
}

function fetchOutcome(fact: Readonly<Record<string, unknown>>): FetchSummary["outcome"] | undefined {
  const { ok, from, fetched_at: at, left_out: leftOut, error } = fact;
  if (ok === true) {
    const known = (["endpoint", "cache", "stale_cache"] as const).find((each) => each === from);
    return known === undefined || !isText(at) ? undefined : { type: "came", from: known, at };
  }
  if (leftOut === true) return { type: "left_out" };
  if (!isMapping(error) || !isText(error["message"])) return undefined;
  return { type: "failed", why: error["message"] };
}
