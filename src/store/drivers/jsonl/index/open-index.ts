import { dirname } from "node:path";
import { isMissing } from "../files.js";
import { isTouched } from "../touched.js";
import { verifyStore } from "../verify.js";
import type { FoundSegment } from "./fits.js";
import { findSegments, fits } from "./fits.js";
import type { Progress } from "./log-index.js";
import { LogIndex } from "./log-index.js";
import { readState } from "./state.js";

/** The index of a log as it is at this moment. */
export function openIndex(log: string, progress?: Progress): LogIndex {
  const directory = `${log}/index`;
  const found = findSegments(log);
  const index = openKept(log, directory, found) ?? makeAnew(log, directory, progress);
  index.catchUp(log, found, progress);
  index.save();
  return index;
}

/** Going through the lines does not check them; that is only worth its time where somebody has touched them. */
function makeAnew(log: string, directory: string, progress?: Progress): LogIndex {
  const index = new LogIndex(directory, undefined);
  if (isTouched(log)) index.damage = verifyStore(dirname(log), { progress }).problems[0]?.message;
  return index;
}

/** Undefined where there is none that fits, or where it is replaced while we look. */
function openKept(log: string, directory: string, found: readonly FoundSegment[]): LogIndex | undefined {
  const state = readState(directory);
  try {
    return state !== undefined && fits(log, state, found) ? new LogIndex(directory, state) : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
