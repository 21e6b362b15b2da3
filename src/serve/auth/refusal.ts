import type { AuthenticatedCaller } from "../../model/caller.js";
import type { Unauthenticated } from "./authenticate.js";

const sendToken = "send `authorization: Bearer TOKEN`";

export const noToken: Unauthenticated = {
  status: 401,
  message: "a bearer token is needed",
  hint: sendToken,
};

export const keysOutOfReach: Unauthenticated = {
  status: 503,
  message: "tokens cannot be checked at the moment",
  hint: "try again in 5 s",
};

/** The header is not `Bearer` and one token. */
export const invalidRequest = (message: string): Unauthenticated => ({
  status: 401,
  error: "invalid_request",
  message,
  hint: sendToken,
});

export const invalidToken = (message: string, hint = "get a new token from its issuer"): Unauthenticated => ({
  status: 401,
  error: "invalid_token",
  message,
  hint,
});

export function isRefusal(found: AuthenticatedCaller | Unauthenticated): found is Unauthenticated {
  return "status" in found;
}
