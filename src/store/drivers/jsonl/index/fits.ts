import { closeSync, openSync, statSync } from "node:fs";
import { hashAtTail, tailLength } from "../../../../record/chain.js";
import { readAt, systemFiles } from "../files.js";
import { segmentName, segmentsIn } from "../segments.js";
import type { PostingsState } from "./postings.js";
import { entryLength, postingsFile } from "./postings.js";
import { Rows, rowLength } from "./rows.js";
import type { CoveredSegment, IndexState } from "./state.js";

/** A segment as it was found, without having been read. */
export interface FoundSegment {
  readonly first: number;
  readonly bytes: number;
  readonly changedAt: number;
}

export function findSegments(log: string): readonly FoundSegment[] {
  return segmentsIn(log).flatMap((first) => {
    // Pruned since its name was read.
    const found = statSync(`${log}/${segmentName(first)}`, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ first, bytes: found.size, changedAt: found.mtimeMs }];
  });
}

/** Whether the log still is what the index was made of, as far as can be seen without reading it. */
export function fits(log: string, state: IndexState, found: readonly FoundSegment[]): boolean {
  const { segments, rows, rows_file, postings } = state;
  try {
    return (
      isSameLog(log, state, found) &&
      lastRowEnd(`${log}/index/${rows_file}`, rows) === segments.at(-1)?.bytes &&
      hasEntries(`${log}/index/${postingsFile(rows_file)}`, postings, rows)
    );
  } catch {
    return false;
  }
}

/** Whether what was covered of the log is still there, and only the newest segment has grown. */
export function isSameLog(
  log: string,
  { segments, last_hash }: Pick<IndexState, "segments" | "last_hash">,
  found: readonly FoundSegment[],
): boolean {
  const newest = segments.at(-1);
  if (newest === undefined || segments.some(({ first }, index) => found[index]?.first !== first))
    return false;
  const isSame = segments.every(
    (segment, index) =>
      isUnchanged(segment, found[index]) || (segment === newest && hasGrown(segment, found[index])),
  );
  return isSame && tailAt(log, newest) === last_hash;
}

function isUnchanged({ bytes, changed_at }: CoveredSegment, found: FoundSegment | undefined): boolean {
  return found?.bytes === bytes && found.changedAt === changed_at;
}

const hasGrown = ({ bytes }: CoveredSegment, found: FoundSegment | undefined): boolean =>
  found !== undefined && found.bytes > bytes;

/** Rows that never reached the disk are zeros. */
function lastRowEnd(path: string, rows: number): number {
  const fd = openSync(path, "r");
  try {
    const bytes = readAt(systemFiles, fd, (rows - 1) * rowLength, rowLength);
    if (bytes.length < rowLength) return -1;
    const last = new Rows(new Uint32Array(new Uint8Array(bytes).buffer), 1);
    return last.offset(0) + last.length(0) + 1;
  } finally {
    closeSync(fd);
  }
}

/** Entries that never reached the disk are zeros, too. */
function hasEntries(path: string, { entries }: PostingsState, rows: number): boolean {
  if (entries === 0) return true;
  const fd = openSync(path, "r");
  try {
    const bytes = readAt(systemFiles, fd, (entries - 1) * entryLength, entryLength);
    if (bytes.length < entryLength) return false;
    const [row = 0, before = 0, , high] = new Uint32Array(new Uint8Array(bytes).buffer);
    return row < rows && before < entries && high !== 0;
  } finally {
    closeSync(fd);
  }
}

function tailAt(log: string, { first, bytes }: CoveredSegment): string | undefined {
  const fd = openSync(`${log}/${segmentName(first)}`, "r");
  try {
    return tailIn(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

/** The hash of the record that ends there. */
export const tailIn = (fd: number, end: number): string | undefined =>
  hashAtTail(readAt(systemFiles, fd, end - tailLength, tailLength));
