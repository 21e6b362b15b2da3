import { closeSync, fstatSync, statSync, utimesSync } from "node:fs";
import { openExisting, systemFiles } from "./files.js";
import { readHead } from "./head.js";
import { segmentName, segmentsIn } from "./segments.js";

/**
 * Whether a segment was changed after the head was: the head follows every append, so it was not by us. One
 * that has become longer, or was not waited for, is for recovery to judge.
 */
export function isTouched(log: string): boolean {
  const fd = openExisting(systemFiles, `${log}/head`, "r");
  if (fd === undefined) return false;
  try {
    const head = readHead(systemFiles, fd);
    if (head === undefined || head.synced !== undefined) return false;
    const { mtimeMs } = fstatSync(fd);
    return segmentsIn(log).some((first) => {
      if (first > head.segment) return false;
      const found = statSync(`${log}/${segmentName(first)}`, { throwIfNoEntry: false });
      if (found === undefined || found.mtimeMs <= mtimeMs) return false;
      return first < head.segment || found.size === head.bytes;
    });
  } finally {
    closeSync(fd);
  }
}

/** After an append that failed and was taken back, which has touched the segment and not the head. */
export function untouch(log: string): void {
  const soon = (Date.now() + 10) / 1000;
  try {
    utimesSync(`${log}/head`, soon, soon);
  } catch {
    // The next one to write reads the log once more than it need.
  }
}
