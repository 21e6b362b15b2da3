import type { TokenOptions, Unauthenticated } from "./authenticate.js";
import { invalidToken, scopes } from "./authenticate.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Actor, AuthenticatedCaller } from "../../model/record.js";

type ExpectedClaims = Pick<TokenOptions, "issuer" | "audience" | "clockSkewSeconds">;

/** Why claims do not count here or now; `now` is in seconds. */
export function claimsError(
  claims: JsonObject,
  expected: ExpectedClaims,
  now: number,
): Unauthenticated | undefined {
  const { iss, aud, exp, nbf, iat } = claims;
  const skew = expected.clockSkewSeconds;
  if (iss !== expected.issuer) return invalidToken("the token is from another issuer", issuerHint);
  if (!isForAudience(expected.audience, aud))
    return invalidToken("the token is for another audience", audienceHint);
  if (!isTimestamp(exp)) return invalidToken("the token does not say when it expires", missingExpiryHint);
  if (hasExpired(exp, skew, now)) return expiredToken;
  if (!isPast(nbf, now + skew)) return invalidToken("the token is not valid yet", clockHint);
  if (!isPast(iat, now + skew)) return invalidToken("the token was issued in the future", clockHint);
  return undefined;
}

const issuerHint = "get a token from the issuer that this server trusts; whoever runs it knows which";
const audienceHint = "ask the issuer for a token that is for this server; whoever runs it knows its audience";
const missingExpiryHint = "have the issuer set the claim `exp`";
const clockHint = "wait, and see that the clocks of the issuer and of this server agree";

export const expiredToken = invalidToken("the token has expired");

/** Whether a token is not to be used any more; the same for one that was checked before. */
export const hasExpired = (exp: number, skew: number, now: number): boolean => exp <= now - skew;

function isForAudience(audience: string, aud: Json | undefined): boolean {
  if (!Array.isArray(aud)) return aud === audience;
  return aud.every((one) => typeof one === "string") && aud.includes(audience);
}

/** `1e999` is a number in JSON, and never over. */
const isTimestamp = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isFinite(value);

const isPast = (value: Json | undefined, now: number): boolean =>
  value === undefined || (isTimestamp(value) && value <= now);

const maxNameLength = 256;
const maxActors = 8;

/** What would break out of a log line, or cannot be written in UTF-8. */
const controlCharacter = /[\p{Cc}\p{Cs}]/u;

/** A claim that is there but not as it must be: to pass over it could permit more, or hide who asks. */
class MalformedClaim extends Error {}

/** Whom verified claims speak of. */
export function callerFromClaims(
  claims: JsonObject,
  { requireScopes }: { readonly requireScopes: boolean },
): AuthenticatedCaller | Unauthenticated {
  try {
    const actors = parseActors(claims["act"]);
    return {
      subject: requireName(claims, "sub"),
      issuer: requireName(claims, "iss"),
      ...parseClientId(claims),
      ...optionalField("org_id", optionalName(claims, "org_id")),
      scopes: parseScopes(claims, requireScopes),
      delegated: actors.length > 0,
      actors,
    };
  } catch (error) {
    if (error instanceof MalformedClaim)
      return invalidToken(error.message, "have the issuer mend it in its tokens");
    throw error;
  }
}

/** RFC 8693, section 4.1: the outermost acts now. */
function parseActors(outermost: Json | undefined): readonly Actor[] {
  const actors: Actor[] = [];
  for (let act = outermost; act !== undefined;) {
    if (!isObject(act)) throw new MalformedClaim("the claim `act` of the token is malformed");
    if (actors.length === maxActors) throw new MalformedClaim(`more than ${maxActors} act for each other`);
    actors.push({
      subject: requireName(act, "sub", "the claim `act` of the token"),
      ...optionalField("issuer", optionalName(act, "iss")),
      ...parseClientId(act),
    });
    act = act["act"];
  }
  return actors;
}

function parseClientId(claims: JsonObject): { readonly client_id?: string } {
  const authorized = optionalName(claims, "azp");
  return optionalField("client_id", optionalName(claims, "client_id") ?? authorized);
}

/** Only a token that says nothing of scopes may permit everything. */
function parseScopes(claims: JsonObject, requireScopes: boolean): readonly string[] {
  const { scope, scp } = claims;
  if (scope === undefined && scp === undefined) return requireScopes ? [] : [...scopes];
  const listed = scp === undefined ? [] : parseScopeList(scp, "scp");
  const granted = new Set(scope === undefined ? listed : parseScopeText(scope, "scope"));
  return scopes.filter((name) => granted.has(name) || granted.has(`agent-33:${name}`));
}

function parseScopeList(value: Json, claim: string): readonly string[] {
  if (!Array.isArray(value)) return parseScopeText(value, claim);
  return value.flatMap((one: Json) => parseScopeText(one, claim));
}

function parseScopeText(value: Json, claim: string): readonly string[] {
  if (typeof value === "string") return value.split(" ");
  throw new MalformedClaim(`the claim \`${claim}\` of the token is malformed`);
}

function requireName(claims: JsonObject, claim: string, where = "the token"): string {
  const name = optionalName(claims, claim);
  if (name === undefined) throw new MalformedClaim(`${where} has no \`${claim}\``);
  return name;
}

function optionalName(claims: JsonObject, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) return undefined;
  if (
    typeof value === "string" &&
    value !== "" &&
    value.length <= maxNameLength &&
    !controlCharacter.test(value)
  ) {
    return value;
  }
  throw new MalformedClaim(`the claim \`${claim}\` of the token is malformed`);
}

const optionalField = <Name extends string>(
  name: Name,
  value: string | undefined,
): Partial<Record<Name, string>> => (value === undefined ? {} : ({ [name]: value } as Record<Name, string>));

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
