import { strategyOf } from "../evaluate/scored/plug-ins.js";
import type { Strategy } from "../evaluate/scored/scoring.js";
import type { ScoringStrategy } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { StoredPayload } from "./stored-payload.js";

/** How a payload is scored again, and what had to be assumed for it. */
export interface StoredStrategy {
  readonly strategy: Strategy;
  readonly warnings: readonly string[];
}

const classNames: Readonly<Record<ScoringStrategy, string>> = {
  weighted_average: "WeightedAverage",
  max_weight: "MaxWeight",
  consensus: "Consensus",
  threshold: "Threshold",
};

const strategies: ReadonlyMap<string, ScoringStrategy> = new Map(
  Object.entries(classNames).flatMap(([name, className]) =>
    [name, className, `DecisionAgent::Scoring::${className}`].map((each) => [each, name as ScoringStrategy]),
  ),
);

/** Throws where the parameters are none of the strategy's. */
export function storedStrategy({ scoring_strategy, scoring_parameters }: StoredPayload): StoredStrategy {
  const name = strategies.get(scoring_strategy);
  if (name === undefined) {
    const warning = `the scoring strategy \`${scoring_strategy}\` is unknown, so \`weighted_average\` was used`;
    return { strategy: strategyOf(undefined), warnings: [warning] };
  }
  const assumed = name === "threshold" ? missingIn(scoring_parameters) : [];
  const parameters = { ...Object.fromEntries(assumed), ...scoring_parameters };
  return {
    strategy: strategyOf({ ...parameters, strategy: name }),
    warnings: assumed.map(([key, value]) => `the payload has no \`${key}\`, so \`${value}\` was used`),
  };
}

/**
 * What `DecisionAgent::Scoring::Threshold` takes where it is told nothing. Our own payloads always tell it; of
 * `consensus` they may tell nothing, as its default is the same here and there.
 */
const thresholdDefaults = { threshold: 0.7, fallback_decision: "no_decision" };

const missingIn = (parameters: JsonObject): readonly (readonly [string, string | number])[] =>
  Object.entries(thresholdDefaults).filter(([key]) => !Object.hasOwn(parameters, key));
