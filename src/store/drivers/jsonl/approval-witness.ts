import type { ShelfFiles } from "./file-shelf.js";
import type { Shelf } from "../../../model/store.js";

/** Adds up the serial numbers of all approval locks that were seen. They only increase. */
export function sumOfSerials(shelf: ShelfFiles): number {
  const entries = shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf));
  return entries.reduce((sum, { value }) => {
    const { serial } = (value ?? {}) as { readonly serial?: unknown };
    return sum + (typeof serial === "number" ? serial : 0);
  }, 0);
}

/** Calls `witness` after every change of a shelf, so that its content is remembered elsewhere. */
export function witnessedShelf(shelf: Shelf, witness: () => Promise<void>): Shelf {
  return {
    ...shelf,
    async put(entries) {
      await shelf.put(entries);
      await witness();
    },
    async update(key, change) {
      const entry = await shelf.update(key, change);
      await witness();
      return entry;
    },
  };
}
