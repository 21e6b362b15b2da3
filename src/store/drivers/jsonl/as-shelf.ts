import type { Shelf, ShelfEntry } from "../../../model/store.js";
import { reading } from "./damage.js";
import type { ShelfFiles } from "./shelf-files.js";

/** Does something while nobody else writes. */
type Locked = <T>(work: () => T) => Promise<T>;

/** Files that keep the latest value of each key, changed by one at a time. */
export function asShelf(shelf: ShelfFiles, locked: Locked, where: string): Shelf {
  return {
    get: (key) => Promise.resolve(reading(where, () => shelf.get(key))),
    put: (entries) => (entries.length === 0 ? Promise.resolve() : locked(() => shelf.put(entries))),
    update: (key, change) =>
      locked(() => {
        const before = shelf.get(key);
        const after = change(before);
        if (after !== undefined) shelf.put([after]);
        return after ?? before;
      }),
    remove: (isDoomed) =>
      shelf.leaves().length === 0 ? Promise.resolve(0) : locked(() => shelf.remove(isDoomed)),
    entries: () => entriesOf(shelf, where),
    extent() {
      const size = reading(where, () => shelf.leaves()).reduce((sum, leaf) => sum + shelf.sizeOf(leaf), 0);
      return Promise.resolve({ size, where });
    },
  };
}

// eslint-disable-next-line @typescript-eslint/require-await -- other drivers do wait
async function* entriesOf(shelf: ShelfFiles, where: string): AsyncGenerator<ShelfEntry> {
  for (const leaf of reading(where, () => shelf.leaves())) yield* reading(where, () => shelf.entriesOf(leaf));
}
