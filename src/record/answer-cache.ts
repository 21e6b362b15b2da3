import { parseDuration } from "../definition/duration.js";
import { uncacheableReason } from "../definition/definition-reads.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Shelf, ShelfEntry, Store } from "../model/store.js";

const defaultTtl = 3_600_000_000;

/** A cached answer, without its input: that is evaluated again on every hit. */
interface CachedAnswer {
  readonly answer: Omit<Evaluated, "input_value">;
  /** The record of the evaluation that produced it. */
  readonly record_id?: string;
}

/** Returns how long answers of a definition are cached, in microseconds; undefined: they are not cached. */
export function cacheLifetime({ definition, reads, masks }: Prepared): number | undefined {
  const { cache } = definition;
  if (cache?.enabled !== true || uncacheableReason(definition, reads, masks) !== undefined) return undefined;
  return cache.ttl === undefined ? defaultTtl : parseDuration(cache.ttl);
}

/** Cached answers. Those of this process are found before they are written to the store. */
export class AnswerCache {
  readonly #shelf: Shelf;
  readonly #onWarning: (message: string) => void;
  readonly #own = new Map<string, ShelfEntry>();
  /** Keys that are being evaluated, each with a promise for the callers that wait. */
  readonly #evaluating = new Map<string, { readonly finished: Promise<void>; readonly finish: () => void }>();

  /** `onWarning` receives failures that do not affect a decision. */
  constructor(shelf: Shelf, onWarning: (message: string) => void) {
    this.#shelf = shelf;
    this.#onWarning = onWarning;
  }

  /**
   * Returns the cached answer. If there is none, the caller evaluates and then calls `release`; other callers
   * with the same key wait until then.
   */
  async get(key: string, now: number): Promise<CachedAnswer | undefined> {
    for (let other = this.#evaluating.get(key); other !== undefined; other = this.#evaluating.get(key))
      await other.finished;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    this.#evaluating.set(key, { finished, finish });
    const entry = this.#own.get(key) ?? (await this.#onShelf(key));
    const answer = entry === undefined ? undefined : liveAnswer(entry, now);
    if (answer !== undefined) this.release(key);
    return answer;
  }

  /** Treats a cache that cannot be read as empty. */
  async #onShelf(key: string): Promise<ShelfEntry | undefined> {
    try {
      const entry = await this.#shelf.get(key);
      if (entry === undefined || isIntactAnswer(entry)) return entry;
      this.#onWarning("ignored a cached answer that was changed in the store");
      return undefined;
    } catch (error) {
      this.#onWarning(`cannot read the cache: ${(error as Error).message}`);
      return undefined;
    }
  }

  release(key: string): void {
    this.#evaluating.get(key)?.finish();
    this.#evaluating.delete(key);
  }

  /** Caches an answer for this process; `persist` writes it to the store for all processes. */
  set(
    key: string,
    answer: CachedAnswer,
    { group, now, lifetime }: { group: string; now: number; lifetime: number },
  ): void {
    const value = { created_at: now, kept: answer as unknown as JsonObject } satisfies Json;
    if (this.#own.size >= maxUnpersisted) this.#own.clear();
    this.#own.set(key, { key, group, expires_at: now + lifetime, value });
  }

  /** Removes an answer whose record could not be written. */
  delete(key: string): void {
    this.#own.delete(key);
  }

  /** Writes answers to the store; from then on only the store is read, as other processes may remove them. */
  async persist(keys: readonly string[]): Promise<void> {
    const entries = keys.flatMap((key) => this.#own.get(key) ?? []);
    await this.#shelf.put(entries.map(withDigest));
    for (const key of keys) this.#own.delete(key);
  }
}

const maxUnpersisted = 10_000;

/** Adds a digest of the entry, so that a later change to the stored answer is detected. */
function withDigest(entry: ShelfEntry): ShelfEntry {
  return { ...entry, value: { ...(entry.value as JsonObject), digest: entryDigest(entry) } };
}

const storedDigest = ({ value }: ShelfEntry): Json | undefined =>
  (value as Partial<JsonObject> | null)?.["digest"];

/** Returns whether an entry of the store is as it was written. */
export const isIntactAnswer = (entry: ShelfEntry): boolean => storedDigest(entry) === entryDigest(entry);

/** The outcome of a cached answer, and the record of the evaluation that produced it. */
export interface CachedLabels {
  readonly record_id: string;
  readonly labels: readonly string[];
  readonly targets: readonly string[];
}

/** Returns undefined if the evaluation was not recorded. */
export function labelsOfAnswer({ value }: ShelfEntry): CachedLabels | undefined {
  const { kept } = (value ?? {}) as unknown as { readonly kept?: Partial<CachedAnswer> };
  if (kept?.record_id === undefined || kept.answer === undefined) return undefined;
  const { selected_labels: labels, selected_targets: targets } = kept.answer;
  return { record_id: kept.record_id, labels, targets };
}

function entryDigest({ key, group, expires_at, value }: ShelfEntry): string {
  const { created_at, kept } = (value ?? {}) as Partial<JsonObject>;
  return sha256Hex(JSON.stringify([key, group, expires_at, created_at, kept]));
}

function liveAnswer({ value, expires_at = 0 }: ShelfEntry, now: number): CachedAnswer | undefined {
  const { created_at, kept } = value as unknown as { created_at: number; kept: CachedAnswer };
  // An entry from the future was made before the clock was set back; it must not live longer.
  return created_at <= now && now < expires_at ? kept : undefined;
}

/** The entries of the cache, and how often it was hit. */
export interface CacheStatus {
  readonly entries: number;
  readonly live: number;
  readonly expired: number;
  /** Counted from the log: decisions that are not logged are not included. */
  readonly hits: number;
  readonly misses: number;
  /** In bytes. */
  readonly size: number;
  readonly where: string;
  readonly decisions: readonly {
    readonly decision_id: string;
    readonly entries: number;
    readonly live: number;
  }[];
}

export async function cacheStatus(store: Store, now: number): Promise<CacheStatus> {
  const byDecision = new Map<string, { entries: number; live: number }>();
  const shelf = store.shelf("cache");
  for await (const { group = "", expires_at = 0 } of shelf.entries()) {
    const counted = byDecision.get(group) ?? { entries: 0, live: 0 };
    byDecision.set(group, counted);
    counted.entries++;
    if (now < expires_at) counted.live++;
  }
  const decisions = [...byDecision].map(([decision_id, counted]) => ({ decision_id, ...counted }));
  decisions.sort((a, b) => (a.decision_id < b.decision_id ? -1 : 1));
  const entries = decisions.reduce((sum, each) => sum + each.entries, 0);
  const live = decisions.reduce((sum, each) => sum + each.live, 0);
  const { hits, misses } = await store.log.cacheUse();
  return { entries, live, expired: entries - live, hits, misses, ...(await shelf.extent()), decisions };
}
