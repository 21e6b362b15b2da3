import type { Appended, Entry, Limit } from "../../../model/store.js";
import type { ShelfFiles } from "./shelf-files.js";

/** Which entries their limits let in, and what is to be counted once they are written. */
export interface Admission {
  readonly bodies: readonly string[];
  /** What became of each entry, given the links of those that were let in. */
  outcomes(links: readonly { readonly seq: number; readonly hash: string }[]): readonly Appended[];
  count(seq: number): void;
}

interface Counted {
  readonly count: number;
  /** The last record that it counts. */
  readonly seq: number;
}

interface Refused {
  readonly refused: Limit;
  readonly count: number;
}

/** How often something happened, as the log says; kept beside it so that nobody has to read it all. */
export class Counters {
  readonly #shelf: ShelfFiles;

  constructor(shelf: ShelfFiles) {
    this.#shelf = shelf;
  }

  get(counter: string): Counted {
    return (this.#shelf.get(counter)?.value as Counted | undefined) ?? { count: 0, seq: 0 };
  }

  admit(entries: readonly Entry[]): Admission {
    const counts = new Map<string, number>();
    const current = (counter: string): number => counts.get(counter) ?? this.get(counter).count;
    const refusals = entries.map(({ counts: counted = [], limits = [] }): Refused | undefined => {
      const refused = limits.find(({ counter, most }) => current(counter) >= most);
      if (refused !== undefined) return { refused, count: current(refused.counter) };
      for (const counter of counted) counts.set(counter, current(counter) + 1);
      return undefined;
    });
    return {
      bodies: entries.filter((_, index) => refusals[index] === undefined).map(bodyOf),
      outcomes(links) {
        let next = 0;
        return refusals.map((refused) => refused ?? linkAt(links, next++));
      },
      count: (seq) => this.#set(counts, seq),
    };
  }

  /** Counts a record that was written just before a crash, unless it was counted too. */
  recount(counted: readonly string[], seq: number): void {
    const counts = new Map<string, number>();
    for (const counter of counted) {
      const known = this.get(counter);
      if (known.seq < seq) counts.set(counter, (counts.get(counter) ?? known.count) + 1);
    }
    this.#set(counts, seq);
  }

  #set(counts: ReadonlyMap<string, number>, seq: number): void {
    if (counts.size === 0) return;
    const entries = [...counts].map(([key, count]) => ({ key, value: { count, seq } }));
    this.#shelf.put(entries);
  }
}

function linkAt(links: readonly { readonly seq: number; readonly hash: string }[], index: number): Appended {
  const link = links[index];
  if (link === undefined) throw new Error("fewer records were written than were let in");
  return link;
}

/** What an entry counts stands in its record, so that the counters can be worked out from the log. */
function bodyOf({ body, counts = [] }: Entry): string {
  return counts.length === 0 ? body : `${body},"counted":${JSON.stringify(counts)}`;
}

export function countedIn(line: string): readonly string[] {
  if (!line.includes('"counted":')) return [];
  return (JSON.parse(line) as { counted?: readonly string[] }).counted ?? [];
}
