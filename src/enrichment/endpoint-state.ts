import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Endpoint, FetchFailure } from "../model/endpoint.js";
import type { Json } from "../model/json.js";

/** What processes know together about an endpoint; times are in microseconds since 1970. */
export interface EndpointState {
  readonly circuit: "CLOSED" | "OPEN" | "HALF_OPEN";
  /** In a row. */
  readonly failures: number;
  /** In a row, since it is half open. */
  readonly successes: number;
  readonly opened_at?: number;
  /** Somebody tries whether it answers again, and is given up then. */
  readonly probe_until?: number;
  /** When requests were sent, as far back as its rate limit looks; oldest first. */
  readonly sent?: readonly number[];
  /** The last fetch that asked it. */
  readonly last?: LastFetch;
}

export interface LastFetch {
  readonly at: string;
  readonly milliseconds: number;
  /** Absent: it went well. */
  readonly error?: FetchFailure;
}

export const untouched: EndpointState = { circuit: "CLOSED", failures: 0, successes: 0 };

/** Where its state is on the shelf: an endpoint that is configured anew begins anew. */
export function stateKey(name: string, endpoint: Endpoint): string {
  return `${name} ${sha256Hex(canonicalJson(endpoint as unknown as Json))}`;
}
