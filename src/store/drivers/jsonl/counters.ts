import { countEntry, countLog } from "./count-records.js";
import { CounterFiles, DamagedCountersError, removeEarlierCounters } from "./counter-files.js";
import { ShelfFiles } from "./file-shelf.js";
import type { Files } from "./files.js";
import { systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { readHeadFile } from "./head.js";
import type { Progress } from "./index/log-index.js";
import { listSegments } from "./segments.js";
import { runInSlices } from "./slices.js";
import { damagedLogError } from "./store-errors.js";
import type { Appended, Count, Counter, Entry, Limit } from "../../../model/store.js";
import {
  counterName,
  groupBodies,
  incrementCounter,
  isLimitReached,
  zeroCounter,
} from "../../../record/counters.js";

/** Entries that are appended together or not at all. */
export type EntryGroup = readonly [Entry, ...Entry[]];

/** The groups that their limits admit, and the counters to save once the groups are written. */
export interface Admission {
  readonly bodies: readonly string[];
  /** True if an admitted entry counts something. */
  readonly isCounted: boolean;
  /** Returns the outcome of each group, given the links of the admitted entries. */
  outcomes(links: readonly { readonly seq: number; readonly hash: string }[]): readonly Appended[];
  /** Writes the counters and returns their pin for the head; undefined if none changed. */
  saveCounters(): string | undefined;
}

interface RefusedGroup {
  readonly refused: Limit;
  readonly count: number;
}

/** A record behind the head that a crash left, and what it counts. */
export interface RecoveredCounts {
  readonly seq: number;
  readonly counted: readonly Count[];
}

/** The end of the log that the counters must cover. */
interface CountedTail {
  readonly head: Head;
  /** The records before the end of the log that the head on disk does not cover. */
  readonly recovered: readonly RecoveredCounts[];
}

interface CountersOptions {
  readonly files: Files;
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
  readonly #progress: Progress | undefined;
  /** Counters of recovered records, which are saved with the next append. */
  #unsaved = new Map<string, Counter>();

  constructor(directory: string, { files, progress }: CountersOptions) {
    this.#directory = `${directory}/counters`;
    this.#log = `${directory}/log`;
    this.#files = new CounterFiles(this.#directory, files);
    this.#progress = progress;
  }

  /** Reads a counter without the lock and writes nothing. */
  async read(name: string): Promise<Counter> {
    let head: Head | undefined;
    for (let tries = 0; tries < maxReads; tries++) {
      head = readHeadFile(this.#log);
      if (head === undefined) {
        if (listSegments(this.#log).length > 0)
          throw damagedLogError(this.#log, "its head file cannot be read");
        return zeroCounter;
      }
      try {
        if (this.#files.matches(head.counters)) return this.#files.get(name) ?? zeroCounter;
      } catch (error) {
        // Another process has written them meanwhile, or they are damaged.
        if (!(error instanceof DamagedCountersError)) throw error;
      }
    }
    if (head === undefined) return zeroCounter;
    // Through the end of the log: the head itself may be an older copy.
    const segment = Math.max(head.segment, ...listSegments(this.#log));
    const end = { ...head, segment, bytes: Infinity };
    return (await this.#recount(end)).get(name) ?? zeroCounter;
  }

  /**
   * Makes the counters of these groups available to `admit`. Counts again if the files do not match the head. Returns
   * the pin of the files, which the head must get if it has another one.
   */
  async prepare(
    { head, recovered }: CountedTail,
    groups: readonly EntryGroup[],
  ): Promise<string | undefined> {
    this.#unsaved = new Map();
    const counted = recovered.filter((each) => each.counted.length > 0);
    if (counted.length === 0 && groups.every((group) => group.every(hasNoCounters))) return head.counters;
    if (this.#areUsable(head, namesIn(groups, counted))) {
      const unsaved = new Map<string, Counter>();
      for (const name of namesIn([], counted)) unsaved.set(name, this.#files.get(name) ?? zeroCounter);
      for (const { counted: counts, seq } of counted) countEntry(unsaved, counts, seq);
      this.#unsaved = unsaved;
      return head.counters;
    }
    const counters = await this.#recount(head);
    // Those that an earlier version has saved may not cover the recovered records.
    for (const { seq, counted: counts } of counted) {
      const missing = counts.filter((count) => (counters.get(counterName(count))?.seq ?? 0) < seq);
      countEntry(counters, missing, seq);
    }
    return this.#files.replace(counters);
  }

  /** Returns all counters, for the note of a prune. */
  async snapshot(head: Head): Promise<ReadonlyMap<string, Counter>> {
    if (!this.#canRecount(head) && this.#areUsable(head, [])) return new Map(this.#files.entries());
    return await this.#recount(head);
  }

  /** Returns false if an earlier version has pruned records without noting their counters. */
  #canRecount({ pruned }: Head): boolean {
    return pruned !== undefined || (listSegments(this.#log)[0] ?? 1) === 1;
  }

  /** Removes the files of earlier versions, once the head has a pin. */
  removeEarlierFiles(): void {
    removeEarlierCounters(this.#directory, this.#earlierShelf().leaves());
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
        let next = -1;
        return refusals.map((refused, index) => {
          if (refused !== undefined) return refused;
          next += groups[index]?.length ?? 0;
          return linkAt(links, next);
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

  /** Counts all records. Counters of an earlier version are used only where it has pruned records that they count. */
  async #recount(head: Head): Promise<Map<string, Counter>> {
    if (head.counters === undefined && !this.#canRecount(head)) {
      const earlier = this.#readEarlierCounters();
      if (earlier.size > 0) return earlier;
    }
    return (await runInSlices(countLog(this.#log, head, { progress: this.#progress }))).counters;
  }

  #readEarlierCounters(): Map<string, Counter> {
    const shelf = this.#earlierShelf();
    const entries = shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf));
    return new Map(entries.map(({ key, value }) => [key, value as unknown as Counter]));
  }

  #earlierShelf(): ShelfFiles {
    return new ShelfFiles(this.#directory, { files: systemFiles, now: () => 0, durable: false });
  }
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

function linkAt(links: readonly { readonly seq: number; readonly hash: string }[], index: number): Appended {
  const link = links[index];
  if (link === undefined) throw new Error("fewer records were written than were let in");
  return link;
}

export function countsInLine(line: string): readonly Count[] {
  if (!line.includes('"counted":')) return [];
  return (JSON.parse(line) as { counted?: readonly Count[] }).counted ?? [];
}
