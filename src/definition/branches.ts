import type { Definition } from "../model/definition.js";
import { isRouting } from "./decision-types.js";
import { casesOf } from "./expressions.js";
import { escalationOf } from "./guardrail-faults.js";
import { defaultLabel, labelsOf } from "./labels.js";
import type { Path } from "./yaml-source.js";

/** One way out of a decision, with where its target is written in the definition. */
export interface Branch {
  readonly label: string;
  readonly target: string;
  readonly path: Path;
}

/** Where it may lead: its branches, and where its guardrails escalate to. */
export function branchesOf(definition: Definition): readonly Branch[] {
  return [...writtenBranches(definition), ...escalationsOf(definition)];
}

/** A policy or a gate leads nowhere; what it escalates to is somebody, not a target. */
function escalationsOf(definition: Definition): readonly Branch[] {
  if (!isRouting(definition) && definition.type !== "scored") return [];
  return (definition.guardrails ?? []).flatMap((guardrail, index) => {
    const target = guardrail.on_fail === "escalate" ? escalationOf(guardrail) : undefined;
    const key = guardrail.escalate_to === undefined ? "approval_target" : "escalate_to";
    const label = `escalated (${guardrail.type})`;
    return target === undefined ? [] : [{ label, target, path: ["guardrails", index, key] }];
  });
}

function writtenBranches(definition: Definition): readonly Branch[] {
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
