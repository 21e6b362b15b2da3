import { untestableSplitReason } from "../definition/checks/check-guardrails.js";
import { labelsOf } from "../definition/branches.js";
import { matchesGlob } from "../definition/tool-match.js";
import type {
  Guardrail,
  OnFail,
  LoadedDefinition,
  Environment,
  NoDisabledTargets,
  RequiresApproval,
  WeightBounds,
  DistributionDrift,
} from "../model/definition.js";
import type { JsonObject, Json } from "../model/json.js";
import type { Check } from "../model/result.js";

/** A check, and what it leads to where it failed. */
export interface GuardrailResult {
  readonly check: Check;
  readonly onFail: OnFail;
  readonly guardrail: Guardrail;
}

/** What a guardrail says of an answer: a check for each thing that it looked at. */
export function runGuardrail(guardrail: Guardrail, guarding: GuardrailContext): readonly GuardrailResult[] {
  return findingsOf(guardrail, guarding).map(({ passed, message, isError = false }) => {
    const onFail = isError ? "block" : (guardrail.on_fail ?? "block");
    const check = { check_name: guardrail.type, passed, message };
    return { check: passed ? check : { ...check, on_fail: onFail }, onFail, guardrail };
  });
}

/** What cannot tell, blocks, whatever it was to do. */
function findingsOf(
  guardrail: Guardrail,
  guarding: GuardrailContext,
): readonly (Finding & { readonly isError?: boolean })[] {
  try {
    return findFindings(guardrail, guarding);
  } catch (error) {
    const message = `Guardrail could not be checked: ${(error as Error).message}`;
    return [{ passed: false, message, isError: true }];
  }
}

function findFindings(guardrail: Guardrail, guarding: GuardrailContext): readonly Finding[] {
  switch (guardrail.type) {
    case "no_disabled_targets":
      return checkDisabledTargets(guardrail, guarding);
    case "weight_bounds":
      return checkWeightBounds(guardrail, guarding);
    case "requires_approval":
      return checkApproval(guardrail, guarding);
    case "distribution_drift":
      return checkDistributionDrift(guardrail, guarding);
  }
}

/** What a guardrail is asked about. */
export interface GuardrailContext {
  readonly loaded: LoadedDefinition;
  /** What the answer leads to: its targets, the tool of a call that is allowed, the action of a gate that opens. */
  readonly leadsTo: readonly string[];
  readonly workflow: string | undefined;
  readonly facts: JsonObject;
}

/** One thing that a guardrail looked at, and what it thinks of it. */
interface Finding {
  readonly passed: boolean;
  readonly message: string;
}

/** Looks at an answer; throws where it cannot tell. */
type GuardrailCheck<Kind extends Guardrail> = (
  guardrail: Kind,
  guarding: GuardrailContext,
) => readonly Finding[];

/** `no_disabled_targets`: one finding for each target. */
const checkDisabledTargets: GuardrailCheck<NoDisabledTargets> = (guardrail, guarding) =>
  guarding.leadsTo.map((target) => {
    const passed = !isDisabled(target, guardrail, guarding);
    return { passed, message: `Target '${target}' is ${passed ? "allowed" : "disabled"}` };
  });

function isDisabled(
  target: string,
  { disabled_stages: stages = [] }: NoDisabledTargets,
  { loaded }: Pick<GuardrailContext, "loaded">,
): boolean {
  if (matchesAny(target, stages)) return true;
  const { targets = [] } = loaded.environment as Partial<Environment>;
  return targets.some(({ id, disabled = false }) => disabled && id === target);
}

/** Whether one of the names, or globs, is meant. */
export const matchesAny = (name: string, globs: readonly string[]): boolean =>
  globs.some((glob) => matchesGlob(glob, name));

/** `requires_approval`: one finding for each target that the guardrail is about. */
const checkApproval: GuardrailCheck<RequiresApproval> = (guardrail, guarding) => {
  const { targets, approval_target: approval } = guardrail;
  const guarded = guarding.leadsTo.filter((target) => target !== approval && appliesTo(target, targets));
  return guarded.map((target) => approvalFinding(target, guardrail, guarding));
};

function approvalFinding(
  target: string,
  { workflows, approval_target: approval }: RequiresApproval,
  { leadsTo, workflow }: GuardrailContext,
): Finding {
  const about = `Target '${target}'`;
  if (workflows !== undefined && workflow === undefined) {
    return { passed: true, message: `${about} needs no approval, as no workflow was named` };
  }
  const where = workflow === undefined ? "" : ` in workflow '${workflow}'`;
  if (!appliesTo(workflow ?? "", workflows)) {
    return { passed: true, message: `${about} needs no approval${where}` };
  }
  if (approval !== undefined && leadsTo.includes(approval)) {
    return { passed: true, message: `${about} is approved by way of '${approval}'` };
  }
  const way = approval === undefined ? "" : ` by way of '${approval}'`;
  return { passed: false, message: `${about} requires approval${way}${where}` };
}

const appliesTo = (name: string, globs: readonly string[] | undefined): boolean =>
  globs === undefined || matchesAny(name, globs);

/** `weight_bounds`: one finding for each case of a weighted decision; others have no weights. */
export const checkWeightBounds: GuardrailCheck<WeightBounds> = (guardrail, { loaded: { definition } }) => {
  if (definition.type !== "weighted") return [];
  const { cases } = definition;
  return labelsOf(cases).map((label, index) => weightFinding(cases[index]?.weight ?? 0, label, guardrail));
};

function weightFinding(weight: number, label: string, { min_weight = 0, max_weight }: WeightBounds): Finding {
  const about = `Weight ${weight} for '${label}'`;
  if (weight < min_weight) return { passed: false, message: `${about} below minimum ${min_weight}` };
  if (max_weight !== undefined && weight > max_weight) {
    return { passed: false, message: `${about} above maximum ${max_weight}` };
  }
  return { passed: true, message: `${about} is within bounds` };
}

/** How a weighted decision was taken so far, as it is found out for the guardrail. */
export interface DistributionFact {
  /** How many distinct inputs there were; null where they cannot be told apart. */
  readonly sample: number | null;
  /** How likely such a split is by chance; null where nothing can be expected. */
  readonly p_value: number | null;
}

export const defaultMinimumSample = 500;
export const defaultPValue = 0.001;

/** `distribution_drift`: one finding on a weighted decision; others have no split. */
const checkDistributionDrift: GuardrailCheck<DistributionDrift> = (
  guardrail,
  { loaded: { definition }, facts },
) => {
  if (definition.type !== "weighted") return [];
  const why = untestableSplitReason(definition);
  if (why !== undefined) throw new Error(why);
  const { minimum = defaultMinimumSample, p_value: least = defaultPValue } = guardrail;
  const { sample, p_value: likely } = parseDistributionFact(facts["distribution"]);
  if (sample < minimum) {
    const message = `Distribution is not judged yet: ${sample} of ${minimum} distinct inputs`;
    return [{ passed: true, message }];
  }
  if (likely === null) throw new Error("no split can be expected of it");
  const passed = likely >= least;
  const how = `p ${formatPValue(likely)} over ${sample} distinct inputs`;
  return [
    {
      passed,
      message: passed
        ? `Distribution is as the weights say (${how})`
        : `Distribution has drifted from the weights (${how}, below ${least})`,
    },
  ];
};

function parseDistributionFact(fact: Json | undefined): KnownDistribution {
  const { sample, p_value: likely } = (fact ?? {}) as Partial<DistributionFact>;
  if (typeof sample !== "number") throw new Error("the distribution is not known");
  return { sample, p_value: likely ?? null };
}

type KnownDistribution = DistributionFact & { readonly sample: number };

const formatPValue = (p: number): string =>
  p < 1e-6 ? p.toExponential(1) : String(Number(p.toPrecision(3)));
