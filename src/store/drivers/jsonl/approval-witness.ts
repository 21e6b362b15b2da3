import type { ShelfFiles } from "./file-shelf.js";
import { readIfExists } from "./files.js";
import { parseHead } from "./head.js";
import { DecisionError } from "../../../errors.js";
import type { Shelf } from "../../../model/store.js";

/** Adds up the serial numbers of all approval locks that were seen. They only increase. */
export function sumOfSerials(shelf: ShelfFiles): number {
  const entries = shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf));
  return entries.reduce((sum, { value }) => {
    const { serial } = (value ?? {}) as { readonly serial?: unknown };
    return sum + (typeof serial === "number" ? serial : 0);
  }, 0);
}

interface Witness {
  /** Remembers the content of the shelf after a change. */
  readonly remember: () => Promise<void>;
  /** Throws if the shelf has forgotten something. */
  readonly check: () => void;
}

/** A shelf whose content is remembered elsewhere, so that a removed or older copy is not used. */
export function witnessedShelf(shelf: Shelf, { remember, check }: Witness): Shelf {
  return {
    ...shelf,
    async get(key) {
      check();
      return await shelf.get(key);
    },
    async put(entries) {
      await shelf.put(entries);
      await remember();
    },
    async update(key, change) {
      check();
      const entry = await shelf.update(key, change);
      await remember();
      return entry;
    },
  };
}

/** Throws if the head names more approval locks, or newer ones, than the shelf has. */
export function assertNoneForgotten(directory: string, shelf: ShelfFiles): void {
  const bytes = readIfExists(`${directory}/log/head`);
  const { approvals = 0 } = (bytes && parseHead(bytes)) ?? {};
  if (sumOfSerials(shelf) >= approvals) return;
  throw new DecisionError("store_failed", forgottenMessage, {
    hint: `restore \`${directory}/approvals\` from a backup; without it, an older approval lock could be used`,
  });
}

export const forgottenMessage = "approval locks that were seen are missing or older than before";
