import { existsSync, rmSync, writeFileSync } from "node:fs";
import { makeDirectory } from "../../make-directory.js";
import { damaged } from "./damage.js";
import { readMaybe } from "./files.js";
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

/** Takes the word of whoever has read the whole log; a mark that is out of date goes with the next that is added. */
export function refuseMarked(directory: string): void {
  const mark = readMaybe(markIn(directory));
  if (mark !== undefined) throw damaged(`${directory}/log`, mark.toString().trim());
}
