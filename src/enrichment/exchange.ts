import type { Environment } from "./auth.js";
import type { LookUpHost } from "./resolve-host.js";
import type { Endpoint } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";

/** One request to an endpoint, and what came back. Never throws for what the other side does. */
export type Exchange = (asked: ExchangeRequest) => Promise<ExchangeOutcome>;

export interface ExchangeRequest {
  readonly endpoint: Endpoint;
  readonly params: JsonObject;
  /** Ends it, whatever it is doing. */
  readonly signal: AbortSignal;
}

export type ExchangeOutcome =
  | { readonly kind: "answer"; readonly data: Json }
  /** Another status than 2xx. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  /** Nothing was sent: its address, its scheme or a missing secret forbids it. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "network"; readonly message: string }
  /** An answer that is too large, not whole, or not what it says it is. */
  | { readonly kind: "broken"; readonly message: string };

export interface ExchangeOptions {
  /** Holds the secrets that endpoints name. */
  readonly env: Environment;
  /** Absent: as the system does. */
  readonly lookUp?: LookUpHost;
  /** Certificates of the authorities that are trusted, in PEM; absent: those that Node trusts. */
  readonly authorities?: string;
}

/** The way to endpoints; what it needs of Node is loaded with the first request. */
export function lazyExchange(options: ExchangeOptions): Exchange {
  let opened: Promise<Exchange> | undefined;
  return async (asked) => {
    opened ??= import("./http-exchange.js").then(({ createHttpExchange: asking }) => asking(options));
    return (await opened)(asked);
  };
}
