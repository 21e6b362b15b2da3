import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { isObject } from "../expression/equal.js";
import type { FetchedData } from "../model/endpoint.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import { microsecondsOf } from "../record/timestamp.js";
import { batchWhileBusy } from "./concurrency.js";
import type { PreparedFetch } from "./endpoint-settings.js";

export interface CachedResponse extends FetchedData {
  readonly fetched_at: string;
}

/** How long a stale response is kept for when the circuit is open. */
const staleLifetime = 86_400e6;

/** Returns the cache key of a fetch, or undefined if its response is not cached. Does not reveal the params. */
export function responseKey({
  name,
  endpoint,
  configuration,
  params,
  cached,
  org,
}: PreparedFetch): string | undefined {
  if (!cached || endpoint.cache === undefined) return undefined;
  return sha256Hex(canonicalJson([name, configuration, params, ...(org === undefined ? [] : [org])]));
}

type ResponseShelf = Pick<Shelf, "get" | "put">;

/** Responses that a process keeps for itself. */
const maxOwnResponses = 10_000;

/** The shelf of endpoints with `cache: { adapter: memory }`. The oldest responses make room for new ones. */
export function memoryShelf(): ResponseShelf {
  const entries = new Map<string, ShelfEntry>();
  return {
    get: (key) => Promise.resolve(entries.get(key)),
    put(added) {
      for (const entry of added) {
        entries.delete(entry.key);
        entries.set(entry.key, entry);
      }
      for (const key of [...entries.keys()].slice(0, Math.max(0, entries.size - maxOwnResponses)))
        entries.delete(key);
      return Promise.resolve();
    },
  };
}

/** The responses of endpoints. Its failures are warnings and never stop a fetch. */
export class ResponseCache {
  readonly #shelf: ResponseShelf;
  readonly #onWarning: (message: string) => void;

  constructor(shelf: ResponseShelf, onWarning: (message: string) => void) {
    this.#shelf = shelf;
    this.#onWarning = onWarning;
  }

  /** Returns the response, fresh or stale. */
  async get(key: string, now: number): Promise<CachedResponse | undefined> {
    try {
      const entry = await this.#shelf.get(key);
      if (entry === undefined || now >= (entry.expires_at ?? Infinity)) return undefined;
      const { digest, ...value } = isObject(entry.value) ? entry.value : {};
      const response = value as unknown as CachedResponse;
      if (digest === responseDigest(key, response)) return deepFreeze(response);
      this.#onWarning("ignored a cached response of an endpoint: it was changed after it was written");
    } catch (error) {
      this.#onWarning(`cannot read cached responses of endpoints: ${(error as Error).message}`);
    }
    return undefined;
  }

  async put(key: string, { settings, stateKey }: PreparedFetch, response: CachedResponse): Promise<void> {
    const expires_at = microsecondsOf(response.fetched_at) + (settings.lifetime ?? 0) + staleLifetime;
    const value = { ...response, digest: responseDigest(key, response) };
    await this.#write({ key, group: stateKey, expires_at, value });
  }

  readonly #write = batchWhileBusy(async (entries: readonly ShelfEntry[]) => {
    try {
      await this.#shelf.put(entries);
    } catch (error) {
      this.#onWarning(`cannot cache responses of endpoints: ${(error as Error).message}`);
    }
  });
}

/** A response from the future was cached before the clock was set back, and is not fresh. */
export function isFresh(
  { fetched_at }: CachedResponse,
  { settings }: Pick<PreparedFetch, "settings">,
  now: number,
): boolean {
  const at = microsecondsOf(fetched_at);
  return at <= now && now < at + (settings.lifetime ?? 0);
}

/**
 * Returns false for an entry of the shelf that was changed after it was written. Someone who can write to the store can
 * compute a new digest, so it shows damage, not forgery. Earlier versions wrote none; their entries are not used.
 */
export function isResponseUnchanged({ key, value }: ShelfEntry): boolean {
  const { digest, ...response } = isObject(value) ? value : {};
  return digest === undefined || digest === responseDigest(key, response as unknown as CachedResponse);
}

function responseDigest(key: string, { data, fetched_at, ...others }: CachedResponse): string {
  return sha256Hex(JSON.stringify([key, fetched_at, data, ...Object.entries(others)]));
}
