import type { CountedLog } from "./count-records.js";
import { CounterFiles, DamagedCountersError, removeEarlierCounters } from "./counter-files.js";
import { ShelfFiles } from "./file-shelf.js";
import type { Files } from "./files.js";
import { systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { describeRemovedLog, readHeadFile } from "./head.js";
import type { Progress } from "./index/log-index.js";
import type { RecoveredCounts } from "./recover-tail.js";
import { countsPastHead } from "./recover-tail.js";
import { listSegments } from "./segments.js";
import { runInSlices } from "./slices.js";
import { damagedLogError } from "./store-errors.js";
import { DecisionError } from "../../../errors.js";
import type { Appended, Counter, Entry, Limit, LogPlace } from "../../../model/store.js";
import {
  countEntry,
  counterName,
  groupBodies,
  incrementCounter,
  isLimitReached,
  zeroCounter,
} from "../../../record/counters.js";
import { wrongCountersMessage } from "../../../record/notes.js";

/** Entries that are appended together or not at all. */
export type EntryGroup = readonly [Entry, ...Entry[]];

/** The groups that their limits admit, and the counters to save once the groups are written. */
export interface Admission {
  readonly bodies: readonly string[];
  /** True if an admitted entry counts something. */
  readonly isCounted: boolean;
  /** Returns the outcome of each group, given the links of the admitted entries. */
  outcomes(links: readonly PlacedLink[]): readonly Appended[];
  /** Writes the counters and returns their pin for the head; undefined if none changed. */
  saveCounters(): string | undefined;
}

/** The link of an entry and its place. */
export interface PlacedLink {
  readonly seq: number;
  readonly hash: string;
  readonly place: LogPlace;
}

interface RefusedGroup {
  readonly refused: Limit;
  readonly count: number;
}

/** The end of the log that the counters must cover. */
interface CountedTail {
  readonly head: Head;
  /** The records before the end of the log that the head on disk does not cover. */
  readonly recovered: readonly RecoveredCounts[];
}

/** The counters that an append starts from. */
interface PreparedCounters {
  /** The pin of the files, which the head must get if it has another one. */
  readonly pin: string | undefined;
  /** Counters that only files of an earlier version have: a note must keep them, or they could be reset. */
  readonly migrated?: ReadonlyMap<string, Counter>;
}

interface CountersOptions {
  readonly files: Files;
  /** Called if the records cannot be counted because the log is damaged. */
  readonly onDamage: (message: string) => void;
  readonly progress?: Progress | undefined;
}

/**
 * Counters derived from the log and kept in files, so that checking a limit does not read the log. They are used only
 * if they are those that the head names; otherwise they are counted again.
 */
export class Counters {
  readonly #directory: string;
  readonly #log: string;
  readonly #files: CounterFiles;
  readonly #options: CountersOptions;
  /** Counters of recovered records, which are saved with the next append. */
  #unsaved = new Map<string, Counter>();

  constructor(directory: string, options: CountersOptions) {
    this.#directory = directory;
    this.#log = `${directory}/log`;
    this.#files = new CounterFiles(`${directory}/counters`, options.files);
    this.#options = options;
  }

  /** Reads a counter without the lock and writes nothing. */
  async read(name: string): Promise<Counter> {
    let head: Head | undefined;
    for (let tries = 0; tries < maxReads; tries++) {
      head = readHeadFile(this.#log);
      if (head === undefined) {
        if (listSegments(this.#log).length > 0)
          throw damagedLogError(this.#log, "its head file cannot be read");
        const problem = describeRemovedLog(this.#directory);
        if (problem === undefined) return zeroCounter;
        throw damagedLogError(this.#log, problem);
      }
      try {
        if (this.#files.matches(head.counters))
          return this.#addPastHead(name, this.#files.get(name) ?? zeroCounter, head);
      } catch (error) {
        // Another process has written them meanwhile, or they are damaged.
        if (!(error instanceof DamagedCountersError)) throw error;
      }
    }
    if (head === undefined) return zeroCounter;
    // Through the end of the log: the head itself may be an older copy.
    const segment = Math.max(head.segment, ...listSegments(this.#log));
    const { counters } = await this.#recount(head, { segment, bytes: Infinity });
    return counters.get(name) ?? zeroCounter;
  }

  /** Adds the records after the head, which may be an older copy, like its counters. */
  #addPastHead(name: string, counter: Counter, head: Head): Counter {
    const counters = new Map([[name, counter]]);
    for (const { counted, seq } of countsPastHead(this.#options.files, this.#log, head)) {
      const own = counted.filter((count) => counterName(count) === name);
      countEntry(counters, own, seq);
    }
    return counters.get(name) ?? counter;
  }

  /** Makes the counters of these groups available to `admit`. Counts again if the files do not match the head. */
  async prepare({ head, recovered }: CountedTail, groups: readonly EntryGroup[]): Promise<PreparedCounters> {
    this.#unsaved = new Map();
    const counted = recovered.filter((each) => each.counted.length > 0);
    if (counted.length === 0 && groups.every((group) => group.every(hasNoCounters)))
      return { pin: head.counters };
    if (this.#areUsable(head, namesIn(groups, counted))) {
      const unsaved = new Map<string, Counter>();
      for (const name of namesIn([], counted)) unsaved.set(name, this.#files.get(name) ?? zeroCounter);
      for (const { counted: counts, seq } of counted) countEntry(unsaved, counts, seq);
      this.#unsaved = unsaved;
      return { pin: head.counters };
    }
    const { counters, isMigrated } = await this.#recount(head);
    // Those that an earlier version has saved may not cover the recovered records.
    for (const { seq, counted: counts } of counted) {
      const missing = counts.filter((count) => (counters.get(counterName(count))?.seq ?? 0) < seq);
      countEntry(counters, missing, seq);
    }
    return { pin: this.#files.replace(counters), ...(isMigrated && { migrated: counters }) };
  }

  /** Like `snapshot`, but reads the whole log only if the files do not match the head. */
  async savedSnapshot(head: Head): Promise<ReadonlyMap<string, Counter>> {
    // The files do not cover records that a crash left after the head on disk.
    const isCovered = readHeadFile(this.#log)?.size === head.size;
    try {
      if (isCovered && this.#files.matches(head.counters)) return new Map(this.#files.entries());
    } catch (error) {
      if (!(error instanceof DamagedCountersError)) throw error;
    }
    return await this.snapshot(head);
  }

  /** Returns all counters, for the note of a prune. */
  async snapshot(head: Head): Promise<ReadonlyMap<string, Counter>> {
    const { counters, isComplete } = await this.#recount(head);
    return !isComplete && this.#areUsable(head, []) ? new Map(this.#files.entries()) : counters;
  }

  /** Removes the files of earlier versions, once the head has a pin. */
  removeEarlierFiles(): void {
    removeEarlierCounters(`${this.#directory}/counters`, this.#earlierShelf().leaves());
  }

  /**
   * Checks limits in order, counting earlier groups of the batch. `first` is the sequence number of the first
   * admitted entry. Requires `prepare`.
   */
  admit(groups: readonly EntryGroup[], first: number): Admission {
    const counters = new Map(this.#unsaved);
    const current = (name: string): Counter => counters.get(name) ?? this.#files.get(name) ?? zeroCounter;
    let seq = first;
    const refusals = groups.map((group): RefusedGroup | undefined => {
      if (group.every(hasNoCounters)) {
        seq += group.length;
        return undefined;
      }
      const limits = group.flatMap((entry) => entry.limits ?? []);
      const refused = limits.find((limit) => isLimitReached(limit, current(limit.counter)));
      if (refused !== undefined) return { refused, count: current(refused.counter).count };
      for (const { counts = [] } of group) {
        for (const count of counts)
          counters.set(counterName(count), incrementCounter(current(counterName(count)), count, seq));
        seq++;
      }
      return undefined;
    });
    const admitted = groups.filter((_, index) => refusals[index] === undefined);
    return {
      bodies: admitted.flatMap(groupBodies),
      isCounted: counters.size > 0,
      outcomes(links) {
        let end = 0;
        return refusals.map((refused, index) => {
          if (refused !== undefined) return refused;
          const start = end;
          end += groups[index]?.length ?? 0;
          return toAppended(links.slice(start, end));
        });
      },
      saveCounters: () => (counters.size === 0 ? undefined : this.#files.save(counters)),
    };
  }

  /** Returns true if the files match the head and the files of these counters are not damaged. */
  #areUsable(head: Head, names: Iterable<string>): boolean {
    if (!this.#files.matches(head.counters)) return false;
    try {
      for (const name of names) this.#files.get(name);
      return true;
    } catch (error) {
      if (error instanceof DamagedCountersError) return false;
      throw error;
    }
  }

  /**
   * Counts all records. Counters of an earlier version are used only where it has pruned records without noting what
   * they count, and only if they are not below what the other records count.
   */
  async #recount(head: Head, end: Pick<Head, "segment" | "bytes"> = head): Promise<Recounted> {
    const { counters, isComplete } = await this.#countLog(head, end);
    if (isComplete || head.counters !== undefined) return { counters, isComplete, isMigrated: false };
    const earlier = this.#readEarlierCounters();
    for (const [name, counter] of earlier)
      if (counter.count >= (counters.get(name)?.count ?? 0)) counters.set(name, counter);
    return { counters, isComplete, isMigrated: earlier.size > 0 };
  }

  async #countLog(head: Head, end: Pick<Head, "segment" | "bytes">): Promise<CountedLog> {
    const { progress, onDamage } = this.#options;
    const { countLog } = await import("./count-records.js");
    try {
      const counted = await runInSlices(countLog(this.#log, end, { expected: head, progress }));
      if (counted.wrongNote === undefined) return counted;
      throw damagedLogError(this.#log, wrongCountersMessage(counted.wrongNote));
    } catch (error) {
      if (error instanceof DecisionError && error.code === "log_damaged") onDamage(error.message);
      throw error;
    }
  }

  #readEarlierCounters(): Map<string, Counter> {
    const shelf = this.#earlierShelf();
    const entries = shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf));
    return new Map(entries.map(({ key, value }) => [key, value as unknown as Counter]));
  }

  #earlierShelf(): ShelfFiles {
    return new ShelfFiles(`${this.#directory}/counters`, {
      files: systemFiles,
      now: () => 0,
      durable: false,
    });
  }
}

interface Recounted {
  readonly counters: Map<string, Counter>;
  /** False if records were removed, and no note has their counters. */
  readonly isComplete: boolean;
  /** True if files of an earlier version have counters of the removed records. */
  readonly isMigrated: boolean;
}

/** Another process needs less time to write its counters and its head. */
const maxReads = 20;

function* namesIn(groups: readonly EntryGroup[], recovered: readonly RecoveredCounts[]): Generator<string> {
  for (const { counted } of recovered) yield* counted.map(counterName);
  for (const group of groups)
    for (const { counts = [], limits = [] } of group) {
      yield* counts.map(counterName);
      yield* limits.map(({ counter }) => counter);
    }
}

const hasNoCounters = ({ counts = [], limits = [] }: Entry): boolean =>
  counts.length === 0 && limits.length === 0;

function toAppended(links: readonly PlacedLink[]): Appended {
  const last = links.at(-1);
  if (last === undefined) throw new Error("fewer records were written than were let in");
  return { seq: last.seq, hash: last.hash, places: links.map(({ place }) => place) };
}
