import type { DecisionType } from "./definition.js";
import type { Json, JsonObject } from "./json.js";
import type { Entity } from "./lineage.js";
import type { LogRecord, RecordKind } from "./record.js";

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

export interface Entry {
  /** The fields of the record as JSON text, without braces; the ledger adds `seq`, `prev_hash` and `hash`. */
  readonly body: string;
  /** Counters that grow by one with this entry. */
  readonly counts?: readonly Count[];
  /** Counters that must be below `most` for the entry to be taken. */
  readonly limits?: readonly Limit[];
}

/** A counter, or one that also remembers when it last grew: as many of the newest times as it is to keep. */
export type Count = string | TimedCount;

interface TimedCount {
  readonly counter: string;
  readonly keep: number;
  /** In microseconds since 1970. */
  readonly at: number;
}

export interface Limit {
  readonly counter: string;
  readonly most: number;
  /** Only what was counted after this counts, as far as times are kept; in microseconds since 1970. */
  readonly after?: number;
}

export interface Counter {
  readonly count: number;
  /** The sequence number of the last entry that it counts; 0: there is none. */
  readonly seq: number;
  /** Oldest first. */
  readonly times?: readonly number[];
}

/** Where the last of the entries stands, or the limit that kept all of them out. */
export type Appended =
  { readonly seq: number; readonly hash: string } | { readonly refused: Limit; readonly count: number };

export interface Ledger {
  /**
   * Resolves once the entries are kept for good, one behind the other: all of them, or none where a limit
   * keeps one out. Limits are looked at in the same step that adds them.
   */
  append(...entries: readonly [Entry, ...Entry[]]): Promise<Appended>;
  /** Fails as adding would, where nothing can be added at the moment. */
  ready(): Promise<void>;
  counter(name: string): Promise<Counter>;
  /** How many entries there ever were, and the hash of the last. */
  state(): Promise<LedgerState>;
  /**
   * The records that fit, oldest first; with a limit, the newest ones. `unreadable` hears of lines on the way
   * that are no records any more; of those that cannot even be told from others it hears where nothing is
   * left out.
   */
  select(query: Query, unreadable?: (line: UnreadableLine) => void): AsyncIterable<LogLine>;
  /** By record id, a unique beginning of one, or sequence number. */
  find(reference: Reference): Promise<Found>;
  /** The records that have to do with something, newest first. */
  related(key: RecordKey, range?: RelatedRange): AsyncIterable<LogLine>;
  /** The newest records of a decision that share an entity with these, newest first. */
  neighbours(
    decisionId: string,
    entities: readonly Entity[],
    most: number,
    bounds?: NeighbourBounds,
  ): Promise<readonly Neighbour[]>;
  /** How often each branch of a decision was taken. */
  tally(decisionId: string, range: TimeRange): Promise<Tally>;
  /** What would go if all before a time, or all but the newest so many, were to go. */
  prunable(bound: PruneBound): Promise<Prunable>;
  /** Removes it for good; the note that says so stays. */
  prune(prunable: Prunable, noteOf: (details: JsonObject) => string): Promise<void>;
  /** How often the cache was asked, and how often it knew the answer. */
  cacheUse(): Promise<{ readonly hits: number; readonly misses: number }>;
}

/** What records are looked up by. */
export type RecordKey =
  | { readonly entity: Entity }
  | { readonly artifact: string }
  /** A policy that was consulted, or an override that was applied. */
  | { readonly policy: string }
  | { readonly session_id: string }
  /** A record that others name: as their parent, as where their answer is from, or as what allowed a call. */
  | { readonly refers_to: string };

export interface RelatedRange extends TimeRange {
  /** The newest so many. */
  readonly limit?: number;
  readonly label?: string;
}

export interface NeighbourBounds {
  /** Only those with a smaller sequence number. */
  readonly before?: number;
  /** Whether one that shares so many entities, of so many that it has, need not be given; it is looked at all the same. */
  readonly cannotMatch?: (shared: number, entities: number) => boolean;
  /** Is told of each that is found; no more are looked for once it says so. */
  readonly stopAfter?: (found: Neighbour) => boolean;
}

/** As much of a record as tells how similar it is. */
export interface Neighbour {
  readonly seq: number;
  /** How many of the entities it shares. */
  readonly shared: number;
  /** How many entities it has. */
  readonly entities: number;
  /** What it read of its context. */
  readonly sources: readonly string[];
  readonly labels: readonly string[];
  /** The record as it stands there, unproven; undefined where it can no longer be read. */
  read(): Promise<LogRecord | undefined>;
}

/** A record, and the line of the log that it is. */
export interface LogLine {
  readonly text: string;
  readonly record: LogRecord;
  /** False: the line is not as it was written. */
  readonly intact: boolean;
}

/** What is left of a record. */
export interface UnreadableLine {
  readonly seq: number;
  readonly text: string;
}

export interface LedgerState {
  readonly size: number;
  readonly head: string;
  /** How many there are known to have been behind the last one; absent: none. */
  readonly lost?: number;
}

export type Reference = { readonly seq: number } | { readonly beginning: string } | { readonly latest: true };

export type Found =
  | LogLine
  /** Some of those that a beginning fits. */
  | { readonly candidates: readonly string[] };

export type PruneBound = { readonly before: number } | { readonly keep: number };

export interface Prunable {
  readonly records: number;
  /** The last record that goes; 0: none does. */
  readonly through: number;
  readonly bytes: number;
}

/** In microseconds since 1970; both ends belong to it. */
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
  readonly label?: string;
  readonly target?: string;
  readonly type?: DecisionType;
  /** The newest so many. */
  readonly limit?: number;
  /** Newest first. */
  readonly reverse?: boolean;
  /** Only those with a greater sequence number. */
  readonly after?: number;
}

/** Counted over the decision records of one decision. Each label of a multiple selection counts. */
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
  /** How many distinct inputs took each label. */
  readonly distinct_counts: Readonly<Record<string, number>>;
}
