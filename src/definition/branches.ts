import type { Case, Definition, Guardrail, ScoredDefinition } from "../model/definition.js";
import { isRouting } from "./decision-types.js";
import type { Path } from "./yaml-source.js";

/** A branch of a decision, and where the definition names its target. */
interface Branch<Target = string> {
  readonly label: string;
  readonly target: Target;
  readonly path: Path;
}

/** Returns every branch that leads to a target, including the escalations of guardrails. */
export function branchesOf(definition: Definition): readonly Branch[] {
  const declared = declaredBranches(definition).filter((each): each is Branch => each.target !== null);
  return [...declared, ...escalationBranches(definition)];
}

/** The target is null where a branch has only an output. */
function declaredBranches(definition: Definition): readonly Branch<string | null>[] {
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
  const branches = cases.map(({ path, each: { target = null } }, index) => ({
    label: labels[index] ?? "",
    target,
    path: [...path, "target"],
  }));
  return [
    ...branches,
    { label: defaultLabel, target: definition.default.target ?? null, path: ["default", "target"] },
  ];
}

/** Policies and gates have no targets: they escalate to a person. */
function escalationBranches(definition: Definition): readonly Branch[] {
  if (!isRouting(definition) && definition.type !== "scored") return [];
  return (definition.guardrails ?? []).flatMap((guardrail, index) => {
    const target = guardrail.on_fail === "escalate" ? escalationTarget(guardrail) : undefined;
    const key = guardrail.escalate_to === undefined ? "approval_target" : "escalate_to";
    const label = `escalated (${guardrail.type})`;
    return target === undefined ? [] : [{ label, target, path: ["guardrails", index, key] }];
  });
}

/** The target of an answer that fails a guardrail, if the guardrail names one. */
export const escalationTarget = (guardrail: Guardrail): string | undefined =>
  guardrail.escalate_to ?? (guardrail.type === "requires_approval" ? guardrail.approval_target : undefined);

/** Returns the cases of a routing definition with their paths; other types have none. */
export function casesOf(definition: Definition): readonly { readonly path: Path; readonly each: Case }[] {
  if (!isRouting(definition)) return [];
  const key = definition.type === "rule_table" && definition.rules !== undefined ? "rules" : "cases";
  const cases = definition.type === "rule_table" ? (definition.rules ?? definition.cases) : definition.cases;
  return (cases ?? []).map((each, index) => ({ path: [key, index], each }));
}

/**
 * Returns the label of each case. Without one it is the target, or `rule-` and the position of a case that has no
 * target; numbered from the second on to stay unique.
 */
export function labelsOf(cases: readonly Case[]): readonly string[] {
  const written = new Set(cases.flatMap(({ label }) => label ?? []));
  const targets = new Set(cases.flatMap(({ label, target }) => (label === undefined ? (target ?? []) : [])));
  const given = new Set<string>();
  const numbers = new Map<string, number>();
  return cases.map(({ label, target }, index) => {
    if (label !== undefined) return label;
    const name = target ?? `rule-${index + 1}`;
    const isTaken = (each: string): boolean =>
      written.has(each) ||
      given.has(each) ||
      isReservedLabel(each) ||
      (target === undefined && targets.has(each));
    let number = (numbers.get(name) ?? 0) + 1;
    while (isTaken(numbered(name, number))) number++;
    if (target !== undefined) numbers.set(name, number);
    given.add(numbered(name, number));
    return numbered(name, number);
  });
}

function numbered(name: string, number: number): string {
  return number === 1 ? name : `${name}#${number}`;
}

/** The label of the default route. */
export const defaultLabel = "default";

/** `__proto__` cannot be a key of the evaluation details. */
function isReservedLabel(label: string): boolean {
  return label === defaultLabel || label === "__proto__";
}

/** An outcome that a decision can have, and the target it leads to. */
interface PossibleOutcome {
  readonly label: string;
  readonly target: string | null;
}

/** Returns every outcome that a decision can have. */
export function possibleOutcomes(definition: Definition): readonly PossibleOutcome[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return declaredBranches(definition).map(({ label, target }) => ({ label, target }));
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

/**
 * Returns every decision that a `scored` definition can make, in the order of the file. A custom evaluator may vote for
 * others, too.
 */
export function possibleDecisions({ evaluators, scoring }: ScoredDefinition): readonly string[] {
  const votes = evaluators.flatMap((each) =>
    "rules" in each
      ? each.rules.map(({ then }) => then.decision)
      : "static" in each
        ? [each.static.decision]
        : [],
  );
  const fallback = scoring?.strategy === "threshold" ? (scoring.fallback_decision ?? []) : [];
  return [...new Set([...votes, ...[fallback].flat()])];
}
