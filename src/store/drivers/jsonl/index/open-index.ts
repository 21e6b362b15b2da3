import { dirname } from "node:path";
import { isMissing } from "../files.js";
import { isTouched } from "../touched.js";
import { verifyStore } from "../verify.js";
import type { FoundSegment } from "./fits.js";
import { findSegments, fits } from "./fits.js";
import type { Progress } from "./log-index.js";
import { LogIndex } from "./log-index.js";
import { saveIndex } from "./save-index.js";
import type { IndexState } from "./state.js";
import { readState } from "./state.js";

export interface OpenOptions {
  readonly progress?: Progress | undefined;
  /** So many new rows are worth being kept. */
  readonly keepFrom?: number;
}

const mostTries = 5;

/** The index of a log as it is at this moment. */
export function openIndex(log: string, options: OpenOptions = {}): LogIndex {
  for (let tries = 1; ; tries++) {
    try {
      return openNow(log, options);
    } catch (error) {
      // A segment may be pruned while it is read.
      if (!isMissing(error) || tries === mostTries) throw error;
    }
  }
}

function openNow(log: string, { progress, keepFrom = 1 }: OpenOptions): LogIndex {
  const { index, found } = openKept(log) ?? makeAnew(log, progress);
  index.catchUp(log, found, progress);
  saveIndex(index, keepFrom);
  return index;
}

/** An index, and the log as it was found when that was seen to fit. */
interface Fitting {
  readonly index: LogIndex;
  readonly found: readonly FoundSegment[];
}

/** Going through the lines does not check them; that is only worth its time where somebody has touched them. */
function makeAnew(log: string, progress?: Progress): Fitting {
  const index = new LogIndex(directoryOf(log), undefined);
  if (isTouched(log)) index.damage = verifyStore(dirname(log), { progress }).problems[0]?.message;
  return { index, found: findSegments(log) };
}

const directoryOf = (log: string): string => `${log}/index`;

/** Undefined where there is none that fits. What is kept may be replaced while we look; then we look again. */
function openKept(log: string): Fitting | undefined {
  let state = readState(directoryOf(log));
  for (let tries = 0; tries < mostTries && state !== undefined; tries++) {
    // Found after the state was read: a log is ahead of what is kept of it, never behind.
    const found = findSegments(log);
    const index = fits(log, state, found) ? openAs(log, state) : undefined;
    if (index !== undefined) return { index, found };
    const before = state;
    state = readState(directoryOf(log));
    if (state?.rows_file === before.rows_file && state.rows === before.rows) return undefined;
  }
  return undefined;
}

function openAs(log: string, state: IndexState): LogIndex | undefined {
  try {
    return new LogIndex(directoryOf(log), state);
  } catch {
    return undefined;
  }
}
