import type { Definition } from "../model/definition.js";
import { isRouting } from "./decision-types.js";
import { casesOf } from "./expressions.js";
import { defaultLabel, labelsOf } from "./labels.js";
import type { Path } from "./yaml-source.js";

/** One way out of a decision, with where its target is written in the definition. */
export interface Branch {
  readonly label: string;
  readonly target: string;
  readonly path: Path;
}

export function branchesOf(definition: Definition): readonly Branch[] {
  if (definition.type === "scored") {
    return Object.entries(definition.targets ?? {}).map(([label, target]) => ({
      label,
      target,
      path: ["targets", label],
    }));
  }
  if (!isRouting(definition)) return [];
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  const branches = cases.map(({ path, each: { target } }, index) => ({
    label: labels[index] ?? target,
    target,
    path: [...path, "target"],
  }));
  return [
    ...branches,
    { label: defaultLabel, target: definition.default.target, path: ["default", "target"] },
  ];
}
