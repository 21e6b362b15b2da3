import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { makeDirectory } from "../../make-directory.js";
import { damaged } from "./damage.js";
import { readMaybe } from "./files.js";
import { segmentName, segmentsIn } from "./segments.js";
import { isTouched } from "./touched.js";

const markIn = (directory: string): string => `${directory}/log/index/damaged`;

/** Remembers for those who write what somebody who read the whole log has found. Does nothing where it cannot. */
export function markDamage(directory: string, problem: string | undefined): void {
  try {
    if (problem === undefined) rmSync(markIn(directory), { force: true });
    else if (existsSync(`${directory}/log`)) {
      makeDirectory(`${directory}/log/index`, 0o700);
      writeFileSync(markIn(directory), `${problem}\n`, { mode: 0o600 });
    }
  } catch {
    return;
  }
}

/** Nothing is added to a log that was found damaged, or that somebody has touched, before all of it was read. */
export function refuseDamage(directory: string, firstProblem: () => string | undefined): void {
  const isMarked = existsSync(markIn(directory));
  if (!isMarked && !isTouched(`${directory}/log`)) return;
  const problem = firstProblem();
  if (problem !== undefined) {
    markDamage(directory, problem);
    throw damaged(`${directory}/log`, problem);
  }
  if (isMarked) markDamage(directory, undefined);
}

/** Takes the word of whoever has read the whole log, unless something was changed since. */
export function refuseMarked(directory: string): void {
  const mark = readMaybe(markIn(directory));
  if (mark === undefined || isChangedSince(directory, statSync(markIn(directory)).mtimeMs)) return;
  throw damaged(`${directory}/log`, mark.toString().trim());
}

/** Also what has its old times again: nobody can set when that was done. */
function isChangedSince(directory: string, moment: number): boolean {
  const names = ["head", ...segmentsIn(`${directory}/log`).map(segmentName)];
  return names.some((name) => {
    const found = statSync(`${directory}/log/${name}`, { throwIfNoEntry: false });
    return found === undefined || found.ctimeMs > moment;
  });
}
