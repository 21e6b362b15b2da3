import type { DecisionType } from "./definition.js";
import type { Json, JsonObject } from "./json.js";
import type { Entity } from "./lineage.js";
import type { LogRecord, RecordKind } from "./record.js";

/** The store port. All drivers behave the same. */
export interface Store {
  /** The append-only log. */
  readonly log: Ledger;
  /** A key-value store: the latest value of each key. */
  shelf(name: ShelfName): Shelf;
  /**
   * Restores a log, in one atomic step, into this store, which must be empty. Lines are kept byte for byte and nothing
   * is appended, so size and head stay the same; counters are those of the log.
   */
  restore(snapshot: StoreSnapshot): Promise<void>;
  close(): Promise<void>;
}

/** The content of a store that another one can be restored from. Each part is read once. */
export interface StoreSnapshot {
  /** Size and head of the log. */
  readonly state: LedgerState;
  /** The entries of the shelves that cannot be derived: `definitions`, `environments` and `approvals`. */
  readonly shelves: Iterable<{ readonly shelf: ShelfName; readonly entry: ShelfEntry }>;
  /** The lines of the checkpoints, oldest first, without newlines. */
  readonly checkpoints: Iterable<string>;
  /** The lines of the log that were not pruned, oldest first, without newlines. */
  readonly lines: Iterable<string>;
}

/** `breakers` and `responses` belong to endpoints; `approvals` holds the last lock that was seen. */
export type ShelfName = "cache" | "definitions" | "environments" | "breakers" | "responses" | "approvals";

export interface Shelf {
  get(key: string): Promise<ShelfEntry | undefined>;
  put(entries: readonly ShelfEntry[]): Promise<void>;
  /**
   * Replaces the value of a key atomically; `undefined` leaves it unchanged. Returns the value afterwards.
   */
  update(
    key: string,
    change: (entry: ShelfEntry | undefined) => ShelfEntry | undefined,
  ): Promise<ShelfEntry | undefined>;
  /** Removes the matching entries and returns their number. */
  remove(shouldRemove: (entry: ShelfEntry) => boolean): Promise<number>;
  entries(): AsyncIterable<ShelfEntry>;
  /** The size in bytes and the location. */
  extent(): Promise<{ readonly size: number; readonly where: string }>;
}

export interface ShelfEntry {
  readonly key: string;
  readonly value: Json;
  /** The group that the entry belongs to, for example a decision id. */
  readonly group?: string;
  /** Expiry time in microseconds since 1970. */
  readonly expires_at?: number;
}

export interface Entry {
  /** The fields of the record as JSON text, without braces; the ledger adds `seq`, `prev_hash` and `hash`. */
  readonly body: string;
  /** Counters to increment with this entry. */
  readonly counts?: readonly Count[];
  /** Counters that must be below `most`, else the entry is refused. */
  readonly limits?: readonly Limit[];
}

/** A counter, a counter that also keeps the times of its newest increments, or one that adds up amounts. */
export type Count = string | TimedCount | SumCount;

interface TimedCount {
  readonly counter: string;
  readonly keep: number;
  /** In microseconds since 1970. */
  readonly at: number;
}

interface SumCount {
  readonly counter: string;
  /** A whole number. */
  readonly add: number;
  /** In microseconds since 1970; with `window`. */
  readonly at?: number;
  /** For how long the amount counts, in microseconds; absent: for ever. */
  readonly window?: number;
}

export interface Limit {
  readonly counter: string;
  readonly most: number;
  /** Start of the window in which increments count, in microseconds since 1970; needs a counter with times. */
  readonly after?: number;
  /** The amount to add: the sum must not exceed `most`. Absent: the count must be below `most`. */
  readonly add?: number;
}

export interface Counter {
  readonly count: number;
  /** The sequence number of the last counted entry; 0: none. */
  readonly seq: number;
  /** Oldest first. */
  readonly times?: readonly number[];
  /** The sum of all amounts. */
  readonly sum?: number;
  /** The amounts of the newest window, oldest first; amounts close together may be one, at the time of the last. */
  readonly amounts?: readonly TimedAmount[];
}

/** A time in microseconds since 1970, and the amount added until then. */
export type TimedAmount = readonly [at: number, amount: number];

/** The position of the last entry and the places of all, or the limit that refused them. */
export type Appended =
  | { readonly seq: number; readonly hash: string; readonly places: readonly LogPlace[] }
  | { readonly refused: Limit; readonly count: number };

/** Where an entry is in the log, for `Ledger.at`. Its meaning depends on the driver. */
export type LogPlace = Readonly<Record<string, number>>;

export interface Ledger {
  /**
   * Appends the entries in one atomic step and resolves once they are durable: all of them, or none where a
   * limit refuses one. Limits are checked in the same step.
   */
  append(...entries: readonly [Entry, ...Entry[]]): Promise<Appended>;
  /** Throws the error that `append` would throw now, if any. */
  ready(): Promise<void>;
  counter(name: string): Promise<Counter>;
  /** Reads the entry at a place, in constant time; undefined: no unchanged entry is there. */
  at(place: LogPlace): Promise<LogLine | undefined>;
  /** The number of entries ever appended, and the hash of the last one. */
  state(): Promise<LedgerState>;
  /**
   * Matching records, oldest first; with a limit, the newest ones. `unreadable` is called for damaged lines;
   * lines whose fields cannot be read at all are reported only by an unfiltered query.
   */
  select(query: Query, unreadable?: (line: UnreadableLine) => void): AsyncIterable<LogLine>;
  /** Finds a record by its id, a unique prefix of its id, or its sequence number. */
  find(reference: Reference): Promise<Found>;
  /** The records with a key, newest first. */
  related(key: RecordKey, range?: RelatedRange): AsyncIterable<LogLine>;
  /** The newest records of the same decision and tool that share at least one of the entities, newest first. */
  neighbours(
    subject: NeighbourSubject,
    entities: readonly Entity[],
    most: number,
    bounds?: NeighbourBounds,
  ): Promise<readonly Neighbour[]>;
  /** How often each branch of a decision was selected. */
  tally(decisionId: string, range: TimeRange): Promise<Tally>;
  /** The same for each hour that has records, oldest first. */
  tallyByHour(decisionId: string, range: TimeRange): Promise<readonly HourTally[]>;
  /** The last record that was pruned, as the log says; 0: none. */
  pruned(): Promise<number>;
  /** What a prune would remove. */
  prunable(bound: PruneBound): Promise<Prunable>;
  /** Removes records permanently and appends a note. */
  prune(prunable: Prunable, noteOf: (details: JsonObject) => string): Promise<void>;
  /** Hits and misses of the answer cache. */
  cacheUse(): Promise<{ readonly hits: number; readonly misses: number }>;
}

/** A key of the record index. */
export type RecordKey =
  | { readonly entity: Entity }
  | { readonly artifact: string }
  /** A consulted policy or an applied override. */
  | { readonly policy: string }
  | { readonly session_id: string }
  /** A record that others refer to: as parent, as source of a cached answer, or as the check that allowed a call. */
  | { readonly refers_to: string };

export interface RelatedRange extends TimeRange {
  /** Keeps the newest N. */
  readonly limit?: number;
  readonly label?: string;
}

/** The decision, and the tool that it is about; only policies have one. */
export interface NeighbourSubject {
  readonly decision_id: string;
  readonly tool?: string | undefined;
}

export interface NeighbourBounds {
  /** Only records with a smaller sequence number. */
  readonly before?: number;
  /** Whether a record with this many shared entities, out of its own, can be skipped. */
  readonly cannotMatch?: (shared: number, entities: number) => boolean;
  /** Called for each match; ends the search by returning true. */
  readonly stopAfter?: (found: Neighbour) => boolean;
}

/** The part of a record that its similarity depends on. */
export interface Neighbour {
  readonly seq: number;
  /** Number of shared entities. */
  readonly shared: number;
  /** Number of its own entities. */
  readonly entities: number;
  /** Undefined: known only once the record is read. */
  readonly traits: NeighbourTraits | undefined;
  readonly labels: readonly string[];
  /** Reads the record; undefined where it is unreadable. */
  read(): Promise<LogRecord | undefined>;
}

/** The traits of a record, besides its entities, that precedents are compared by. */
export interface NeighbourTraits {
  /** The parts of the context that it read. */
  readonly sources: readonly string[];
  /** The names of the params of its tool call. */
  readonly params: readonly string[];
}

/** A record and its line in the log. */
export interface LogLine {
  readonly text: string;
  readonly record: LogRecord;
  /** False: the line was changed after it was written. */
  readonly intact: boolean;
}

/** A damaged line of the log. */
export interface UnreadableLine {
  readonly seq: number;
  readonly text: string;
}

export interface LedgerState {
  readonly size: number;
  readonly head: string;
  /** Number of entries known to be lost after the last one; absent: none. */
  readonly lost?: number;
}

export type Reference = { readonly seq: number } | { readonly beginning: string } | { readonly latest: true };

export type Found =
  | LogLine
  /** Some of the records that a prefix matches. */
  | { readonly candidates: readonly string[] };

export type PruneBound = { readonly before: number } | { readonly keep: number };

export interface Prunable {
  readonly records: number;
  /** The last record to remove; 0: none. */
  readonly through: number;
  readonly bytes: number;
}

/** In microseconds since 1970, inclusive. */
export interface TimeRange {
  readonly since?: number;
  readonly until?: number;
}

export interface Query extends TimeRange {
  readonly kind?: RecordKind;
  readonly decision_id?: string;
  readonly workflow_id?: string;
  readonly stage_id?: string;
  readonly session_id?: string;
  readonly correlation_id?: string;
  /** The authenticated caller of a decision, or one who acts for it. */
  readonly caller?: string;
  readonly label?: string;
  readonly target?: string;
  readonly type?: DecisionType;
  /** Keeps the newest N. */
  readonly limit?: number;
  /** Newest first. */
  readonly reverse?: boolean;
  /** Only records with a greater sequence number. */
  readonly after?: number;
  /** Decides by the records themselves, not by an index that was saved earlier. */
  readonly unindexed?: boolean;
}

/** Counts over the records of one decision. Each label of a multiple selection counts. */
export interface Tally {
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  /** By definition hash. */
  readonly definitions: Readonly<Record<string, DefinitionTally>>;
}

export interface DefinitionTally {
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly distinct_inputs: number;
  /** Number of distinct inputs for each label. */
  readonly distinct_counts: Readonly<Record<string, number>>;
}

/** How many records of one hour were made with a definition and selected these labels. */
export interface HourTally {
  /** In hours since 1970. */
  readonly hour: number;
  readonly definition_hash: string;
  readonly labels: readonly string[];
  readonly count: number;
}
