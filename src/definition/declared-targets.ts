import type { Target } from "../model/definition.js";
import type { DeclaredTarget, FileSummary } from "./definition-file.js";
import type { SourceDocument } from "./yaml-source.js";

/** A target as it is written: its id alone, or with what is known about it. */
export type WrittenTarget = string | Target;

/** Adds what the `targets` of a document declare, by their facts: what says the same once more is left out. */
export function addTargets(
  declared: Map<string, DeclaredTarget>,
  source: SourceDocument,
  written: readonly WrittenTarget[],
): void {
  for (const [index, each] of written.entries()) {
    const target = typeof each === "string" ? { id: each } : each;
    const facts = factsOf(target);
    if (declared.has(facts)) continue;
    const dependencies = (target.depends_on ?? []).map((name, at) => ({
      target: name,
      ...source.locate(["targets", index, "depends_on", at]),
    }));
    const path = typeof each === "string" ? ["targets", index] : ["targets", index, "id"];
    declared.set(facts, { target, ...source.locate(path), dependencies });
  }
}

/** All that is said about a target; an absent fact is the same as its default. */
export function factsOf({ id, kind, depends_on = [], disabled = false }: Target): string {
  return JSON.stringify([id, kind, depends_on.toSorted(), disabled]);
}

/** A declared target of a directory. */
export interface PlacedTarget extends DeclaredTarget {
  readonly file: string;
}

/** Undefined where no file declares any. */
export function declaredTargets(files: readonly FileSummary[]): readonly PlacedTarget[] | undefined {
  if (!files.some(({ targets }) => targets !== undefined)) return undefined;
  return files.flatMap(({ file, targets = [] }) => targets.map((each) => ({ ...each, file })));
}
