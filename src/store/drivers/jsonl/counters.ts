import type { Appended, Count, Counter, Entry, Limit } from "../../../model/store.js";
import { groupBodies, incrementCounter, isLimitReached, zeroCounter } from "../../../record/counters.js";
import type { ShelfFiles } from "./file-shelf.js";

/** Entries that are appended together or not at all. */
export type EntryGroup = readonly [Entry, ...Entry[]];

/** The groups that their limits admit, and the counters to save once the groups are written. */
export interface Admission {
  readonly bodies: readonly string[];
  /** Returns the outcome of each group, given the links of the admitted entries. */
  outcomes(links: readonly { readonly seq: number; readonly hash: string }[]): readonly Appended[];
  saveCounters(): void;
}

interface RefusedGroup {
  readonly refused: Limit;
  readonly count: number;
}

/** Counters derived from the log and kept on a shelf, so that checking a limit does not read the log. */
export class Counters {
  readonly #shelf: ShelfFiles;

  constructor(shelf: ShelfFiles) {
    this.#shelf = shelf;
  }

  get(counter: string): Counter {
    return (this.#shelf.get(counter)?.value as Counter | undefined) ?? zeroCounter;
  }

  /**
   * Checks limits in order, counting earlier groups of the batch. `first` is the sequence number of the first
   * admitted entry.
   */
  admit(groups: readonly EntryGroup[], first: number): Admission {
    const counters = new Map<string, Counter>();
    const current = (counter: string): Counter => counters.get(counter) ?? this.get(counter);
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
      outcomes(links) {
        let next = -1;
        return refusals.map((refused, index) => {
          if (refused !== undefined) return refused;
          next += groups[index]?.length ?? 0;
          return linkAt(links, next);
        });
      },
      saveCounters: () => this.#set(counters),
    };
  }

  /** Counts a record that was written just before a crash, unless its counters were saved, too. */
  recountAfterCrash(counted: readonly Count[], seq: number): void {
    const counters = new Map<string, Counter>();
    for (const count of counted) {
      const name = counterName(count);
      if (this.get(name).seq < seq)
        counters.set(name, incrementCounter(counters.get(name) ?? this.get(name), count, seq));
    }
    this.#set(counters);
  }

  #set(counters: ReadonlyMap<string, Counter>): void {
    if (counters.size === 0) return;
    this.#shelf.put([...counters].map(([key, value]) => ({ key, value: { ...value } })));
  }
}

const hasNoCounters = ({ counts = [], limits = [] }: Entry): boolean =>
  counts.length === 0 && limits.length === 0;

const counterName = (count: Count): string => (typeof count === "string" ? count : count.counter);

function linkAt(links: readonly { readonly seq: number; readonly hash: string }[], index: number): Appended {
  const link = links[index];
  if (link === undefined) throw new Error("fewer records were written than were let in");
  return link;
}

export function countsInLine(line: string): readonly Count[] {
  if (!line.includes('"counted":')) return [];
  return (JSON.parse(line) as { counted?: readonly Count[] }).counted ?? [];
}
