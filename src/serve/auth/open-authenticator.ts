import { deepFreeze } from "../../digest/freeze.js";
import type { AuthenticatedCaller } from "../../model/caller.js";
import type { Authenticate, TokenOptions, Unauthenticated } from "./authenticate.js";
import { bearerToken } from "./bearer-token.js";
import { callerOf } from "./caller-of.js";
import { checkTokenOptions } from "./check-token-options.js";
import { claimsFault, expired, hasExpired } from "./claims-fault.js";
import { keyUrl } from "./key-url.js";
import { openKeysAtUrl } from "./keys-at-url.js";
import { openKeysInFile } from "./keys-in-file.js";
import type { Keys, Report } from "./keys.js";
import { KeysUnreachable } from "./keys.js";
import { invalidToken, isRefusal, keysOutOfReach } from "./refusal.js";
import { signedPayload } from "./signature.js";
import { strictObject } from "./strict-json.js";
import { tokenFault } from "./token-fault.js";
import type { Verified } from "./verified-tokens.js";
import { verifiedTokens } from "./verified-tokens.js";

export interface Surroundings {
  /** In milliseconds since 1970. */
  readonly now?: () => number;
  /** Told when keys cannot be read or fetched any more. */
  readonly report?: Report;
}

const mostVerified = 1000;

/** Opens the keys of the issuer, and judges tokens by them. */
export async function openAuthenticator(
  options: TokenOptions,
  { now = () => Date.now(), report = () => undefined }: Surroundings = {},
): Promise<Authenticate> {
  const checked = checkTokenOptions(options);
  const url = keyUrl(options.jwks);
  const keys =
    url === undefined ? await openKeysInFile(options.jwks, now, report) : openKeysAtUrl(url, now, report);
  return authenticateBy(keys, checked, () => now() / 1000);
}

/** Judges tokens by keys; the time is told in seconds. */
export function authenticateBy(keys: Keys, options: TokenOptions, now: () => number): Authenticate {
  const { algorithms, clockSkewSeconds } = options;
  const verified = verifiedTokens(mostVerified);

  const judge = async (token: string): Promise<AuthenticatedCaller | Unauthenticated> => {
    const edition = await keys.edition();
    const known = verified.find(edition, token);
    if (known !== undefined) return hasExpired(known.exp, clockSkewSeconds, now()) ? expired : known.caller;
    const fault = tokenFault(token, algorithms);
    if (fault !== undefined) return fault;
    const payload = await signedPayload(token, keys.find, algorithms);
    if (payload === undefined) return unsigned;
    const found = verifiedBy(payload, options, now());
    if ("status" in found) return found;
    verified.keep(edition, token, found);
    return found.caller;
  };

  return async (authorization) => {
    const token = bearerToken(authorization);
    if (typeof token !== "string") return token;
    try {
      return await judge(token);
    } catch (error) {
      if (error instanceof KeysUnreachable) return tokenFault(token, algorithms) ?? keysOutOfReach;
      throw error;
    }
  };
}

const unsigned = invalidToken(
  "the token is not signed by its issuer",
  "get a new token from the issuer, which may have changed its keys",
);

function verifiedBy(payload: Uint8Array, options: TokenOptions, now: number): Verified | Unauthenticated {
  const claims = strictObject(payload);
  if (claims === undefined) return invalidToken("the claims of the token are malformed");
  const fault = claimsFault(claims, options, now);
  if (fault !== undefined) return fault;
  const caller = callerOf(claims, options);
  return isRefusal(caller) ? caller : { caller: deepFreeze(caller), exp: Number(claims["exp"]) };
}
