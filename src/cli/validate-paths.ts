import { realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { declaredTargets } from "../definition/declared-targets.js";
import { buildLibrary } from "../definition/library.js";
import type { FileSummary } from "../definition/definition-file.js";
import type { LocatedDefinition } from "../definition/read-definitions.js";
import { review } from "../definition/review.js";
import { reviewTargets } from "../definition/review-targets.js";
import { sharedBuckets } from "../definition/shared-buckets.js";
import { DecisionError } from "../errors.js";
import type { Problem } from "../model/problem.js";
import { readSummaries } from "../store/definitions.js";
import { version } from "../version.js";

export interface Validated {
  /** By file and place. */
  readonly problems: readonly Problem[];
  readonly decisions: number;
}

/** Reads everything anew, so that what is said is about what stands there now. */
export async function validatePaths(paths: readonly string[]): Promise<Validated> {
  const located: { readonly file: string; readonly located: LocatedDefinition }[] = [];
  const summaries: FileSummary[] = [];
  for (const path of withoutRepeats(paths)) {
    const only = isDirectory(path) ? undefined : basename(path);
    const found = await readSummaries({
      directory: only === undefined ? path : dirname(path),
      only,
      cacheHome: undefined,
      version,
      inspect: (file, definition) => located.push({ file, located: definition }),
    });
    summaries.push(...found);
  }
  const library = buildLibrary(summaries, () => Promise.reject(new Error("only summaries are needed here")));
  const problems = [
    ...library.problems,
    ...located.flatMap((each) => review(each.file, each.located)),
    ...sharedBuckets(located),
    ...reviewTargets(declaredTargets(summaries) ?? [], located),
  ];
  return { problems: problems.sort(byPlace), decisions: located.length };
}

/** A file or directory that is named twice is still one. */
function withoutRepeats(paths: readonly string[]): readonly string[] {
  const real = new Map(paths.map((path) => [attemptRealPath(path), path]));
  const inside = (path: string): boolean =>
    [...real.keys()].some((other) => path !== other && path.startsWith(`${other}/`));
  return [...real].filter(([path]) => !inside(path)).map(([, path]) => path);
}

function attemptRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what =
      code === "ENOENT" ? `there is no file or directory \`${path}\`` : `cannot read \`${path}\`: ${message}`;
    throw new DecisionError("usage", what, { cause: error });
  }
}

function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
