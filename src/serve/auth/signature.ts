import type { CompactVerifyGetKey, JSONWebKeySet } from "jose";
import { compactVerify, createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwksCache } from "jose";
import type { KeySet } from "./key-set.js";

export type FindKey = CompactVerifyGetKey;

/** Returns the payload of a token; undefined: its signature is not valid. */
export async function verifySignature(
  token: string,
  find: FindKey,
  algorithms: readonly string[],
): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, find, { algorithms: [...algorithms] })).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

export const localKeyFinder = (keys: KeySet): FindKey => createLocalJWKSet(toJoseKeySet(keys));

/** Whether the token names a key that is not in the set. */
export const isUnknownKey = (error: unknown): boolean => error instanceof errors.JWKSNoMatchingKey;

export interface FetchTimes {
  readonly timeout: number;
  /** After a fetch, how long an unknown key does not cause another one. */
  readonly cooldown: number;
  /** How long fetched keys are valid. */
  readonly maxAge: number;
}

interface RemoteKeys {
  readonly find: FindKey;
  /** Fetches the keys, or joins a running fetch. */
  readonly reload: () => Promise<void>;
  readonly isFresh: () => boolean;
  /** The keys and the time they were fetched; undefined before the first fetch. */
  readonly current: () => { readonly at: number; readonly keys: object } | undefined;
}

/** Fetches keys on demand, and again when they expire or a token names an unknown key. */
export function openRemoteKeys(
  url: URL,
  fetchKeys: (signal: AbortSignal) => Promise<KeySet>,
  { timeout, cooldown, maxAge }: FetchTimes,
): RemoteKeys {
  const cache: { uat?: number; jwks?: JSONWebKeySet } = {};
  const find = createRemoteJWKSet(url, {
    timeoutDuration: timeout,
    cooldownDuration: cooldown,
    cacheMaxAge: maxAge,
    [customFetch]: async (_url, { signal }) => Response.json(await fetchKeys(signal)),
    // jose stores the fetched keys and their time here.
    [jwksCache]: cache as Record<string, never>,
  });
  return {
    find,
    reload: () => find.reload(),
    isFresh: () => find.fresh,
    current: () =>
      cache.uat === undefined || cache.jwks === undefined ? undefined : { at: cache.uat, keys: cache.jwks },
  };
}

const toJoseKeySet = ({ keys }: KeySet): JSONWebKeySet => ({ keys: keys.map((key) => ({ ...key })) });

/** The current keys of the issuer. */
export interface IssuerKeys {
  /** Finds the key that signed a token. */
  readonly find: FindKey;
  /** Returns the same object until the keys change. Throws KeysUnreachable if they cannot be loaded. */
  readonly edition: () => Promise<object>;
}

/** The keys cannot be loaded, so a token can be neither accepted nor rejected. */
export class KeysUnreachable extends Error {
  override readonly name = "KeysUnreachable";
}

/** Receives problems with the keys that the operator should fix. */
export type ReportProblem = (message: string) => void;

interface KeyHealth {
  readonly failed: (message: string) => void;
  readonly recovered: () => void;
}

/** Reports a problem once, until it changes or is over. */
export function reportOnce(report: ReportProblem): KeyHealth {
  let reported: string | undefined;
  return {
    failed: (message) => {
      if (message !== reported) report(message);
      reported = message;
    },
    recovered: () => (reported = undefined),
  };
}
