import type { RecordKey } from "../../../../model/store.js";
import type { KeyHash } from "./key-hash.js";
import { hashesOf } from "./key-hash.js";
import type { LogIndex } from "./log-index.js";

/** The numbers of the rows that have a key, newest first; some of other keys may be among them. */
export function* relatedRows(index: LogIndex, key: RecordKey): Generator<number> {
  for (const { row } of rowsWith(index, hashesOf(key, index.shapes.last.keys()))) yield row;
}

/** A row, one of its entries, and how many of the keys it has. */
export interface RowWith {
  readonly row: number;
  readonly entry: number;
  readonly shared: number;
}

/** The rows that have any of these keys, each once, newest first. */
export function* rowsWith({ postings, count }: LogIndex, hashes: readonly KeyHash[]): Generator<RowWith> {
  const next = hashes.map((hash) => postings.last(hash)).filter((entry) => entry > 0);
  while (next.length > 0) {
    const entry = next.reduce((newest, each) => Math.max(newest, each), 0) - 1;
    const row = postings.row(entry);
    let shared = 0;
    for (let at = next.length - 1; at >= 0; at--) {
      let before = next[at] ?? 0;
      if (postings.row(before - 1) !== row) continue;
      shared++;
      while (before > 0 && postings.row(before - 1) === row) before = postings.before(before - 1);
      if (before === 0) next.splice(at, 1);
      else next[at] = before;
    }
    if (row < count) yield { row, entry, shared };
  }
}
