import { isMapping, isText } from "./shape.js";

/** What became of a fetch, as a record tells it. */
export interface ToldFetch {
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
export function toldFetches(fetched: unknown): readonly ToldFetch[] {
  if (!isMapping(fetched)) return [];
  return Object.values(fetched).flatMap((fact) => {
    if (!isMapping(fact) || !isText(fact["endpoint"])) return [];
    const { endpoint, into } = fact;
    const outcome = outcomeOf(fact);
    return outcome === undefined ? [] : [{ endpoint, ...(isText(into) && { into }), outcome }];
  });
}

function outcomeOf(fact: Readonly<Record<string, unknown>>): ToldFetch["outcome"] | undefined {
  const { ok, from, fetched_at: at, left_out: leftOut, error } = fact;
  if (ok === true) {
    const known = (["endpoint", "cache", "stale_cache"] as const).find((each) => each === from);
    return known === undefined || !isText(at) ? undefined : { type: "came", from: known, at };
  }
  if (leftOut === true) return { type: "left_out" };
  if (!isMapping(error) || !isText(error["message"])) return undefined;
  return { type: "failed", why: error["message"] };
}
