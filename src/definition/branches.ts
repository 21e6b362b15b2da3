import { isRouting } from "./decision-types.js";
import { casesOf } from "./expressions.js";
import { escalationTarget } from "./checks/check-guardrails.js";
import { possibleDecisions } from "./checks/check-scored.js";
import type { Path } from "./yaml-source.js";
import type { Definition, Case } from "../model/definition.js";

/** One way out of a decision, with where its target is written in the definition. */
interface Branch {
  readonly label: string;
  readonly target: string;
  readonly path: Path;
}

/** Where it may lead: its branches, and where its guardrails escalate to. */
export function branchesOf(definition: Definition): readonly Branch[] {
  return [...declaredBranches(definition), ...escalationBranches(definition)];
}

/** A policy or a gate leads nowhere; what it escalates to is somebody, not a target. */
function escalationBranches(definition: Definition): readonly Branch[] {
  if (!isRouting(definition) && definition.type !== "scored") return [];
  return (definition.guardrails ?? []).flatMap((guardrail, index) => {
    const target = guardrail.on_fail === "escalate" ? escalationTarget(guardrail) : undefined;
    const key = guardrail.escalate_to === undefined ? "approval_target" : "escalate_to";
    const label = `escalated (${guardrail.type})`;
    return target === undefined ? [] : [{ label, target, path: ["guardrails", index, key] }];
  });
}

function declaredBranches(definition: Definition): readonly Branch[] {
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

/** Each case's label; a missing one is its target, numbered from the second on so that labels stay distinct. */
export function labelsOf(cases: readonly Case[]): readonly string[] {
  const taken = new Set(cases.flatMap((each) => each.label ?? []));
  const numbers = new Map<string, number>();
  return cases.map((each) => {
    if (each.label !== undefined) return each.label;
    const { target } = each;
    let number = (numbers.get(target) ?? 0) + 1;
    while (taken.has(numbered(target, number)) || isReservedLabel(numbered(target, number))) number++;
    numbers.set(target, number);
    return numbered(target, number);
  });
}

function numbered(target: string, number: number): string {
  return number === 1 ? target : `${target}#${number}`;
}

/** The label of the default route. */
export const defaultLabel = "default";

/** `__proto__` cannot be a key of the details. */
function isReservedLabel(label: string): boolean {
  return label === defaultLabel || label === "__proto__";
}

/** What a decision may come to, and where that leads. */
interface PossibleOutcome {
  readonly label: string;
  readonly target: string | null;
}

export function possibleOutcomes(definition: Definition): readonly PossibleOutcome[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table": {
      const cases = casesOf(definition).map(({ each }) => each);
      const labels = labelsOf(cases);
      const written = cases.map(({ target }, index) => ({ label: labels[index] ?? target, target }));
      return [...written, { label: defaultLabel, target: definition.default.target }];
    }
    case "scored": {
      const { targets = {} } = definition;
      return possibleDecisions(definition).map((label) => ({
        label,
        target: Object.hasOwn(targets, label) ? (targets[label] ?? null) : null,
      }));
    }
    case "policy":
      return outcomesWithoutTarget(["allowed", "denied", "allowed_by_exception"]);
    case "gate":
      return outcomesWithoutTarget(["GREEN", "GREEN-SKIP", "YELLOW", "RED"]);
  }
}

const outcomesWithoutTarget = (labels: readonly string[]): readonly PossibleOutcome[] =>
  labels.map((label) => ({ label, target: null }));
