import type { Json } from "./json.js";
import type { Ledger } from "./ledger.js";

export type * from "./ledger.js";

/** Where things are kept; the drivers differ in nothing that a caller could see. */
export interface Store {
  /** The log: entries are only ever added, one after the other. */
  readonly log: Ledger;
  /** The latest value of each key. */
  shelf(name: ShelfName): Shelf;
  close(): Promise<void>;
}

/** `breakers` and `responses` are of endpoints; `approvals` tells which was the last lock that was seen. */
export type ShelfName = "cache" | "definitions" | "environments" | "breakers" | "responses" | "approvals";

export interface Shelf {
  get(key: string): Promise<ShelfEntry | undefined>;
  put(entries: readonly ShelfEntry[]): Promise<void>;
  /**
   * Puts what is made of the value of a key, which nobody changes meanwhile; undefined leaves it. Gives what
   * is there then.
   */
  update(
    key: string,
    change: (entry: ShelfEntry | undefined) => ShelfEntry | undefined,
  ): Promise<ShelfEntry | undefined>;
  /** Removes what the test is true of; tells how many. */
  remove(isDoomed: (entry: ShelfEntry) => boolean): Promise<number>;
  entries(): AsyncIterable<ShelfEntry>;
  /** How many bytes it takes, and where. */
  extent(): Promise<{ readonly size: number; readonly where: string }>;
}

export interface ShelfEntry {
  readonly key: string;
  readonly value: Json;
  /** What it belongs to. */
  readonly group?: string;
  /** In microseconds since 1970: from then on it is gone. */
  readonly expires_at?: number;
}
