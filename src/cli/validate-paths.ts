import { realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { buildLibrary } from "../definition/library.js";
import type { FileSummary } from "../definition/definition-file.js";
import { review } from "../definition/review.js";
import { sharedBuckets } from "../definition/shared-buckets.js";
import { DecisionError } from "../errors.js";
import type { Problem } from "../model/problem.js";
import { readSummaries } from "../store/definitions.js";
import { version } from "../version.js";
import type { InFile } from "./check-guardrails.js";
import { checkGuardrails } from "./check-guardrails.js";

export interface Validated {
  /** By file and place. */
  readonly problems: readonly Problem[];
  readonly decisions: number;
  /** How many guardrails could be checked without an input. */
  readonly guardrails: number;
}

/** Reads everything anew, so that what is said is about what stands there now. */
export async function validatePaths(paths: readonly string[]): Promise<Validated> {
  const located: InFile[] = [];
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
  const definitions = new Map(located.map((each) => [placeOf(each), each.located.definition]));
  const library = buildLibrary(summaries, (file, position) => {
    const summary = summaries.find((each) => each.file === file)?.definitions[position];
    const definition = definitions.get(`${file} ${summary?.id ?? ""}`);
    return definition === undefined
      ? Promise.reject(new Error(`\`${file}\` was not read`))
      : Promise.resolve(definition);
  });
  const guarded = await checkGuardrails(located, library);
  const problems = [
    ...library.problems,
    ...located.flatMap((each) => review(each.file, each.located)),
    ...sharedBuckets(located),
    ...guarded.problems,
  ];
  return {
    problems: problems.sort(byPlace),
    decisions: located.length,
    guardrails: guarded.checked,
  };
}

const placeOf = ({ file, located }: InFile): string => `${file} ${located.summary.id}`;

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
