import type { Problem } from "../model/problem.js";
import { didYouMean } from "../nearest.js";
import { factsOf } from "./declared-targets.js";
import type { PlacedTarget } from "./declared-targets.js";
import type { Position } from "./yaml-source.js";
import { wayText, waysRound } from "./ways-round.js";

/** What is wrong with declared targets, and whom it keeps from being led to. */
export interface TargetFault {
  readonly problem: Problem;
  readonly targets: readonly string[];
}

/** Looking for the nearest word takes its time; after so many the pattern is clear. */
export const mostSuggestions = 20;

/** Targets that cannot be as they are declared; without `known`, what is not declared may still be there. */
export function targetFaults(
  declared: readonly PlacedTarget[],
  known: ReadonlySet<string> | undefined,
): readonly TargetFault[] {
  return [
    ...contradictions(declared),
    ...(known === undefined ? [] : unknownDependencies(declared, known)),
    ...dependencyCircles(declared),
  ];
}

function contradictions(declared: readonly PlacedTarget[]): readonly TargetFault[] {
  const first = new Map<string, PlacedTarget>();
  return declared.flatMap((each) => {
    const { id } = each.target;
    const other = first.get(id);
    if (other === undefined) first.set(id, each);
    if (other === undefined || factsOf(other.target) === factsOf(each.target)) return [];
    const message = `the target \`${id}\` is declared differently in ${other.file}:${other.line}`;
    return [fault(each, each, { message, hint: "declare it once", targets: [id] })];
  });
}

function unknownDependencies(
  declared: readonly PlacedTarget[],
  known: ReadonlySet<string>,
): readonly TargetFault[] {
  const unknown = declared.flatMap((each) =>
    each.dependencies.filter(({ target }) => !known.has(target)).map((place) => ({ each, place })),
  );
  return unknown.map(({ each, place }, index) => {
    const { id } = each.target;
    const message = `\`${id}\` depends on \`${place.target}\`, which is not declared under \`targets\``;
    const meant = index < mostSuggestions ? didYouMean(place.target, known) : undefined;
    return fault(each, place, { message, hint: meant ?? "add it under `targets:`", targets: [id] });
  });
}

function dependencyCircles(declared: readonly PlacedTarget[]): readonly TargetFault[] {
  const byId = new Map(declared.map((each) => [each.target.id, each]));
  const leads = new Map([...byId].map(([id, { target }]) => [id, target.depends_on ?? []]));
  return waysRound(leads).flatMap((way) => {
    const [id = "", next = ""] = way;
    const each = byId.get(id);
    const place = each?.dependencies.find(({ target }) => target === next);
    if (each === undefined || place === undefined) return [];
    const round = way.length > 2 ? `: ${wayText(way)}` : "";
    return [fault(each, place, { message: `\`${id}\` depends on itself${round}`, targets: way })];
  });
}

function fault(
  { file }: PlacedTarget,
  { line, column }: Position,
  { targets, ...said }: Pick<Problem, "message" | "hint"> & Pick<TargetFault, "targets">,
): TargetFault {
  return { problem: { file, line, column, severity: "error", ...said }, targets };
}
