import type { Store } from "../model/store.js";

/** What the cache holds and how often it was of use. */
export interface CacheStatus {
  readonly entries: number;
  readonly live: number;
  readonly expired: number;
  /** As the log tells: decisions that are not logged are not counted. */
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
