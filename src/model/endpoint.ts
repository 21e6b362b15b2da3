import type { Json, JsonObject } from "./json.js";

/** A source of data. Secrets are given by the names of environment variables. */
export interface Endpoint {
  readonly url: string;
  /** Absent: `get`. */
  readonly method?: Method;
  readonly auth?: Auth;
  /** Time limit of a fetch with all its retries; absent: 5s. */
  readonly timeout?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cache?: { readonly ttl: string; readonly adapter?: CacheAdapter };
  readonly retry?: Retry;
  readonly rate_limit?: RateLimit;
  /** Absent: the defaults. */
  readonly circuit_breaker?: BreakerSettings;
  /** Allows loopback and private addresses. */
  readonly allow_private?: boolean;
}

/** Where cached values are kept: in this process, or in the store for all processes (the default). */
export type CacheAdapter = "memory" | "store";

export type Method = "get" | "post" | "put" | "delete";

export type Auth =
  /** Sent in `header`, by default `X-API-Key`. */
  | { readonly type: "api_key"; readonly header?: string; readonly secret_key: string }
  | { readonly type: "basic"; readonly username_key: string; readonly password_key: string }
  | { readonly type: "bearer"; readonly token_key: string };

export interface Retry {
  /** Number of attempts; absent: 3. */
  readonly attempts?: number;
  /** Upper bound of the first pause; it doubles with each attempt; absent: 100ms. */
  readonly base?: string;
  /** Upper bound of every pause; absent: 2s. */
  readonly max?: string;
}

/** At most `count` requests in any window of length `per`. */
export interface RateLimit {
  readonly count: number;
  readonly per: string;
}

export interface BreakerSettings {
  /** Consecutive failures that open the circuit; absent: 5. */
  readonly failure_threshold?: number;
  /** How long the circuit stays open; absent: 60s. */
  readonly timeout?: string;
  /** Consecutive successes that close the circuit; absent: 2. */
  readonly success_threshold?: number;
}

/** A fetch of a decision: the endpoint, its params, and the place of the answer in the context. */
export interface Enrichment {
  readonly endpoint: string;
  /** Texts are templates. */
  readonly params?: JsonObject;
  /** The path in the context where the answer is stored. */
  readonly into: string;
  /** Maps paths of the answer to paths of the context; absent: the whole answer. */
  readonly mapping?: Readonly<Record<string, string>>;
  /** The decision fails without this data. */
  readonly required?: boolean;
}

/** The `value` of the rule operator `fetch_from_api`. */
export type FetchCondition = Pick<Enrichment, "endpoint" | "params" | "mapping">;

export type Endpoints = Readonly<Record<string, Endpoint>>;

/** A request to an endpoint. */
export interface Fetch {
  /** The name of the endpoint. */
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly params: JsonObject;
  /** The place of the data in the context; absent: the mapping says it. */
  readonly into?: string;
  /** Whether the response cache may be used. */
  readonly cached: boolean;
  /** The organisation that it is fetched for, which has its own cached responses; absent: none. */
  readonly org?: string;
  /** Nothing may change, neither at the endpoint nor in the store. */
  readonly dryRun: boolean;
}

/** The data of an answer. */
export interface FetchedData {
  readonly data: Json;
  /** How many integers in it are texts, because a number cannot represent them exactly; absent: none. */
  readonly integers_as_text?: number;
}

/** The result of a fetch. */
export type Fetched =
  | (FetchedData & {
      readonly ok: true;
      /** `stale_cache`: an expired answer, used while the circuit is open. */
      readonly from: "endpoint" | "cache" | "stale_cache";
      /** When the endpoint sent the data. */
      readonly fetched_at: string;
    })
  | { readonly ok: false; readonly error: FetchFailure }
  /** Not sent, because a dry run sends GET requests only. */
  | { readonly ok: false; readonly left_out: true };

export interface FetchFailure {
  readonly code: FetchErrorCode;
  /** Contains neither secrets nor what was sent. */
  readonly message: string;
}

export type FetchErrorCode =
  /** Refused before anything was sent. */
  "fetch_refused" | "request_failed" | "request_timeout" | "network_failed" | "circuit_open" | "rate_limited";

/** Fetches data. Failures of an endpoint are values, never exceptions. */
export interface Fetcher {
  fetch(fetch: Fetch): Promise<Fetched>;
}

/** The state of an endpoint, as `decision endpoints` prints it. */
export interface EndpointStatus {
  readonly name: string;
  readonly method: Method;
  readonly url: string;
  readonly circuit: Circuit;
  /** Number of cached answers: fresh ones, and expired ones for use while the circuit is open. */
  readonly cache: {
    readonly ttl?: string;
    readonly adapter?: CacheAdapter;
    readonly fresh: number;
    readonly stale: number;
  };
  readonly rate_limit?: RateLimit;
  /** The environment variables that hold its secrets. */
  readonly needs: readonly { readonly variable: string; readonly set: boolean }[];
  /** The last fetch that reached the endpoint; null: none. */
  readonly last: LastFetch | null;
  /** The ids of the decisions that fetch from it. */
  readonly used_by: readonly string[];
  readonly file: string;
  readonly line: number;
  /** The result of `--check`. */
  readonly check?: EndpointCheck;
}

export interface Circuit {
  readonly state: "CLOSED" | "OPEN" | "HALF_OPEN";
  /** Consecutive failures. */
  readonly failures: number;
  readonly open_until?: string;
}

export interface LastFetch {
  readonly at: string;
  readonly milliseconds: number;
  /** Absent: the fetch succeeded. */
  readonly error?: FetchFailure;
}

/** Whether the endpoint answers. */
export type EndpointCheck =
  | { readonly ok: boolean; readonly status?: number; readonly milliseconds: number; readonly error?: string }
  /** Not called, because the request could change something. */
  | { readonly ok: null; readonly not_asked: string };

/** What `endpoints --reset` has removed. */
export interface EndpointReset {
  readonly name: string;
  readonly circuit_was: Circuit["state"];
  readonly failures_were: number;
  /** Number of removed cached answers; absent without `--cache`. */
  readonly answers_removed?: number;
}
