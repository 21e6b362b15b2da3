import type { ShelfFiles } from "./file-shelf.js";
import { readIfExists, systemFiles } from "./files.js";
import { readHeadFile } from "./head.js";
import { notesPastHead } from "./recover-tail.js";
import { listSegments, segmentName } from "./segments.js";
import { damagedLogError } from "./store-errors.js";
import { DecisionError } from "../../../errors.js";
import type { NoteRecord } from "../../../model/record.js";
import type { Shelf } from "../../../model/store.js";
import { approvalsInNote, findNotes } from "../../../record/notes.js";

/** Returns the serial number of each approval lock that was seen, by the id of the lock. They only increase. */
export function serialsIn(shelf: ShelfFiles): ReadonlyMap<string, number> {
  const entries = shelf.leaves().flatMap((leaf) => shelf.entriesOf(leaf));
  return new Map(
    entries.map(({ key, value }) => {
      const { serial } = (value ?? {}) as { readonly serial?: unknown };
      return [key, typeof serial === "number" ? serial : 0];
    }),
  );
}

export const sumOfSerials = (serials: ReadonlyMap<string, number>): number =>
  [...serials.values()].reduce((sum, serial) => sum + serial, 0);

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

/** Throws if the log names more approval locks, or newer ones, than the shelf has. */
export function assertNoneForgotten(directory: string, shelf: ShelfFiles): void {
  // The log first: a writer changes the shelf before the log, so a shelf that is read later is never behind it.
  const seen = approvalsSeen(`${directory}/log`);
  if (sumOfSerials(serialsIn(shelf)) >= seen) return;
  throw new DecisionError("store_failed", forgottenMessage, {
    hint: `restore \`${directory}/approvals\` from a backup; without it, an older approval lock could be used`,
  });
}

/** Returns the sum that the head has or, if the log is longer than its head, the newest note. */
function approvalsSeen(log: string): number {
  const head = readHeadFile(log);
  if (head === undefined) {
    if (listSegments(log).length === 0) return 0;
    throw damagedLogError(log, "its head file cannot be read");
  }
  const notes = head.unsealed === true ? approvalNotes(log) : notesPastHead(systemFiles, log, head);
  return Math.max(head.approvals ?? 0, ...notes.map(approvalsInNote));
}

/** Searches the whole log: the head may have been replaced by one in the format of an earlier version. */
function approvalNotes(log: string): readonly NoteRecord[] {
  return listSegments(log).flatMap((first) => {
    const bytes = readIfExists(`${log}/${segmentName(first)}`) ?? Buffer.alloc(0);
    return [...findNotes(bytes, "approvals_seen"), ...findNotes(bytes, "pruned")];
  });
}

export const forgottenMessage = "approval locks that were seen are missing or older than before";
