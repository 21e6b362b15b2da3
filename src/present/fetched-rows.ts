import type { ToldFetch } from "../record/told-fetches.js";
import { toldFetches } from "../record/told-fetches.js";
import type { OutcomeRow } from "./outcome-rows.js";
import { readableTime } from "./record-text.js";

/** A line for each fetch: what came from where and when, or why it did not. */
export const fetchedRows = (fetched: unknown): readonly OutcomeRow[] =>
  toldFetches(fetched).map((each) => ({ name: "fetched", text: fetchText(each) }));

export function fetchText({ endpoint, into = "data", outcome }: ToldFetch): string {
  switch (outcome.type) {
    case "failed":
      return `no ${into} from ${endpoint}: ${outcome.why}`;
    case "left_out":
      return `no ${into} from ${endpoint}: not asked, as a dry run only reads`;
    case "came":
      return `${into} from ${endpoint}, ${origins[outcome.from]} ${secondsOf(outcome.at)}${outcome.from === "stale_cache" ? ", as its circuit is open" : ""}`;
  }
}

const origins = { endpoint: "asked at", cache: "kept since", stale_cache: "stale, kept since" };

const secondsOf = (timestamp: string): string => `${readableTime(timestamp).slice(0, 19)} UTC`;

/** In a column of the log: from where, and how. */
export const fetchedCell = (fetched: unknown): string =>
  toldFetches(fetched)
    .map(({ endpoint, outcome }) => `${endpoint} ${wordOf(outcome)}`)
    .join(", ");

function wordOf(outcome: ToldFetch["outcome"]): string {
  switch (outcome.type) {
    case "failed":
      return "failed";
    case "left_out":
      return "left out";
    case "came":
      return { endpoint: "asked", cache: "cached", stale_cache: "stale" }[outcome.from];
  }
}
