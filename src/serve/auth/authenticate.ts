import type { AuthenticatedCaller } from "../../model/record.js";

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

const sendTokenHint = "send `authorization: Bearer TOKEN`";

export const missingToken: Unauthenticated = {
  status: 401,
  message: "a bearer token is needed",
  hint: sendTokenHint,
};

export const keysUnavailable: Unauthenticated = {
  status: 503,
  message: "tokens cannot be checked at the moment",
  hint: "try again in 5 s",
};

/** The header is not `Bearer` and one token. */
export const invalidRequest = (message: string): Unauthenticated => ({
  status: 401,
  error: "invalid_request",
  message,
  hint: sendTokenHint,
});

export const invalidToken = (message: string, hint = "get a new token from its issuer"): Unauthenticated => ({
  status: 401,
  error: "invalid_token",
  message,
  hint,
});

export function isUnauthenticated(found: AuthenticatedCaller | Unauthenticated): found is Unauthenticated {
  return "status" in found;
}

/** What a token can permit: to decide and to tell how calls went, to see what is defined, to see what was decided. */
export const scopes = ["decide", "read", "audit"] as const;

export type Scope = (typeof scopes)[number];

/** Whether a caller may do this; where nobody is asked for a token, everybody may do everything. */
export function hasScope(caller: AuthenticatedCaller | undefined, scope: Scope): boolean {
  return caller === undefined || caller.scopes.includes(scope);
}
