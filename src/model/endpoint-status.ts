import type { FetchFailure, Method, RateLimit } from "./endpoint.js";

/** How an endpoint is doing, as `decision endpoints` prints it. */
export interface EndpointStatus {
  readonly name: string;
  readonly method: Method;
  readonly url: string;
  readonly circuit: Circuit;
  /** How many answers of it are kept: those that still stand for it, and those for when its circuit is open. */
  readonly cache: { readonly ttl?: string; readonly fresh: number; readonly stale: number };
  readonly rate_limit?: RateLimit;
  /** The environment variables that hold its secrets. */
  readonly needs: readonly { readonly variable: string; readonly set: boolean }[];
  /** The last fetch that asked it; null: none did. */
  readonly last: LastFetch | null;
  /** The ids of the decisions that fetch from it. */
  readonly used_by: readonly string[];
  readonly file: string;
  readonly line: number;
  /** Where it was asked just now. */
  readonly check?: EndpointCheck;
}

export interface Circuit {
  readonly state: "CLOSED" | "OPEN" | "HALF_OPEN";
  /** In a row. */
  readonly failures: number;
  readonly open_until?: string;
}

export interface LastFetch {
  readonly at: string;
  readonly milliseconds: number;
  /** Absent: it went well. */
  readonly error?: FetchFailure;
}

/** Whether it answers at all. */
export type EndpointCheck =
  | { readonly ok: boolean; readonly status?: number; readonly milliseconds: number; readonly error?: string }
  /** Asking it might change something. */
  | { readonly ok: null; readonly not_asked: string };

/** What was forgotten of an endpoint. */
export interface EndpointReset {
  readonly name: string;
  readonly circuit_was: Circuit["state"];
  readonly failures_were: number;
  /** How many kept answers; absent where they were not to be. */
  readonly answers_removed?: number;
}
