import { parseDuration } from "../definition/duration.js";
import { uncacheableReason } from "../definition/definition-reads.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import type { CacheAdapter } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { LogRecord } from "../model/record.js";
import type { Ledger, LogPlace, Shelf, ShelfEntry, Store } from "../model/store.js";
import { microsecondsOf } from "./timestamp.js";

const defaultTtl = 3_600_000_000;

/** A cached answer, without its input: that is evaluated again on every hit. */
interface CachedAnswer {
  readonly answer: Omit<Evaluated, "input_value">;
  /** The record of the evaluation that produced it. */
  readonly record_id?: string;
}

/** The value of an entry. Earlier versions stored no place; their entries are not used. */
interface CachedValue {
  readonly created_at: number;
  readonly kept: CachedAnswer;
  /** Where the record is in the log. */
  readonly place?: LogPlace;
}

/** Returns how long answers of a definition are cached, in microseconds; undefined: they are not cached. */
export function cacheLifetime({ definition, reads, masks }: Prepared): number | undefined {
  const { cache } = definition;
  if (cache?.enabled !== true || uncacheableReason(definition, reads, masks) !== undefined) return undefined;
  return cache.ttl === undefined ? defaultTtl : parseDuration(cache.ttl);
}

/** Cached answers. Those of this process are found before they are written to the store. */
export class AnswerCache {
  readonly #log: Pick<Ledger, "at">;
  readonly #shelf: Shelf;
  readonly #onWarning: (message: string) => void;
  readonly #own = new Map<string, ShelfEntry>();
  /** The answers of definitions whose adapter is `memory`. */
  readonly #memory = new Map<string, ShelfEntry>();
  /** Keys that are being evaluated, each with a promise for the callers that wait. */
  readonly #evaluating = new Map<string, { readonly finished: Promise<void>; readonly finish: () => void }>();

  /** `onWarning` receives failures that do not affect a decision. */
  constructor(store: Store, onWarning: (message: string) => void) {
    this.#log = store.log;
    this.#shelf = store.shelf("cache");
    this.#onWarning = onWarning;
  }

  /**
   * Returns the cached answer. If there is none, the caller evaluates and then calls `release`; other callers
   * with the same key wait until then.
   */
  async get(key: string, options: LookupOptions): Promise<CachedAnswer | undefined> {
    const { now, lifetime, adapter = "store" } = options;
    for (let other = this.#evaluating.get(key); other !== undefined; other = this.#evaluating.get(key))
      await other.finished;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    this.#evaluating.set(key, { finished, finish });
    const entry =
      adapter === "memory"
        ? this.#memory.get(key)
        : (this.#own.get(key) ?? (await this.#onShelf(key, lifetime)));
    const answer = entry === undefined ? undefined : liveAnswer(entry, now);
    if (answer !== undefined) this.release(key);
    return answer;
  }

  /**
   * Returns the stored answer, if a record of the log gave it. Anyone who can write to the store can forge an answer and
   * its digest, but not a record. Treats a cache that cannot be read as empty.
   */
  async #onShelf(key: string, lifetime: number): Promise<ShelfEntry | undefined> {
    try {
      const entry = await this.#shelf.get(key);
      const place = entry && placeOfAnswer(entry);
      if (entry === undefined || place === undefined) return undefined;
      const line = await this.#log.at(place);
      // The record was pruned.
      if (line === undefined) return undefined;
      if (isAnswerOf(line.record, entry) && hasLifetime(entry, lifetime)) return entry;
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

  /**
   * Caches an answer for this process; `persist` writes it to the store for all processes. Returns the digest that its
   * record must have; undefined if it stays in this process.
   */
  set(
    key: string,
    answer: CachedAnswer,
    { group, now, lifetime, adapter = "store" }: CachedUnder,
  ): string | undefined {
    const value = { created_at: now, kept: answer } satisfies CachedValue;
    const answers = adapter === "memory" ? this.#memory : this.#own;
    if (answers.size >= maxOwnAnswers) answers.clear();
    answers.set(key, { key, group, expires_at: now + lifetime, value: value as unknown as JsonObject });
    return adapter === "memory" ? undefined : answerDigest(answer);
  }

  /** Says where the record of an answer is. */
  setPlace(key: string, recordId: string, place: LogPlace): void {
    const entry = this.#own.get(key);
    const value = entry?.value as unknown as CachedValue | undefined;
    if (entry === undefined || value?.kept.record_id !== recordId) return;
    this.#own.set(key, { ...entry, value: { ...(entry.value as JsonObject), place } });
  }

  /** Removes an answer whose record could not be written. */
  delete(key: string): void {
    this.#own.delete(key);
    this.#memory.delete(key);
  }

  /** Writes answers to the store; from then on only the store is read, as other processes may remove them. */
  async persist(keys: readonly string[]): Promise<void> {
    const entries = keys.flatMap((key) => this.#own.get(key) ?? []);
    if (entries.length === 0) return;
    await this.#shelf.put(entries);
    for (const key of keys) this.#own.delete(key);
  }
}

interface LookupOptions {
  readonly now: number;
  readonly lifetime: number;
  readonly adapter?: CacheAdapter | undefined;
}

interface CachedUnder extends LookupOptions {
  /** The id of the decision. */
  readonly group: string;
}

const maxOwnAnswers = 10_000;

const answerDigest = ({ answer }: CachedAnswer): string => sha256Hex(JSON.stringify(answer));

/** Returns the place that an entry of the store names; undefined: it names none, and is never used. */
export function placeOfAnswer({ value }: ShelfEntry): LogPlace | undefined {
  const { place } = (value ?? {}) as { readonly place?: LogPlace | null };
  return typeof place === "object" ? (place ?? undefined) : undefined;
}

/** Returns whether an entry of the store is the answer that this record gave. */
export function isAnswerOf(record: LogRecord, { key, value }: ShelfEntry): boolean {
  const { kept, created_at } = (value ?? {}) as Partial<CachedValue>;
  if (record.kind !== "decision" || kept?.answer === undefined) return false;
  const { record_id, cache_key, timestamp, answer_digest } = record;
  const isSame = record_id === kept.record_id && cache_key === key;
  return isSame && microsecondsOf(timestamp) === created_at && answer_digest === answerDigest(kept);
}

const hasLifetime = ({ value, expires_at }: ShelfEntry, lifetime: number): boolean =>
  expires_at === (value as unknown as CachedValue).created_at + lifetime;

function liveAnswer({ value, expires_at = 0 }: ShelfEntry, now: number): CachedAnswer | undefined {
  const { created_at, kept } = value as unknown as CachedValue;
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
