import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { isObject } from "../expression/equal.js";
import type { Endpoint } from "../model/endpoint.js";
import type { LastFetch } from "../model/endpoint-status.js";
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
  /** When requests were or will be sent, as far back as its rate limit looks; oldest first. */
  readonly sent?: readonly number[];
  /** The last fetch that asked it. */
  readonly last?: LastFetch;
}

export const untouched: EndpointState = { circuit: "CLOSED", failures: 0, successes: 0 };

/** Where its state is on the shelf: an endpoint that is configured anew begins anew. */
export function stateKey(name: string, endpoint: Endpoint): string {
  return `${name} ${configurationDigest(endpoint)}`;
}

const digests = new WeakMap<Endpoint, string>();

export function configurationDigest(endpoint: Endpoint): string {
  const digest = digests.get(endpoint) ?? sha256Hex(canonicalJson(endpoint as unknown as Json));
  digests.set(endpoint, digest);
  return digest;
}

/** What is on the shelf, as far as it can be a state; what cannot be tells nothing. */
export function stateIn(value: Json | undefined): EndpointState {
  if (!isObject(value)) return untouched;
  const state = value as unknown as EndpointState;
  const isSound =
    circuits.has(state.circuit) &&
    [state.failures, state.successes].every(isCount) &&
    [state.opened_at ?? 0, state.probe_until ?? 0].every(Number.isFinite) &&
    (state.sent === undefined || (Array.isArray(state.sent) && state.sent.every(Number.isFinite)));
  return isSound ? state : untouched;
}

const circuits: ReadonlySet<unknown> = new Set(["CLOSED", "OPEN", "HALF_OPEN"]);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
