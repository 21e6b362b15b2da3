import type { CompactVerifyGetKey, JSONWebKeySet } from "jose";
import { compactVerify, createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwksCache } from "jose";
import type { KeySet } from "./usable-keys.js";

export type FindKey = CompactVerifyGetKey;

/** What a token says, if a key that is found signed it; undefined if none did. */
export async function signedPayload(
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

export const findIn = (keys: KeySet): FindKey => createLocalJWKSet(copyOf(keys));

/** Whether other keys than those at hand might have been needed. */
export const isUnknownKey = (error: unknown): boolean => error instanceof errors.JWKSNoMatchingKey;

export interface FetchTimes {
  readonly timeout: number;
  /** How long after fetching an unknown key is taken to be none of the issuer's. */
  readonly cooldown: number;
  /** How long fetched keys count. */
  readonly age: number;
}

export interface FetchedKeys {
  readonly find: FindKey;
  /** Fetches them, unless that is under way. */
  readonly reload: () => Promise<void>;
  readonly fresh: () => boolean;
  /** When they were fetched, and what they are; undefined before. */
  readonly held: () => { readonly at: number; readonly keys: object } | undefined;
}

/** Keys that are fetched when they are needed, and again when they are old or a token names another. */
export function findFetched(
  url: URL,
  fetchKeys: (signal: AbortSignal) => Promise<KeySet>,
  { timeout, cooldown, age }: FetchTimes,
): FetchedKeys {
  const cache: { uat?: number; jwks?: JSONWebKeySet } = {};
  const find = createRemoteJWKSet(url, {
    timeoutDuration: timeout,
    cooldownDuration: cooldown,
    cacheMaxAge: age,
    [customFetch]: async (_url, { signal }) => Response.json(await fetchKeys(signal)),
    // Filled in the moment fetched keys are the ones that count.
    [jwksCache]: cache as Record<string, never>,
  });
  return {
    find,
    reload: () => find.reload(),
    fresh: () => find.fresh,
    held: () =>
      cache.uat === undefined || cache.jwks === undefined ? undefined : { at: cache.uat, keys: cache.jwks },
  };
}

const copyOf = ({ keys }: KeySet): JSONWebKeySet => ({ keys: keys.map((key) => ({ ...key })) });
