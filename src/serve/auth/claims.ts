import type { TokenOptions, Unauthenticated } from "./authenticate.js";
import { invalidToken, scopes } from "./authenticate.js";
import { isObject } from "../../expression/equal.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Actor, AuthenticatedCaller, SessionMode } from "../../model/record.js";

type ExpectedClaims = Pick<TokenOptions, "issuer" | "audience" | "clockSkewSeconds">;

/** Returns why the claims of a token are not accepted; `now` is in seconds. */
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
  if (!isTimestamp(exp)) return invalidToken("the token has no expiry time", missingExpiryHint);
  if (hasExpired(exp, skew, now)) return expiredToken;
  if (!isPast(nbf, now + skew)) return invalidToken("the token is not valid yet", clockHint);
  if (!isPast(iat, now + skew)) return invalidToken("the token was issued in the future", clockHint);
  return undefined;
}

const issuerHint = "get a token from the issuer that this server trusts; its operator knows the issuer";
const audienceHint = "ask the issuer for a token for this server; its operator knows the audience";
const missingExpiryHint = "configure the issuer to set the claim `exp`";
const clockHint = "try again later, and check that the clocks of the issuer and of this server agree";

export const expiredToken = invalidToken("the token has expired");

/** Whether a token has expired; also applied to tokens from the cache. */
export const hasExpired = (exp: number, skew: number, now: number): boolean => exp <= now - skew;

function isForAudience(audience: string, aud: Json | undefined): boolean {
  if (!Array.isArray(aud)) return aud === audience;
  return aud.every((each) => typeof each === "string") && aud.includes(audience);
}

/** Rejects `1e999`, which JSON parses to Infinity: such a token would never expire. */
const isTimestamp = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isFinite(value);

const isPast = (value: Json | undefined, now: number): boolean =>
  value === undefined || (isTimestamp(value) && value <= now);

const maxNameLength = 256;
const maxActors = 8;

/** Control characters, which would break log lines, and lone surrogates, which UTF-8 cannot encode. */
const unsafeCharacter = /[\p{Cc}\p{Cs}]/u;

/** A claim with a wrong type or value. Ignoring it could grant more rights or hide the caller. */
class MalformedClaim extends Error {}

/** Returns the caller that verified claims describe. */
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
      ...parseMode(claims),
    };
  } catch (error) {
    if (error instanceof MalformedClaim)
      return invalidToken(error.message, "correct the claim in the configuration of the issuer");
    throw error;
  }
}

/** Parses the chain of actors (RFC 8693, section 4.1). The outermost is the current actor. */
function parseActors(outermost: Json | undefined): readonly Actor[] {
  const actors: Actor[] = [];
  for (let act = outermost; act !== undefined;) {
    if (!isObject(act)) throw new MalformedClaim("the claim `act` of the token is malformed");
    if (actors.length === maxActors)
      throw new MalformedClaim(`the claim \`act\` of the token names more than ${maxActors} actors`);
    actors.push({
      subject: requireName(act, "sub", "the claim `act` of the token"),
      ...optionalField("issuer", optionalName(act, "iss")),
      ...parseClientId(act),
    });
    act = act["act"];
  }
  return actors;
}

/** Parses the mode of the session: that of the token, or that of the current actor. */
function parseMode(claims: JsonObject): { readonly mode?: SessionMode } {
  const { act } = claims;
  const ofToken = optionalName(claims, modeClaim);
  const ofActor = isObject(act) ? optionalName(act, modeClaim) : undefined;
  const mode = ofToken ?? ofActor;
  if (mode === undefined) return {};
  if (mode !== "operator" && mode !== "customer")
    throw new MalformedClaim(
      `the claim \`${modeClaim}\` of the token is neither \`operator\` nor \`customer\``,
    );
  if (ofActor !== undefined && ofActor !== mode)
    throw new MalformedClaim(`the claim \`${modeClaim}\` of the token differs from that of its \`act\``);
  return { mode };
}

const modeClaim = "session_mode";

function parseClientId(claims: JsonObject): { readonly client_id?: string } {
  const authorized = optionalName(claims, "azp");
  return optionalField("client_id", optionalName(claims, "client_id") ?? authorized);
}

/** Parses the scopes. Only a token without any scope claim can permit everything. */
function parseScopes(claims: JsonObject, requireScopes: boolean): readonly string[] {
  const { scope, scp } = claims;
  if (scope === undefined && scp === undefined) return requireScopes ? [] : [...scopes];
  const listed = scp === undefined ? [] : parseScopeList(scp, "scp");
  const granted = new Set(scope === undefined ? listed : parseScopeText(scope, "scope"));
  return scopes.filter((name) => granted.has(name) || granted.has(`agent-33:${name}`));
}

function parseScopeList(value: Json, claim: string): readonly string[] {
  if (!Array.isArray(value)) return parseScopeText(value, claim);
  return value.flatMap((each: Json) => parseScopeText(each, claim));
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
    !unsafeCharacter.test(value)
  ) {
    return value;
  }
  throw new MalformedClaim(`the claim \`${claim}\` of the token is malformed`);
}

const optionalField = <Name extends string>(
  name: Name,
  value: string | undefined,
): Partial<Record<Name, string>> => (value === undefined ? {} : ({ [name]: value } as Record<Name, string>));
