import type { ShelfEntry, Store } from "../../src/model/store.js";
import { AnswerCache } from "../../src/record/answer-cache.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { decided, newId, noon } from "./entries.js";

export const cachedAt = microsecondsOf(noon);
export const lifetime = 3_600_000_000;
export const lookup = { now: cachedAt + 1, lifetime };

/** Records an answer and caches it, as the program does. Returns the entry in the store. */
export async function cacheAnswer(
  store: Store,
  { key = "key", label = "Pass", timestamp = noon, context = {} } = {},
): Promise<ShelfEntry> {
  const cache = new AnswerCache(store, () => undefined);
  const answer = { selected_labels: [label], selected_targets: [`to-${label}`], warnings: [] } as never;
  const record_id = newId(timestamp);
  const under = { group: "gate", now: microsecondsOf(timestamp), lifetime };
  const answer_digest = cache.set(key, { answer, record_id }, under) ?? "";
  const fields = { record_id, timestamp, cache_key: key, answer_digest, selected_labels: [label], context };
  const appended = await store.log.append({ body: decided(fields) });
  const [place = {}] = "places" in appended ? appended.places : [];
  cache.setPlace(key, record_id, place);
  await cache.persist([key]);
  const entry = await store.shelf("cache").get(key);
  if (entry === undefined) throw new Error("the answer was not stored");
  return entry;
}
