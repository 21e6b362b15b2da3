import type { Json, JsonObject } from "../../model/json.js";
import type { TokenOptions, Unauthenticated } from "./authenticate.js";
import { invalidToken } from "./refusal.js";

type Expected = Pick<TokenOptions, "issuer" | "audience" | "clockSkewSeconds">;

/** Why claims do not count here or now; `now` is in seconds. */
export function claimsFault(
  claims: JsonObject,
  expected: Expected,
  now: number,
): Unauthenticated | undefined {
  const { iss, aud, exp, nbf, iat } = claims;
  const skew = expected.clockSkewSeconds;
  if (iss !== expected.issuer) return invalidToken("the token is from another issuer", otherIssuer);
  if (!isFor(expected.audience, aud)) return invalidToken("the token is for another audience", otherAudience);
  if (!isMoment(exp)) return invalidToken("the token does not say when it expires", endless);
  if (hasExpired(exp, skew, now)) return expired;
  if (!isPast(nbf, now + skew)) return invalidToken("the token is not valid yet", early);
  if (!isPast(iat, now + skew)) return invalidToken("the token was issued in the future", early);
  return undefined;
}

const otherIssuer = "get a token from the issuer that this server trusts; whoever runs it knows which";
const otherAudience =
  "ask the issuer for a token that is for this server; whoever runs it knows its audience";
const endless = "have the issuer set the claim `exp`";
const early = "wait, and see that the clocks of the issuer and of this server agree";

export const expired = invalidToken("the token has expired");

/** Whether a token is not to be used any more; the same for one that was checked before. */
export const hasExpired = (exp: number, skew: number, now: number): boolean => exp <= now - skew;

function isFor(audience: string, aud: Json | undefined): boolean {
  if (!Array.isArray(aud)) return aud === audience;
  return aud.every((one) => typeof one === "string") && aud.includes(audience);
}

/** `1e999` is a number in JSON, and never over. */
const isMoment = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isFinite(value);

const isPast = (value: Json | undefined, now: number): boolean =>
  value === undefined || (isMoment(value) && value <= now);
