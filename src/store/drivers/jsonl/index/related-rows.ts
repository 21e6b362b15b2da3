import type { RecordKey } from "../../../../model/store.js";
import type { KeyHash } from "./key-hash.js";
import { hashesOf } from "./key-hash.js";
import type { LogIndex } from "./log-index.js";
import type { Postings } from "./postings.js";

/** The numbers of the rows that have a key, newest first; some of other keys may be among them. */
export function* relatedRows(index: LogIndex, key: RecordKey): Generator<number> {
  const rows = new RowsWith(index.postings, hashesOf(key, index.shapes.last.keys()));
  while (rows.next()) if (rows.row < index.count) yield rows.row;
}

/** Goes through the rows that have any of some keys, each once, newest first. */
export class RowsWith {
  /** The row, one of its entries, and how many of the keys it has. */
  row = -1;
  entry = -1;
  shared = 0;
  readonly #postings: Postings;
  /** Of each key, the next entry and its row; -1 where there are no more. */
  readonly #entries: number[] = [];
  readonly #rows: number[] = [];

  constructor(postings: Postings, keys: readonly KeyHash[]) {
    this.#postings = postings;
    for (const key of keys) {
      const entry = postings.last(key) - 1;
      if (entry === -1) continue;
      this.#entries.push(entry);
      this.#rows.push(postings.row(entry));
    }
  }

  /** Whether there is another. */
  next(): boolean {
    const postings = this.#postings;
    const entries = this.#entries;
    const rows = this.#rows;
    const row = Math.max(-1, ...rows);
    if (row === -1) return false;
    this.row = row;
    this.shared = 0;
    for (let at = 0; at < rows.length; at++) {
      if (rows[at] !== row) continue;
      this.shared++;
      let entry = entries[at] ?? -1;
      this.entry = entry;
      let newest = row;
      while (newest === row) {
        entry = postings.before(entry) - 1;
        newest = entry === -1 ? -1 : postings.row(entry);
      }
      entries[at] = entry;
      rows[at] = newest;
    }
    return true;
  }
}
