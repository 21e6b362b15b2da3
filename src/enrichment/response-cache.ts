import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { isObject } from "../expression/equal.js";
import type { Fetch } from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import { microsecondsOf } from "../record/timestamp.js";
import { settingsOf } from "./endpoint-settings.js";
import { configurationDigest, stateKey } from "./endpoint-state.js";
import { batchWhileBusy } from "./concurrency.js";

/** An answer as an endpoint gave it before. */
export interface CachedResponse {
  readonly data: Json;
  readonly fetched_at: string;
}

/** So much longer than it is fresh an answer is kept, for when the circuit is open. */
const staleLifetime = 86_400e6;

/** Where the answer to a fetch is kept; undefined: it is not. What was sent cannot be told from it. */
export function responseKey({ name, endpoint, params, cached }: Fetch): string | undefined {
  if (!cached || endpoint.cache === undefined) return undefined;
  return sha256Hex(canonicalJson([name, configurationDigest(endpoint), params]));
}

/** Answers of endpoints, for all processes. What goes wrong with them is no reason not to fetch. */
export class ResponseCache {
  readonly #shelf: Shelf;
  readonly #onTrouble: (message: string) => void;

  constructor(shelf: Shelf, onTrouble: (message: string) => void) {
    this.#shelf = shelf;
    this.#onTrouble = onTrouble;
  }

  /** Fresh or stale. */
  async get(key: string, now: number): Promise<CachedResponse | undefined> {
    try {
      const entry = await this.#shelf.get(key);
      if (entry === undefined || now >= (entry.expires_at ?? Infinity)) return undefined;
      const kept = isObject(entry.value) ? entry.value : {};
      const answer = { data: kept["data"], fetched_at: kept["fetched_at"] } as unknown as CachedResponse;
      if (kept["digest"] === responseDigest(key, answer)) return deepFreeze(answer);
      this.#onTrouble("a kept answer of an endpoint is not as it was kept, so it was not used");
    } catch (error) {
      this.#onTrouble(`the kept answers of endpoints cannot be read: ${(error as Error).message}`);
    }
    return undefined;
  }

  async put(key: string, { name, endpoint }: Fetch, answer: CachedResponse): Promise<void> {
    const { lifetime = 0 } = settingsOf(endpoint);
    const expires_at = microsecondsOf(answer.fetched_at) + lifetime + staleLifetime;
    const value = { ...answer, digest: responseDigest(key, answer) };
    await this.#put({ key, group: stateKey(name, endpoint), expires_at, value });
  }

  readonly #put = batchWhileBusy(async (entries: readonly ShelfEntry[]) => {
    try {
      await this.#shelf.put(entries);
    } catch (error) {
      this.#onTrouble(`the answers of endpoints could not be kept: ${(error as Error).message}`);
    }
  });
}

/** One from the future was kept before the clock was set back; it must not be fresh longer for that. */
export function isFresh({ fetched_at }: CachedResponse, { endpoint }: Fetch, now: number): boolean {
  const at = microsecondsOf(fetched_at);
  return at <= now && now < at + (settingsOf(endpoint).lifetime ?? 0);
}

const responseDigest = (key: string, { data, fetched_at }: CachedResponse): string =>
  sha256Hex(JSON.stringify([key, fetched_at, data]));
