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
  /** Told when keys cannot be read or fetched any more. */
  readonly report?: ReportProblem;
}

const maxCachedTokens = 1000;

/** Opens the keys of the issuer, and judges tokens by them. */
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

/** Judges tokens by keys; the time is told in seconds. */
export function authenticateWithKeys(
  keys: IssuerKeys,
  options: TokenOptions,
  now: () => number,
): Authenticate {
  const { algorithms, clockSkewSeconds } = options;
  const verified = verifiedTokenCache(maxCachedTokens);

  const judge = async (token: string): Promise<AuthenticatedCaller | Unauthenticated> => {
    const edition = await keys.edition();
    const known = verified.find(edition, token);
    if (known !== undefined)
      return hasExpired(known.exp, clockSkewSeconds, now()) ? expiredToken : known.caller;
    const fault = tokenFormatError(token, algorithms);
    if (fault !== undefined) return fault;
    const payload = await verifySignature(token, keys.find, algorithms);
    if (payload === undefined) return invalidSignature;
    const found = verifyClaims(payload, options, now());
    if ("status" in found) return found;
    verified.add(edition, token, found);
    return found.caller;
  };

  return async (authorization) => {
    const token = parseBearerToken(authorization);
    if (typeof token !== "string") return token;
    try {
      return await judge(token);
    } catch (error) {
      if (error instanceof KeysUnreachable) return tokenFormatError(token, algorithms) ?? keysUnavailable;
      throw error;
    }
  };
}

const invalidSignature = invalidToken(
  "the token is not signed by its issuer",
  "get a new token from the issuer, which may have changed its keys",
);

function verifyClaims(
  payload: Uint8Array,
  options: TokenOptions,
  now: number,
): VerifiedToken | Unauthenticated {
  const claims = parseStrictObject(payload);
  if (claims === undefined) return invalidToken("the claims of the token are malformed");
  const fault = claimsError(claims, options, now);
  if (fault !== undefined) return fault;
  const caller = callerFromClaims(claims, options);
  return isUnauthenticated(caller) ? caller : { caller: deepFreeze(caller), exp: Number(claims["exp"]) };
}

const maxNameLength = 256;
const maxClockSkewSeconds = 300;

/** Refuses options under which a token could not be trusted; an empty list of algorithms stands for all we know. */
function checkTokenOptions(options: TokenOptions): TokenOptions {
  const { issuer, audience, clockSkewSeconds, algorithms } = options;
  checkName("issuer", issuer);
  checkName("audience", audience);
  if (!(clockSkewSeconds >= 0 && clockSkewSeconds <= maxClockSkewSeconds)) {
    throw new DecisionError("usage", `the clock skew \`${clockSkewSeconds}\` is not 0 to 300 seconds`, {
      hint: "allow for what the clocks differ at most, such as 30",
    });
  }
  algorithms.forEach(checkAlgorithm);
  return algorithms.length === 0 ? { ...options, algorithms: signatureAlgorithms } : options;
}

function checkName(what: "issuer" | "audience", name: string): void {
  if (name !== "" && name.length <= maxNameLength) return;
  throw new DecisionError("usage", `the ${what} of tokens must be a text of at most 256 characters`, {
    hint: `give the ${what} exactly as the claim \`${what === "issuer" ? "iss" : "aud"}\` has it`,
  });
}

function checkAlgorithm(algorithm: string): void {
  if (signatureAlgorithms.includes(algorithm)) return;
  const known = `allow some of ${signatureAlgorithms.join(", ")}`;
  if (/^(?:none|HS\d*)$/i.test(algorithm)) {
    throw new DecisionError("usage", `tokens by the algorithm \`${algorithm}\` can never be allowed`, {
      hint: `whoever can check them can forge them; ${known}`,
    });
  }
  throw new DecisionError("usage", `there is no algorithm \`${algorithm}\` for tokens`, {
    hint: didYouMean(algorithm, signatureAlgorithms) ?? known,
  });
}

export interface VerifiedToken {
  readonly caller: AuthenticatedCaller;
  /** As the token has it, in seconds. */
  readonly exp: number;
}

interface VerifiedTokenCache {
  readonly find: (edition: object, token: string) => VerifiedToken | undefined;
  readonly add: (edition: object, token: string, verified: VerifiedToken) => void;
}

/** Remembers the tokens used last, by their digest; all are forgotten when the keys are others. */
export function verifiedTokenCache(most: number): VerifiedTokenCache {
  const kept = new Map<string, VerifiedToken>();
  let current: object | undefined;
  return {
    find: (edition, token) => {
      if (edition !== current) kept.clear();
      current = edition;
      const digest = sha256Hex(token);
      const verified = kept.get(digest);
      if (verified === undefined) return undefined;
      kept.delete(digest);
      kept.set(digest, verified);
      return verified;
    },
    add: (edition, token, verified) => {
      // The keys may have changed while the token was being checked.
      if (edition !== current) return;
      kept.set(sha256Hex(token), verified);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
  };
}
