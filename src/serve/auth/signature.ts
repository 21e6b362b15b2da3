import type { CompactVerifyGetKey, JSONWebKeySet } from "jose";
import { compactVerify, createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwksCache } from "jose";
import type { KeySet } from "./key-set.js";

export type FindKey = CompactVerifyGetKey;

/** What a token says, if a key that is found signed it; undefined if none did. */
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

/** Whether other keys than those at hand might have been needed. */
export const isUnknownKey = (error: unknown): boolean => error instanceof errors.JWKSNoMatchingKey;

export interface FetchTimes {
  readonly timeout: number;
  /** How long after fetching an unknown key is taken to be none of the issuer's. */
  readonly cooldown: number;
  /** How long fetched keys count. */
  readonly maxAge: number;
}

interface RemoteKeys {
  readonly find: FindKey;
  /** Fetches them, unless that is under way. */
  readonly reload: () => Promise<void>;
  readonly isFresh: () => boolean;
  /** When they were fetched, and what they are; undefined before. */
  readonly current: () => { readonly at: number; readonly keys: object } | undefined;
}

/** Keys that are fetched when they are needed, and again when they are old or a token names another. */
export function openRemoteKeys(
  url: URL,
  fetchKeys: (signal: AbortSignal) => Promise<KeySet>,
  { timeout, cooldown, maxAge: age }: FetchTimes,
): RemoteKeys {
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
    isFresh: () => find.fresh,
    current: () =>
      cache.uat === undefined || cache.jwks === undefined ? undefined : { at: cache.uat, keys: cache.jwks },
  };
}

const toJoseKeySet = ({ keys }: KeySet): JSONWebKeySet => ({ keys: keys.map((key) => ({ ...key })) });

/** The keys of the issuer, as they are at the moment. */
export interface IssuerKeys {
  /** Finds the one key that a token can be signed with. */
  readonly find: FindKey;
  /** The same object as long as the keys are the same; throws KeysUnreachable where they cannot be known. */
  readonly edition: () => Promise<object>;
}

/** Without its keys nothing can be said about a token, neither good nor bad. */
export class KeysUnreachable extends Error {
  override readonly name = "KeysUnreachable";
}

/** Where somebody should look after the keys; told once as long as it stays the same. */
export type ReportProblem = (message: string) => void;

interface KeyHealth {
  readonly failed: (message: string) => void;
  readonly recovered: () => void;
}

export function reportOnce(report: ReportProblem): KeyHealth {
  let told: string | undefined;
  return {
    failed: (message) => {
      if (message !== told) report(message);
      told = message;
    },
    recovered: () => (told = undefined),
  };
}
