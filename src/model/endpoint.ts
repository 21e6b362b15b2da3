import type { Json, JsonObject } from "./json.js";

/** Where data is fetched from before a decision. Secrets are named by environment variables, never written. */
export interface Endpoint {
  readonly url: string;
  /** Absent: `get`. */
  readonly method?: Method;
  readonly auth?: Auth;
  /** How long a fetch may take with all its retries; absent: 5s. */
  readonly timeout?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cache?: { readonly ttl: string };
  readonly retry?: Retry;
  readonly rate_limit?: RateLimit;
  /** Absent: with its defaults. */
  readonly circuit_breaker?: BreakerSettings;
  /** Lets it be on this machine or in a private network. */
  readonly allow_private?: boolean;
}

export type Method = "get" | "post" | "put" | "delete";

export type Auth =
  /** In the header `X-API-Key`, or the one that is named. */
  | { readonly type: "api_key"; readonly header?: string; readonly secret_key: string }
  | { readonly type: "basic"; readonly username_key: string; readonly password_key: string }
  | { readonly type: "bearer"; readonly token_key: string };

export interface Retry {
  /** How often it is tried in all; absent: 3. */
  readonly attempts?: number;
  /** The first pause is at most so long, and each later one twice as long; absent: 100ms. */
  readonly base?: string;
  /** No pause is longer; absent: 2s. */
  readonly max?: string;
}

/** So many requests in any stretch of that length. */
export interface RateLimit {
  readonly count: number;
  readonly per: string;
}

export interface BreakerSettings {
  /** It opens with so many failures in a row; absent: 5. */
  readonly failure_threshold?: number;
  /** It stays open so long; absent: 60s. */
  readonly timeout?: string;
  /** It closes with so many successes in a row; absent: 2. */
  readonly success_threshold?: number;
}

/** A fetch of a decision: from where, with which params, and where in the context the answer goes. */
export interface Enrichment {
  readonly endpoint: string;
  /** Texts in it are templates. */
  readonly params?: JsonObject;
  /** A path in the context. */
  readonly into: string;
  /** Which parts of the answer go where; absent: all of it. */
  readonly mapping?: Readonly<Record<string, string>>;
  /** Without it there is no decision. */
  readonly required?: boolean;
}

/** The `value` of the rule operator `fetch_from_api`. */
export type FetchCondition = Pick<Enrichment, "endpoint" | "params" | "mapping">;

export type Endpoints = Readonly<Record<string, Endpoint>>;

/** Something to be fetched. */
export interface Fetch {
  /** The name of the endpoint. */
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly params: JsonObject;
  /** Whether an answer may come from, and go to, where answers are kept. */
  readonly cached: boolean;
  /** Nothing may be changed: not there, and not in the store. */
  readonly dryRun: boolean;
}

/** What came of it. */
export type Fetched =
  | {
      readonly ok: true;
      readonly data: Json;
      /** `stale_cache`: older than it should be, as the circuit is open. */
      readonly from: "endpoint" | "cache" | "stale_cache";
      /** When the endpoint gave it. */
      readonly fetched_at: string;
    }
  | { readonly ok: false; readonly error: FetchFailure }
  /** In a dry run. */
  | { readonly ok: false; readonly left_out: true };

export interface FetchFailure {
  readonly code: FetchErrorCode;
  /** Tells of no secret, and of nothing that was sent. */
  readonly message: string;
}

export type FetchErrorCode =
  /** It was refused before anything was sent, or it could not even be asked. */
  "fetch_refused" | "request_failed" | "request_timeout" | "network_failed" | "circuit_open" | "rate_limited";

/** Fetches; never throws for what an endpoint does. */
export interface Fetcher {
  fetch(fetch: Fetch): Promise<Fetched>;
}

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
