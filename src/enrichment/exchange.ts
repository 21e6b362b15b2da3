import type { Endpoint, FetchedData } from "../model/endpoint.js";
import type { JsonObject } from "../model/json.js";
import type { Environment } from "./auth.js";
import type { LookUpHost } from "./resolve-host.js";

/** Sends one request to an endpoint. Failures of the endpoint are outcomes, never exceptions. */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeOutcome>;

export interface ExchangeRequest {
  readonly endpoint: Endpoint;
  readonly params: JsonObject;
  /** Cancels the request at any stage. */
  readonly signal: AbortSignal;
}

export type ExchangeOutcome =
  | ({ readonly kind: "answer" } & FetchedData)
  /** A status other than 2xx. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  /** Nothing was sent: a forbidden address, an invalid URL or header, or a missing secret. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "network"; readonly message: string }
  /** A response that is too large, incomplete or malformed. */
  | { readonly kind: "broken"; readonly message: string };

export interface ExchangeOptions {
  /** Contains the secrets that endpoints refer to by name. */
  readonly env: Environment;
  /** Absent: the resolver of the operating system. */
  readonly lookUp?: LookUpHost;
  /** Certificates of trusted authorities in PEM format. Absent: those that Node trusts. */
  readonly authorities?: string;
}

/** Creates an exchange that loads the HTTP client with the first request. */
export function lazyExchange(options: ExchangeOptions): Exchange {
  let loaded: Promise<Exchange> | undefined;
  return async (request) => {
    loaded ??= import("./http-exchange.js").then(({ createHttpExchange }) => createHttpExchange(options));
    return (await loaded)(request);
  };
}
