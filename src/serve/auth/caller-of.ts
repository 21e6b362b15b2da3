import type { Actor, AuthenticatedCaller } from "../../model/caller.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Unauthenticated } from "./authenticate.js";
import { invalidToken } from "./refusal.js";
import { scopes } from "./scopes.js";

const longestName = 256;
const mostActors = 8;

/** What would break out of a log line, or cannot be written in UTF-8. */
const unspeakable = /[\p{Cc}\p{Cs}]/u;

/** A claim that is there but not as it must be: to pass over it could permit more, or hide who asks. */
class Malformed extends Error {}

/** Whom verified claims speak of. */
export function callerOf(
  claims: JsonObject,
  { requireScopes }: { readonly requireScopes: boolean },
): AuthenticatedCaller | Unauthenticated {
  try {
    const actors = actorsOf(claims["act"]);
    return {
      subject: neededName(claims, "sub"),
      issuer: neededName(claims, "iss"),
      ...clientOf(claims),
      ...named("org_id", nameIn(claims, "org_id")),
      scopes: scopesOf(claims, requireScopes),
      delegated: actors.length > 0,
      actors,
    };
  } catch (error) {
    if (error instanceof Malformed)
      return invalidToken(error.message, "have the issuer mend it in its tokens");
    throw error;
  }
}

/** RFC 8693, section 4.1: the outermost acts now. */
function actorsOf(outermost: Json | undefined): readonly Actor[] {
  const actors: Actor[] = [];
  for (let act = outermost; act !== undefined;) {
    if (!isObject(act)) throw new Malformed("the claim `act` of the token is malformed");
    if (actors.length === mostActors) throw new Malformed(`more than ${mostActors} act for each other`);
    actors.push({
      subject: neededName(act, "sub", "the claim `act` of the token"),
      ...named("issuer", nameIn(act, "iss")),
      ...clientOf(act),
    });
    act = act["act"];
  }
  return actors;
}

function clientOf(claims: JsonObject): { readonly client_id?: string } {
  const authorized = nameIn(claims, "azp");
  return named("client_id", nameIn(claims, "client_id") ?? authorized);
}

/** Only a token that says nothing of scopes may permit everything. */
function scopesOf(claims: JsonObject, requireScopes: boolean): readonly string[] {
  const { scope, scp } = claims;
  if (scope === undefined && scp === undefined) return requireScopes ? [] : [...scopes];
  const listed = scp === undefined ? [] : scopeList(scp, "scp");
  const granted = new Set(scope === undefined ? listed : scopeText(scope, "scope"));
  return scopes.filter((name) => granted.has(name) || granted.has(`agent-33:${name}`));
}

function scopeList(value: Json, claim: string): readonly string[] {
  if (!Array.isArray(value)) return scopeText(value, claim);
  return value.flatMap((one: Json) => scopeText(one, claim));
}

function scopeText(value: Json, claim: string): readonly string[] {
  if (typeof value === "string") return value.split(" ");
  throw new Malformed(`the claim \`${claim}\` of the token is malformed`);
}

function neededName(claims: JsonObject, claim: string, where = "the token"): string {
  const name = nameIn(claims, claim);
  if (name === undefined) throw new Malformed(`${where} has no \`${claim}\``);
  return name;
}

function nameIn(claims: JsonObject, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "" && value.length <= longestName && !unspeakable.test(value)) {
    return value;
  }
  throw new Malformed(`the claim \`${claim}\` of the token is malformed`);
}

const named = <Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> =>
  value === undefined ? {} : ({ [name]: value } as Record<Name, string>);

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
