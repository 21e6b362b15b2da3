import type { Unauthenticated } from "./authenticate.js";
import { invalidRequest, noToken } from "./refusal.js";

export const largestToken = 8 * 1024;

/** RFC 6750, section 2.1; a list of credentials is none. */
const bearer = /^bearer(?: |$)/i;
const written = /^[A-Za-z0-9\-._~+/]+=*$/;

/** The token of an `Authorization` header. */
export function bearerToken(authorization: string | undefined): string | Unauthenticated {
  if (authorization === undefined || !bearer.test(authorization)) return noToken;
  const token = authorization.slice("bearer ".length);
  if (token.length > largestToken) return invalidRequest("the token is longer than 8 KiB");
  if (!written.test(token)) return invalidRequest("the header is not `Bearer` and one token");
  return token;
}
