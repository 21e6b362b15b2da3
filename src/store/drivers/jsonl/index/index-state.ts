import { closeSync, openSync, statSync } from "node:fs";
import type { PostingsState } from "./postings.js";
import { entryLength, postingsFileName } from "./postings.js";
import { Rows, rowLength } from "./rows.js";
import type { ShapesState } from "./shapes.js";
import { parseTailHash, tailLength } from "../../../../record/chain.js";
import { readCheckedJson, writeCheckedJson } from "../../../files.js";
import { readAt, systemFiles } from "../files.js";
import { segmentName, listSegments } from "../segments.js";

/** The size and modification time of a segment. */
export interface SegmentStats {
  readonly first: number;
  readonly bytes: number;
  readonly changedAt: number;
}

export function statSegments(log: string): readonly SegmentStats[] {
  return listSegments(log).flatMap((first) => {
    // Undefined if the segment was pruned since the directory was listed.
    const stats = statSync(`${log}/${segmentName(first)}`, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ first, bytes: stats.size, changedAt: stats.mtimeMs }];
  });
}

/**
 * Returns true if the log still looks like the one that was indexed and the files of the index are complete. Reads
 * only their ends.
 */
export function matchesLog(log: string, state: IndexState, found: readonly SegmentStats[]): boolean {
  const { segments, rows, rows_file, postings } = state;
  try {
    return (
      coversSameLog(log, state, found) &&
      readLastRowEnd(`${log}/index/${rows_file}`, rows) === segments.at(-1)?.bytes &&
      hasLastEntry(`${log}/index/${postingsFileName(rows_file)}`, postings, rows)
    );
  } catch {
    return false;
  }
}

/** Returns true if the covered part of the log is unchanged: only the newest segment may have grown. */
export function coversSameLog(
  log: string,
  { segments, last_hash }: Pick<IndexState, "segments" | "last_hash">,
  found: readonly SegmentStats[],
): boolean {
  const newest = segments.at(-1);
  if (newest === undefined || segments.some(({ first }, index) => found[index]?.first !== first))
    return false;
  const isSame = segments.every(
    (segment, index) =>
      isSegmentUnchanged(segment, found[index]) ||
      (segment === newest && hasSegmentGrown(segment, found[index])),
  );
  return isSame && readHashAt(log, newest) === last_hash;
}

function isSegmentUnchanged({ bytes, changed_at }: CoveredSegment, found: SegmentStats | undefined): boolean {
  return found?.bytes === bytes && found.changedAt === changed_at;
}

const hasSegmentGrown = ({ bytes }: CoveredSegment, found: SegmentStats | undefined): boolean =>
  found !== undefined && found.bytes > bytes;

/** Returns the end of the line of the last row. Rows that did not reach the disk are zeros, which do not match. */
function readLastRowEnd(path: string, rows: number): number {
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

/** Returns true if the last entry is plausible. Entries that did not reach the disk are zeros. */
function hasLastEntry(path: string, { entries }: PostingsState, rows: number): boolean {
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

function readHashAt(log: string, { first, bytes }: CoveredSegment): string | undefined {
  const fd = openSync(`${log}/${segmentName(first)}`, "r");
  try {
    return hashEndingAt(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

/** Returns the hash of the record that ends at an offset. */
export const hashEndingAt = (fd: number, end: number): string | undefined =>
  parseTailHash(readAt(systemFiles, fd, end - tailLength, tailLength));

/** Increase it when the format of the index changes; an index of another format is rebuilt. */
const indexFormat = 4;

/** What the saved index covers. It is used only while the log matches it. */
export interface IndexState extends ShapesState {
  /** The name of the file of rows. */
  readonly rows_file: string;
  readonly rows: number;
  /** The sequence number of the first row. */
  readonly first: number;
  readonly segments: readonly CoveredSegment[];
  readonly last_hash: string;
  /** True if the sequence numbers of the lines are not consecutive. */
  readonly gaps: boolean;
  /** The problem that a verification found when the index was built. */
  readonly damage?: string;
  readonly postings: PostingsState;
}

export interface CoveredSegment {
  readonly first: number;
  /** The number of its first row. */
  readonly rows_from: number;
  readonly bytes: number;
  /** The modification time; compared for segments that are complete. */
  readonly changed_at: number;
}

export function readIndexState(directory: string): IndexState | undefined {
  const kept = readCheckedJson(`${directory}/state.json`) as
    (IndexState & { readonly format: number }) | undefined;
  return kept?.format === indexFormat ? kept : undefined;
}

export function writeIndexState(directory: string, state: IndexState): void {
  writeCheckedJson(`${directory}/state.json`, { format: indexFormat, ...state });
}
