import { InvalidConfidenceError } from "../../errors.js";
import type { Scoring, ScoringStrategy } from "../../model/definition.js";
import type { Evaluation, ScoringParameters } from "../../model/result.js";

export interface Scored {
  readonly decision: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** Makes one decision of votes, of which there is at least one. */
export interface Strategy {
  readonly name: string;
  readonly parameters: ScoringParameters;
  score(evaluations: readonly Evaluation[]): Scored;
}

const defaultAgreement = 0.5;

/** One of the strategies that a definition may name; without one, `weighted_average`. */
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

/** To four decimals; what is not from 0 to 1 is the contract's error. */
export const roundedConfidence = (confidence: unknown): number =>
  Math.round(validateConfidence(confidence) * 1e4) / 1e4;

/** As it is; what is not from 0 to 1 is the contract's error. */
export function validateConfidence(confidence: unknown): number {
  if (typeof confidence === "number" && confidence >= 0 && confidence <= 1) return confidence;
  throw new InvalidConfidenceError(confidence);
}

/** Of however many votes: more than some hundred thousand are too many arguments for `Math.max`. */
export const highestWeight = (evaluations: readonly Evaluation[]): number =>
  evaluations.reduce((highest, { weight }) => Math.max(highest, weight), 0);

/** The decision with the greatest sum of weights; its share of all weights. */
function weightedAverage(evaluations: readonly Evaluation[]): Scored {
  const sums = byDecision(evaluations).map(({ decision, weights }) => ({ decision, sum: sumOf(weights) }));
  const winner = sums.reduce((best, each) => (each.sum > best.sum ? each : best));
  const total = sumOf(evaluations.map(({ weight }) => weight));
  return { decision: winner.decision, confidence: total === 0 ? 0 : Math.min(1, winner.sum / total) };
}

/** The decision with the greatest single weight, which is the confidence. */
function maxWeight(evaluations: readonly Evaluation[]): Scored {
  const { decision, weight } = evaluations.reduce((best, each) => (each.weight > best.weight ? each : best));
  return { decision, confidence: weight };
}

/** The decision with the most votes; its share of the votes, or 0 where too few agree. */
function consensus(evaluations: readonly Evaluation[], parameters: ScoringParameters): Scored {
  const { minimum_agreement: least = defaultAgreement } = parameters;
  const groups = byDecision(evaluations);
  const winner = groups.reduce((best, each) => (each.weights.length > best.weights.length ? each : best));
  const ratio = winner.weights.length / evaluations.length;
  return { decision: winner.decision, confidence: ratio >= least ? ratio : 0 };
}

/** The greatest single weight decides where it reaches the threshold; else the fallback, half as sure. */
function threshold(evaluations: readonly Evaluation[], parameters: ScoringParameters): Scored {
  const { threshold: least = 0, fallback_decision: fallback } = parameters;
  const best = maxWeight(evaluations);
  if (best.confidence >= least || fallback === undefined) return best;
  return { decision: fallback, confidence: best.confidence / 2 };
}

interface Group {
  readonly decision: string;
  readonly weights: readonly number[];
}

/** In the order in which the decisions are first seen: of equals, the first wins. */
function byDecision(evaluations: readonly Evaluation[]): readonly Group[] {
  const groups = new Map<string, number[]>();
  for (const { decision, weight } of evaluations) {
    const weights = groups.get(decision);
    if (weights === undefined) groups.set(decision, [weight]);
    else weights.push(weight);
  }
  return [...groups].map(([decision, weights]) => ({ decision, weights }));
}

/** The same in whichever order, and for 0.1 + 0.2 the same as for 0.3; the least weight still weighs something. */
function sumOf(weights: readonly number[]): number {
  const sum = weights.toSorted((a, b) => a - b).reduce((total, weight) => total + weight, 0);
  return Number(sum.toPrecision(12));
}
