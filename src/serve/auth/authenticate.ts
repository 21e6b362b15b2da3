import type { AuthenticatedCaller } from "../../model/caller.js";

/** Why a request is not answered: nobody is known to ask (401), or nobody can be known at the moment (503). */
export interface Unauthenticated {
  readonly status: 401 | 503;
  /** As RFC 6750 names it; absent: there was no token at all. */
  readonly error?: "invalid_request" | "invalid_token";
  /** For whoever asks; tells nothing that a forger could use. */
  readonly message: string;
  /** What to do; the same for all who are refused for this reason. */
  readonly hint: string;
}

/** Finds out who asks, from the `Authorization` header alone. */
export type Authenticate = (
  authorization: string | undefined,
) => Promise<AuthenticatedCaller | Unauthenticated>;

export interface TokenOptions {
  /** The public keys of the issuer: a file, or a URL that serves them. */
  readonly jwks: string;
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly clockSkewSeconds: number;
  /** Whether a token without scopes permits nothing; else it permits everything. */
  readonly requireScopes: boolean;
}
