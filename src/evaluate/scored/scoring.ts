import { InvalidConfidenceError } from "../../errors.js";
import type { Scoring, ScoringStrategy } from "../../model/definition.js";
import type { Evaluation, ScoringParameters } from "../../model/result.js";

export interface Scored {
  readonly decision: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** A scoring strategy: derives one decision from at least one vote. */
export interface Strategy {
  readonly name: string;
  readonly parameters: ScoringParameters;
  score(evaluations: readonly Evaluation[]): Scored;
}

const defaultAgreement = 0.5;

/** Returns the strategy that a definition names; default: `weighted_average`. */
export function strategyFor(scoring: Scoring = { strategy: "weighted_average" }): Strategy {
  const { strategy: name, ...parameters } = scoring;
  return { name, parameters, score: scorers[name](parameters) };
}

const scorers: Readonly<Record<ScoringStrategy, (parameters: ScoringParameters) => Strategy["score"]>> = {
  weighted_average: () => weightedAverage,
  max_weight: () => maxWeight,
  consensus: (parameters) => (evaluations) => consensus(evaluations, parameters),
  threshold: (parameters) => (evaluations) => threshold(evaluations, parameters),
};

/** Returns the confidence rounded to four decimals. Throws `InvalidConfidenceError` if it is not from 0 to 1. */
export const roundedConfidence = (confidence: unknown): number =>
  Math.round(validateConfidence(confidence) * 1e4) / 1e4;

/** Returns the confidence. Throws `InvalidConfidenceError` if it is not from 0 to 1. */
export function validateConfidence(confidence: unknown): number {
  if (typeof confidence === "number" && confidence >= 0 && confidence <= 1) return confidence;
  throw new InvalidConfidenceError(confidence);
}

/** Does not spread into `Math.max`, which fails with some hundred thousand arguments. */
export const highestWeight = (evaluations: readonly Evaluation[]): number =>
  evaluations.reduce((highest, { weight }) => Math.max(highest, weight), 0);

/** Selects the decision with the highest sum of weights; the confidence is its share of all weights. */
function weightedAverage(evaluations: readonly Evaluation[]): Scored {
  const sums = byDecision(evaluations).map(({ decision, weights }) => ({ decision, sum: sumOf(weights) }));
  const winner = sums.reduce((best, each) => (each.sum > best.sum ? each : best));
  const total = sumOf(evaluations.map(({ weight }) => weight));
  return { decision: winner.decision, confidence: total === 0 ? 0 : Math.min(1, winner.sum / total) };
}

/** Selects the decision with the highest single weight, which is the confidence. */
function maxWeight(evaluations: readonly Evaluation[]): Scored {
  const { decision, weight } = evaluations.reduce((best, each) => (each.weight > best.weight ? each : best));
  return { decision, confidence: weight };
}

/** Selects the decision with the most votes; the confidence is its share, or 0 if too few agree. */
function consensus(evaluations: readonly Evaluation[], parameters: ScoringParameters): Scored {
  const { minimum_agreement: minimum = defaultAgreement } = parameters;
  const groups = byDecision(evaluations);
  const winner = groups.reduce((best, each) => (each.weights.length > best.weights.length ? each : best));
  const ratio = winner.weights.length / evaluations.length;
  return { decision: winner.decision, confidence: ratio >= minimum ? ratio : 0 };
}

/** Selects the highest single weight if it reaches the threshold, else the fallback with half the confidence. */
function threshold(evaluations: readonly Evaluation[], parameters: ScoringParameters): Scored {
  const { threshold: minimum = 0, fallback_decision: fallback } = parameters;
  const best = maxWeight(evaluations);
  if (best.confidence >= minimum || fallback === undefined) return best;
  return { decision: fallback, confidence: best.confidence / 2 };
}

interface Group {
  readonly decision: string;
  readonly weights: readonly number[];
}

/** Groups votes in the order in which the decisions first appear, so the first of equal ones wins. */
function byDecision(evaluations: readonly Evaluation[]): readonly Group[] {
  const groups = new Map<string, number[]>();
  for (const { decision, weight } of evaluations) {
    const weights = groups.get(decision);
    if (weights === undefined) groups.set(decision, [weight]);
    else weights.push(weight);
  }
  return [...groups].map(([decision, weights]) => ({ decision, weights }));
}

/** Sorts and rounds, so the sum does not depend on the order, and 0.1 + 0.2 equals 0.3. */
function sumOf(weights: readonly number[]): number {
  const sum = weights.toSorted((a, b) => a - b).reduce((total, weight) => total + weight, 0);
  return Number(sum.toPrecision(12));
}
