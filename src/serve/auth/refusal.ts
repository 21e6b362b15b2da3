import type { AuthenticatedCaller } from "../../model/caller.js";
import type { Unauthenticated } from "./authenticate.js";

export const noToken: Unauthenticated = { status: 401, message: "a bearer token is needed" };

export const keysOutOfReach: Unauthenticated = {
  status: 503,
  message: "tokens cannot be checked at the moment",
};

/** The header is not `Bearer` and one token. */
export const invalidRequest = (message: string): Unauthenticated => ({
  status: 401,
  error: "invalid_request",
  message,
});

export const invalidToken = (message: string): Unauthenticated => ({
  status: 401,
  error: "invalid_token",
  message,
});

export function isRefusal(found: AuthenticatedCaller | Unauthenticated): found is Unauthenticated {
  return "status" in found;
}
