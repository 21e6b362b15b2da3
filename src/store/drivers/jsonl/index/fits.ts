import { closeSync, openSync, statSync } from "node:fs";
import { hashAtTail, tailLength } from "../../../../record/chain.js";
import { readAt, systemFiles } from "../files.js";
import { segmentName, segmentsIn } from "../segments.js";
import { Rows, rowLength } from "./rows.js";
import type { CoveredSegment, IndexState } from "./state.js";

/** Whether the log still is what the index was made of, as far as can be seen without reading it. */
export function fits(log: string, { segments, rows, rows_file, last_hash }: IndexState): boolean {
  try {
    const present = segmentsIn(log);
    const newest = segments.at(-1);
    if (newest === undefined || segments.some(({ first }, index) => present[index] !== first)) return false;
    if (statSync(`${log}/index/${rows_file}`).size < rows * rowLength) return false;
    const sealed = segments.slice(0, -1).every((segment) => isUnchanged(log, segment));
    const isSame = sealed && (isUnchanged(log, newest) || hasGrown(log, newest));
    return (
      isSame &&
      tailAt(log, newest) === last_hash &&
      lastRowEnd(`${log}/index/${rows_file}`, rows) === newest.bytes
    );
  } catch {
    return false;
  }
}

function isUnchanged(log: string, { first, bytes, changed_at }: CoveredSegment): boolean {
  const { size, mtimeMs } = statSync(`${log}/${segmentName(first)}`);
  return size === bytes && mtimeMs === changed_at;
}

const hasGrown = (log: string, { first, bytes }: CoveredSegment): boolean =>
  statSync(`${log}/${segmentName(first)}`).size > bytes;

/** Rows that never reached the disk are zeros. */
function lastRowEnd(path: string, rows: number): number {
  const fd = openSync(path, "r");
  try {
    const bytes = readAt(systemFiles, fd, (rows - 1) * rowLength, rowLength);
    const last = new Rows(new Uint8Array(bytes).buffer, 1);
    return last.offset(0) + last.length(0) + 1;
  } finally {
    closeSync(fd);
  }
}

function tailAt(log: string, { first, bytes }: CoveredSegment): string | undefined {
  const fd = openSync(`${log}/${segmentName(first)}`, "r");
  try {
    return hashAtTail(readAt(systemFiles, fd, bytes - tailLength, tailLength));
  } finally {
    closeSync(fd);
  }
}
