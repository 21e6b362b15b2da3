import { closeSync, statSync } from "node:fs";
import type { PagesState } from "./paged-file.js";
import type { PostingsState } from "./postings.js";
import { readSealedJson, writeSealedJson } from "./sealed-json.js";
import type { ShapesState } from "./shapes.js";
import { parseTailHash, tailLength } from "../../../../record/chain.js";
import { readAt, systemFiles } from "../files.js";
import { segmentName, listSegments } from "../segments.js";
import { openRegularFile } from "../../../regular-file.js";

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

/** Returns true if the log still looks like the one that was indexed. */
export function matchesLog(log: string, state: IndexState, found: readonly SegmentStats[]): boolean {
  try {
    return coversSameLog(log, state, found);
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

function readHashAt(log: string, { first, bytes }: CoveredSegment): string | undefined {
  const fd = openRegularFile(`${log}/${segmentName(first)}`, "r");
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
const indexFormat = 6;

/** What the saved index covers. It is used only while the log matches it. */
export interface IndexState extends ShapesState {
  /** The name of the file of rows. */
  readonly rows_file: string;
  readonly rows: PagesState;
  /** The sequence number of the first row. */
  readonly first: number;
  readonly segments: readonly CoveredSegment[];
  readonly last_hash: string;
  /** True if the sequence numbers of the lines are not consecutive. */
  readonly gaps: boolean;
  /** True if a line does not match its hash, or does not follow the line before. */
  readonly changed: boolean;
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
  const kept = readSealedJson(`${directory}/state.json`) as
    (IndexState & { readonly format: number }) | undefined;
  return kept?.format === indexFormat ? kept : undefined;
}

export function writeIndexState(directory: string, state: IndexState): void {
  writeSealedJson(`${directory}/state.json`, { format: indexFormat, ...state });
}
