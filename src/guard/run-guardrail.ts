import { untestableSplitReason } from "../definition/checks/check-guardrails.js";
import { masksOf } from "../definition/loaded-definition.js";
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

/** A check, and the action if it failed. */
export interface GuardrailResult {
  readonly check: Check;
  readonly onFail: OnFail;
  readonly guardrail: Guardrail;
}

/** Runs a guardrail on an answer; returns one result for each thing that it checked. */
export function runGuardrail(guardrail: Guardrail, context: GuardrailContext): readonly GuardrailResult[] {
  return findingsOf(guardrail, context).map(({ passed, message, isError = false }) => {
    const onFail = isError ? "block" : (guardrail.on_fail ?? "block");
    const check = { decision_id: context.loaded.definition.id, check_name: guardrail.type, passed, message };
    return { check: passed ? check : { ...check, on_fail: onFail }, onFail, guardrail };
  });
}

/** Fails closed: a guardrail that cannot be checked blocks, whatever its `on_fail` is. */
function findingsOf(
  guardrail: Guardrail,
  context: GuardrailContext,
): readonly (Finding & { readonly isError?: boolean })[] {
  try {
    return checkAnswer(guardrail, context);
  } catch (error) {
    const message = `Guardrail could not be checked: ${(error as Error).message}`;
    return [{ passed: false, message, isError: true }];
  }
}

function checkAnswer(guardrail: Guardrail, context: GuardrailContext): readonly Finding[] {
  switch (guardrail.type) {
    case "no_disabled_targets":
      return checkDisabledTargets(guardrail, context);
    case "weight_bounds":
      return checkWeightBounds(guardrail, context);
    case "requires_approval":
      return checkApproval(guardrail, context);
    case "distribution_drift":
      return checkDistributionDrift(guardrail, context);
  }
}

/** The input of a guardrail. */
export interface GuardrailContext {
  readonly loaded: LoadedDefinition;
  /** The targets of the answer, the tool of an allowed call, or the action of a GREEN gate. */
  readonly targets: readonly string[];
  readonly workflow: string | undefined;
  readonly facts: JsonObject;
}

/** The result for one thing that a guardrail checked. */
interface Finding {
  readonly passed: boolean;
  readonly message: string;
}

/** Checks an answer. Throws if that is impossible. */
type GuardrailCheck<Kind extends Guardrail> = (
  guardrail: Kind,
  context: GuardrailContext,
) => readonly Finding[];

/** `no_disabled_targets`: one finding for each target. */
const checkDisabledTargets: GuardrailCheck<NoDisabledTargets> = (guardrail, context) =>
  context.targets.map((target) => {
    const passed = !isDisabled(target, guardrail, context);
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

/** Tells whether a name matches one of the names or globs. */
export const matchesAny = (name: string, globs: readonly string[]): boolean =>
  globs.some((glob) => matchesGlob(glob, name));

/** `requires_approval`: one finding for each target that the guardrail covers. */
const checkApproval: GuardrailCheck<RequiresApproval> = (guardrail, context) => {
  const { targets, approval_target: approval } = guardrail;
  const guarded = context.targets.filter((target) => target !== approval && appliesTo(target, targets));
  return guarded.map((target) => approvalFinding(target, guardrail, context));
};

function approvalFinding(
  target: string,
  { workflows, approval_target: approval }: RequiresApproval,
  { targets, workflow }: GuardrailContext,
): Finding {
  const about = `Target '${target}'`;
  if (workflows !== undefined && workflow === undefined) {
    return { passed: true, message: `${about} needs no approval: no workflow was given` };
  }
  const inWorkflow = workflow === undefined ? "" : ` in workflow '${workflow}'`;
  if (!appliesTo(workflow ?? "", workflows)) {
    return { passed: true, message: `${about} needs no approval${inWorkflow}` };
  }
  if (approval !== undefined && targets.includes(approval)) {
    return { passed: true, message: `${about} is approved via '${approval}'` };
  }
  const via = approval === undefined ? "" : ` via '${approval}'`;
  return { passed: false, message: `${about} requires approval${via}${inWorkflow}` };
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

/** The recorded distribution of a weighted decision. */
export interface DistributionFact {
  /** The number of distinct inputs; null if they cannot be distinguished. */
  readonly sample: number | null;
  /** The probability of such a distribution by chance; null if there is no expected distribution. */
  readonly p_value: number | null;
  /** The evidence against the weights; records before it was introduced have only the p-value. */
  readonly e_value?: number;
}

export const defaultMinimumSample = 500;
export const defaultPValue = 0.001;

/** `distribution_drift`: one finding on a weighted decision; others have no split. */
const checkDistributionDrift: GuardrailCheck<DistributionDrift> = (guardrail, { loaded, facts }) => {
  const { definition } = loaded;
  if (definition.type !== "weighted") return [];
  const untestable = untestableSplitReason(definition, masksOf(loaded));
  if (untestable !== undefined) throw new Error(untestable);
  const { minimum = defaultMinimumSample, p_value: minPValue = defaultPValue } = guardrail;
  const { sample, p_value: pValue, e_value: eValue } = parseDistributionFact(facts["distribution"]);
  if (sample < minimum) {
    const message = `Distribution is not tested yet: ${sample} of ${minimum} distinct inputs`;
    return [{ passed: true, message }];
  }
  if (pValue === null) throw new Error("there is no expected distribution");
  // Records without an e-value were decided by the p-value.
  const isOld = eValue === undefined;
  const passed = isOld ? pValue >= minPValue : eValue < 1 / minPValue;
  const evidence = `${isOld ? "" : `e ${shortNumber(eValue)}, `}p ${shortNumber(pValue)} over ${sample} distinct inputs`;
  const bound = isOld ? `below ${minPValue}` : `e is at least ${shortNumber(1 / minPValue)}`;
  return [
    {
      passed,
      message: passed
        ? `Distribution matches the weights (${evidence})`
        : `Distribution has drifted from the weights (${evidence}, ${bound})`,
    },
  ];
};

function parseDistributionFact(fact: Json | undefined): KnownDistribution {
  const { sample, p_value: pValue, ...rest } = (fact ?? {}) as Partial<DistributionFact>;
  if (typeof sample !== "number") throw new Error("the distribution is unknown");
  return { sample, p_value: pValue ?? null, ...rest };
}

type KnownDistribution = DistributionFact & { readonly sample: number };

const shortNumber = (value: number): string =>
  value < 1e-6 || value >= 1e6 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
