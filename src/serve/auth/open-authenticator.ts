import type { Authenticate, TokenOptions, Unauthenticated } from "./authenticate.js";
import { invalidToken, isUnauthenticated, keysUnavailable } from "./authenticate.js";
import { callerFromClaims, claimsError, expiredToken, hasExpired } from "./claims.js";
import { signatureAlgorithms } from "./key-set.js";
import { parseKeyUrl, openKeysAtUrl } from "./keys-at-url.js";
import { openKeysInFile } from "./keys-in-file.js";
import type { IssuerKeys, ReportProblem } from "./signature.js";
import { KeysUnreachable, verifySignature } from "./signature.js";
import { parseBearerToken, parseStrictObject, tokenFormatError } from "./token-format.js";
import { deepFreeze } from "../../digest/freeze-json.js";
import { sha256Hex } from "../../digest/sha256.js";
import { DecisionError } from "../../errors.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import { didYouMean } from "../../text.js";

interface AuthenticatorOptions {
  /** In milliseconds since 1970. */
  readonly now?: () => number;
  /** Receives a message when the keys cannot be read or fetched any more. */
  readonly report?: ReportProblem;
}

const maxCachedTokens = 1000;

/** Opens the issuer's keys and returns a function that authenticates requests with them. */
export async function openAuthenticator(
  options: TokenOptions,
  { now = () => Date.now(), report = () => undefined }: AuthenticatorOptions = {},
): Promise<Authenticate> {
  const checked = checkTokenOptions(options);
  const url = parseKeyUrl(options.jwks);
  const keys =
    url === undefined ? await openKeysInFile(options.jwks, now, report) : openKeysAtUrl(url, now, report);
  return authenticateWithKeys(keys, checked, () => now() / 1000);
}

/** Authenticates requests with the given keys; `now` is in seconds. */
export function authenticateWithKeys(
  keys: IssuerKeys,
  options: TokenOptions,
  now: () => number,
): Authenticate {
  const { algorithms, clockSkewSeconds } = options;
  const cache = verifiedTokenCache(maxCachedTokens);

  const verify = async (token: string): Promise<AuthenticatedCaller | Unauthenticated> => {
    const edition = await keys.edition();
    const cached = cache.find(edition, token);
    if (cached !== undefined)
      return hasExpired(cached.exp, clockSkewSeconds, now()) ? expiredToken : cached.caller;
    const formatError = tokenFormatError(token, algorithms);
    if (formatError !== undefined) return formatError;
    const payload = await verifySignature(token, keys.find, algorithms);
    if (payload === undefined) return invalidSignature;
    const verified = verifyClaims(payload, options, now());
    if ("status" in verified) return verified;
    cache.add(edition, token, verified);
    return verified.caller;
  };

  return async (authorization) => {
    const token = parseBearerToken(authorization);
    if (typeof token !== "string") return token;
    try {
      return await verify(token);
    } catch (error) {
      if (error instanceof KeysUnreachable) return tokenFormatError(token, algorithms) ?? keysUnavailable;
      throw error;
    }
  };
}

const invalidSignature = invalidToken(
  "the token is not signed by its issuer",
  "get a new token from the issuer, which may have rotated its keys",
);

function verifyClaims(
  payload: Uint8Array,
  options: TokenOptions,
  now: number,
): VerifiedToken | Unauthenticated {
  const claims = parseStrictObject(payload);
  if (claims === undefined) return invalidToken("the claims of the token are malformed");
  const error = claimsError(claims, options, now);
  if (error !== undefined) return error;
  const caller = callerFromClaims(claims, options);
  return isUnauthenticated(caller) ? caller : { caller: deepFreeze(caller), exp: Number(claims["exp"]) };
}

const maxNameLength = 256;
const maxClockSkewSeconds = 300;

/** Throws on options that would make tokens untrustworthy. An empty list of algorithms means all supported ones. */
function checkTokenOptions(options: TokenOptions): TokenOptions {
  const { issuer, audience, clockSkewSeconds, algorithms } = options;
  checkName("issuer", issuer);
  checkName("audience", audience);
  if (!(clockSkewSeconds >= 0 && clockSkewSeconds <= maxClockSkewSeconds)) {
    throw new DecisionError(
      "usage",
      `the clock skew \`${clockSkewSeconds}\` is not between 0 and ${maxClockSkewSeconds} seconds`,
      {
        hint: "give the largest expected difference between the clocks, such as 30",
      },
    );
  }
  algorithms.forEach(checkAlgorithm);
  return algorithms.length === 0 ? { ...options, algorithms: signatureAlgorithms } : options;
}

function checkName(claim: "issuer" | "audience", name: string): void {
  if (name !== "" && name.length <= maxNameLength) return;
  throw new DecisionError("usage", `the ${claim} of tokens must have 1 to ${maxNameLength} characters`, {
    hint: `give the ${claim} exactly as in the claim \`${claim === "issuer" ? "iss" : "aud"}\` of the tokens`,
  });
}

function checkAlgorithm(algorithm: string): void {
  if (signatureAlgorithms.includes(algorithm)) return;
  const supported = `use one or more of ${signatureAlgorithms.join(", ")}`;
  if (/^(?:none|HS\d*)$/i.test(algorithm)) {
    throw new DecisionError("usage", `the token algorithm \`${algorithm}\` is not secure`, {
      hint: `anyone who can verify such a token can forge one; ${supported}`,
    });
  }
  throw new DecisionError("usage", `unknown token algorithm \`${algorithm}\``, {
    hint: didYouMean(algorithm, signatureAlgorithms) ?? supported,
  });
}

export interface VerifiedToken {
  readonly caller: AuthenticatedCaller;
  /** The claim `exp` of the token, in seconds. */
  readonly exp: number;
}

interface VerifiedTokenCache {
  readonly find: (edition: object, token: string) => VerifiedToken | undefined;
  readonly add: (edition: object, token: string, verified: VerifiedToken) => void;
}

/** Caches the most recently used tokens by digest. A new key edition empties the cache. */
export function verifiedTokenCache(maxEntries: number): VerifiedTokenCache {
  const entries = new Map<string, VerifiedToken>();
  let current: object | undefined;
  return {
    find: (edition, token) => {
      if (edition !== current) entries.clear();
      current = edition;
      const digest = sha256Hex(token);
      const verified = entries.get(digest);
      if (verified === undefined) return undefined;
      entries.delete(digest);
      entries.set(digest, verified);
      return verified;
    },
    add: (edition, token, verified) => {
      // The keys may have changed while the token was being checked.
      if (edition !== current) return;
      entries.set(sha256Hex(token), verified);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
  };
}
