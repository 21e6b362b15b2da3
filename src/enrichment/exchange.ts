import type { Endpoint } from "../model/endpoint.js";
import type { Json, JsonObject } from "../model/json.js";

/** One request to an endpoint, and what came back. Never throws for what the other side does. */
export type Exchange = (asked: Asked) => Promise<Exchanged>;

export interface Asked {
  readonly endpoint: Endpoint;
  readonly params: JsonObject;
  /** Ends it, whatever it is doing. */
  readonly signal: AbortSignal;
}

export type Exchanged =
  | { readonly kind: "answer"; readonly data: Json }
  /** Another status than 2xx. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  /** Nothing was sent: its address, its scheme or a missing secret forbids it. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "network"; readonly message: string }
  /** An answer that is too large, not whole, or not what it says it is. */
  | { readonly kind: "broken"; readonly message: string };
