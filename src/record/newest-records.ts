import type { Ledger, LogLine, Query } from "../model/store.js";

/** A ledger holds the newest ones in memory to turn them around; so many may be. */
const mostHeld = 10_000;

/** The records that fit, oldest first, without ever holding many of them. */
export async function* newestRecords(
  log: Pick<Ledger, "select">,
  query: Query,
  held = mostHeld,
): AsyncGenerator<LogLine> {
  const { limit = Infinity, reverse = false } = query;
  if (limit <= held || limit === Infinity || reverse) {
    yield* log.select(query);
    return;
  }
  let first = 0;
  for await (const { record } of log.select({ ...query, reverse: true })) first = record.seq;
  if (first === 0) return;
  let left = limit;
  for await (const line of log.select({ ...query, limit: Infinity, after: first - 1 })) {
    if (left-- === 0) return;
    yield line;
  }
}
