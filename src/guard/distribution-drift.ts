import { unjudgeable } from "../definition/guardrail-faults.js";
import type { DistributionDrift } from "../model/guardrail.js";
import type { Json } from "../model/json.js";
import type { Look } from "./guardrail-check.js";

/** How a weighted decision was taken so far, as it is found out for the guardrail. */
export interface DistributionFact {
  /** How many distinct inputs there were; null where they cannot be told apart. */
  readonly sample: number | null;
  /** How likely such a split is by chance; null where nothing can be expected. */
  readonly p_value: number | null;
}

export const defaultMinimum = 500;
export const defaultPValue = 0.001;

/** `distribution_drift`: one finding on a weighted decision; others have no split. */
export const lookAtSplit: Look<DistributionDrift> = (guardrail, { loaded: { definition }, facts }) => {
  if (definition.type !== "weighted") return [];
  const why = unjudgeable(definition);
  if (why !== undefined) throw new Error(why);
  const { minimum = defaultMinimum, p_value: least = defaultPValue } = guardrail;
  const { sample, p_value: likely } = factIn(facts["distribution"]);
  if (sample < minimum) {
    const message = `Distribution is not judged yet: ${sample} of ${minimum} distinct inputs`;
    return [{ passed: true, message }];
  }
  if (likely === null) throw new Error("no split can be expected of it");
  const passed = likely >= least;
  const how = `p ${shown(likely)} over ${sample} distinct inputs`;
  return [
    {
      passed,
      message: passed
        ? `Distribution is as the weights say (${how})`
        : `Distribution has drifted from the weights (${how}, below ${least})`,
    },
  ];
};

function factIn(fact: Json | undefined): Known {
  const { sample, p_value: likely } = (fact ?? {}) as Partial<DistributionFact>;
  if (typeof sample !== "number") throw new Error("the distribution is not known");
  return { sample, p_value: likely ?? null };
}

type Known = DistributionFact & { readonly sample: number };

const shown = (p: number): string => (p < 1e-6 ? p.toExponential(1) : String(Number(p.toPrecision(3))));
