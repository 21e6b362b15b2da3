import type { AuthenticatedCaller } from "../../model/record.js";

/** Finds the caller from the `Authorization` header alone. */
export type Authenticate = (
  authorization: string | undefined,
) => Promise<AuthenticatedCaller | Unauthenticated>;

/** Why a request has no caller: its token is missing or invalid (401), or tokens cannot be checked now (503). */
export interface Unauthenticated {
  readonly status: 401 | 503;
  /** The error code of RFC 6750; absent when the request has no token. */
  readonly error?: "invalid_request" | "invalid_token";
  /** Shown to the client, so it contains nothing that helps to forge a token. */
  readonly message: string;
  readonly hint: string;
}

export interface TokenOptions {
  /** The public keys of the issuer: a file, or a URL that serves them. */
  readonly jwks: string;
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly clockSkewSeconds: number;
  /** Whether a token without scopes permits nothing; otherwise it permits everything. */
  readonly requireScopes: boolean;
}

/**
 * The scopes of a token: `decide` makes decisions, `report` records the results of tool calls, `read` shows
 * definitions, `audit` shows records.
 */
export const scopes = ["decide", "report", "read", "audit"] as const;

export type Scope = (typeof scopes)[number];

/** Who may use which operations. */
export interface Permissions {
  /** Undefined: the server runs without authentication. */
  readonly caller: AuthenticatedCaller | undefined;
  /** The scopes that a server without authentication offers; undefined: all. */
  readonly offered?: readonly Scope[] | undefined;
}

/** Whether a scope is permitted: by the token of the caller, or by the server if it needs no token. */
export function hasScope({ caller, offered }: Permissions, scope: Scope): boolean {
  return (caller?.scopes ?? offered)?.includes(scope) ?? true;
}

export function isUnauthenticated(
  outcome: AuthenticatedCaller | Unauthenticated,
): outcome is Unauthenticated {
  return "status" in outcome;
}

const sendTokenHint = "send `authorization: Bearer TOKEN`";

export const missingToken: Unauthenticated = {
  status: 401,
  message: "a bearer token is required",
  hint: sendTokenHint,
};

export const keysUnavailable: Unauthenticated = {
  status: 503,
  message: "tokens cannot be verified at the moment",
  hint: "try again in 5 s",
};

/** The header is not `Bearer` followed by one token. */
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
