import { realpathSync, statSync } from "node:fs";
import type { FileSummary } from "../definition/definition-file.js";
import { declaredTargets } from "../definition/declared-targets.js";
import type { PlacedEndpoint } from "../definition/declared-endpoints.js";
import { declaredEndpoints } from "../definition/declared-endpoints.js";
import { review } from "../definition/review.js";
import { reviewEndpoints } from "../definition/review-endpoints.js";
import { reviewTargets } from "../definition/review-targets.js";
import { sharedBuckets } from "../definition/shared-buckets.js";
import { DecisionError } from "../errors.js";
import type { Problem } from "../model/problem.js";
import { checkApprovals } from "./check-approvals.js";
import { checkGuardrails } from "./check-guardrails.js";
import type { InFile, ReadAnew } from "./located-library.js";
import { locatedLibrary, readAnew } from "./located-library.js";
import type { ApprovalSettings } from "./settings.js";

export interface Validated {
  /** By file and place. */
  readonly problems: readonly Problem[];
  readonly decisions: number;
  /** Whether nothing at all is declared there. */
  readonly isEmpty: boolean;
  /** How many guardrails could be checked without an input. */
  readonly guardrails: number;
}

/** Reads everything anew, so that what is said is about what stands there now; locks too, in directories. */
export async function validatePaths(
  paths: readonly string[],
  approval: ApprovalSettings = { required: false, trustedKeys: () => [] },
): Promise<Validated> {
  const read: ReadAnew[] = [];
  const approvals: Problem[] = [];
  for (const path of withoutRepeats(paths)) {
    const isFolder = isDirectory(path);
    const anew = await readAnew(path, isFolder);
    read.push(anew);
    if (isFolder) approvals.push(...(await checkApprovals(path, locatedLibrary(anew), approval)));
  }
  const located = read.flatMap((each) => each.located);
  const summaries = read.flatMap((each) => each.summaries);
  const isPart = read.some((each) => each.isPart);
  const library = locatedLibrary({ summaries, located, isPart });
  const guarded = await checkGuardrails(located, library);
  const problems = [
    ...library.problems,
    ...located.flatMap((each) => review(each.file, each.located)),
    ...sharedBuckets(located),
    ...reviewTargets(declaredTargets(summaries) ?? [], located),
    ...(await endpointProblems(declaredEndpoints(summaries), located, isPart)),
    ...guarded.problems,
    ...approvals,
  ];
  return {
    problems: problems.sort(byPlace),
    decisions: located.length,
    guardrails: guarded.checked,
    isEmpty: summaries.every(isEmpty),
  };
}

async function endpointProblems(
  declared: readonly PlacedEndpoint[],
  located: readonly InFile[],
  isPart: boolean,
): Promise<readonly Problem[]> {
  if (declared.length === 0) return [];
  const { addressFault: lookAtAddress } = await import("../enrichment/address.js");
  return reviewEndpoints(declared, located, { lookAtAddress, isPart });
}

const isEmpty = ({ definitions, guardrails, targets, endpoints, problems }: FileSummary): boolean =>
  definitions.length === 0 &&
  [guardrails, targets, endpoints].every((each) => each === undefined) &&
  problems.length === 0;

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

/** The lock of a directory is about all of it, so a file by itself cannot be told to be approved. */
export function refuseFiles(paths: readonly string[]): void {
  const file = paths.find((path) => !isDirectory(path));
  if (file === undefined) return;
  throw new DecisionError("usage", `whether \`${file}\` is approved cannot be told by itself`, {
    hint: "with --require-approval, name the directory that its lock is in",
  });
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
