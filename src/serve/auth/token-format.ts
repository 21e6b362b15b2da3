import type { Unauthenticated } from "./authenticate.js";
import { invalidToken, invalidRequest, missingToken } from "./authenticate.js";
import { parseJson } from "../../digest/parse-json.js";
import type { JsonObject } from "../../model/json.js";
import { isObject } from "../../expression/equal.js";

/** Headers that would let a token choose its own key, or change how it is parsed. */
const forbiddenHeaders = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"];
const acceptedTypes = ["jwt", "at+jwt"];
const maxKeyIdLength = 256;

/** Returns what is wrong with the form of a token. Needs no key. */
export function tokenFormatError(token: string, algorithms: readonly string[]): Unauthenticated | undefined {
  const parts = token.split(".");
  if (parts.length === 5) return invalidToken("encrypted tokens are not accepted", signedJwtHint);
  if (parts.length !== 3 || !parts.every(isCanonical))
    return invalidToken("the token is not a signed JWT", signedJwtHint);
  const header = parseStrictObject(Buffer.from(parts[0] ?? "", "base64url"));
  if (header === undefined) return invalidToken("the header of the token is malformed");
  return headerError(header, algorithms);
}

const signedJwtHint = "send the signed JWT exactly as the issuer returned it";
const algorithmHint = "configure the issuer to sign with another algorithm, such as RS256, ES256 or EdDSA";

/** Rejects base64url with unused bits set: the same signature could be written in several ways. */
function isCanonical(part: string): boolean {
  return part !== "" && Buffer.from(part, "base64url").toString("base64url") === part;
}

function headerError(header: JsonObject, algorithms: readonly string[]): Unauthenticated | undefined {
  const { alg, typ, kid } = header;
  const forbidden = forbiddenHeaders.find((name) => Object.hasOwn(header, name));
  if (forbidden !== undefined)
    return invalidToken(`a token with \`${forbidden}\` in its header is not accepted`);
  if (typeof alg !== "string" || !algorithms.includes(alg)) {
    return invalidToken("the algorithm of the token is not accepted", algorithmHint);
  }
  if (typ !== undefined && !isAcceptedType(typ)) return invalidToken("a token of this type is not accepted");
  if (kid !== undefined && (typeof kid !== "string" || kid.length > maxKeyIdLength)) {
    return invalidToken("the header of the token is malformed");
  }
  return undefined;
}

const isAcceptedType = (typ: unknown): boolean =>
  typeof typ === "string" && acceptedTypes.includes(typ.toLowerCase().replace(/^application\//, ""));

const maxTokenBytes = 8 * 1024;

/** RFC 6750, section 2.1. A list of credentials does not match. */
const bearerScheme = /^bearer(?: |$)/i;
const tokenSyntax = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Returns the token of an `Authorization` header. */
export function parseBearerToken(authorization: string | undefined): string | Unauthenticated {
  if (authorization === undefined || !bearerScheme.test(authorization)) return missingToken;
  const token = authorization.slice("bearer ".length);
  if (token.length > maxTokenBytes) return invalidRequest("the token is longer than 8 KiB");
  if (!tokenSyntax.test(token))
    return invalidRequest("the `authorization` header is not `Bearer` followed by one token");
  return token;
}

const maxDepth = 32;

/** Keeps a byte order mark, so that the JSON parser rejects it. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON object that every parser reads the same way: valid UTF-8, no duplicate keys, no rounded integers, at
 * most 32 levels deep. Returns undefined for anything else.
 */
export function parseStrictObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseJson(utf8.decode(bytes), { maxDepth });
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
