import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import { readsMasked } from "./mask.js";
import { parseDuration } from "./moment.js";

const defaultTtl = 3_600_000_000;

/** An answer as it was given before; its input is worked out anew, so that it need not be kept. */
export interface KeptAnswer {
  readonly answer: Omit<Evaluated, "input_value">;
  /** The record of the evaluation that gave it. */
  readonly record_id?: string;
}

/** How long answers of a definition are kept, in microseconds; undefined: they are not. */
export function lifetimeOf(definition: Definition, reads: readonly string[]): number | undefined {
  const { cache, logging } = definition;
  if (cache?.enabled !== true) return undefined;
  const pointers = logging?.mask ?? [];
  // A key made of masked values would tell them to whoever tries, and one without them would mix them up.
  const unfit = reads.some((path) => isTimeOfRequest(path) || readsMasked(path, pointers));
  return unfit ? undefined : cache.ttl === undefined ? defaultTtl : parseDuration(cache.ttl);
}

const isTimeOfRequest = (path: string): boolean => path === "system" || path.startsWith("system.");

/** Answers given before, until they expire. Those of this process are known before they are written. */
export class AnswerCache {
  readonly #shelf: Shelf;
  readonly #own = new Map<string, ShelfEntry>();

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  async get(key: string, now: number): Promise<KeptAnswer | undefined> {
    const entry = this.#own.get(key) ?? (await this.#shelf.get(key));
    if (entry === undefined) return undefined;
    const { created_at, kept } = entry.value as unknown as { created_at: number; kept: KeptAnswer };
    // One from the future was made before the clock was set back; it must not live longer for that.
    const isLive = created_at <= now && now < (entry.expires_at ?? 0);
    return isLive ? kept : undefined;
  }

  /** Known to this process at once; `write` makes it known to all. */
  hold(
    key: string,
    kept: KeptAnswer,
    { group, now, lifetime }: { group: string; now: number; lifetime: number },
  ): void {
    const value = { created_at: now, kept: kept as unknown as JsonObject } satisfies Json;
    if (this.#own.size >= mostHeld) this.#own.clear();
    this.#own.set(key, { key, group, expires_at: now + lifetime, value });
  }

  /** From then on the shelf alone is asked: others may remove what is on it. */
  async write(keys: readonly string[]): Promise<void> {
    await this.#shelf.put(keys.flatMap((key) => this.#own.get(key) ?? []));
    for (const key of keys) this.#own.delete(key);
  }
}

const mostHeld = 10_000;
