import type { StoredPayload, StoredVote } from "./stored-payload.js";
import { normalizeKeysDeep, readPayload } from "./stored-payload.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { ReplayMismatchError } from "../errors.js";
import type { EvaluatorVote } from "../evaluate/scored/evaluator.js";
import { toStrategy } from "../evaluate/scored/plug-ins.js";
import type { Strategy } from "../evaluate/scored/scoring.js";
import { tallyVotes } from "../evaluate/scored/tally-votes.js";
import type { ScoringStrategy } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { AuditPayload, ScoredDecision, ScoredOutcome } from "../model/result.js";
import type { ScoredHashInput } from "../record/deterministic-hash.js";
import { scoredHash } from "../record/deterministic-hash.js";
import { printable } from "../text.js";

export interface ReplayOptions {
  /** Whether a difference is an error; otherwise it is told. */
  readonly strict: boolean;
  /** Is told what had to be assumed and, where it is no error, what differs. */
  readonly warn: (text: string) => void;
}

/** Decides again by the votes of an audit payload; throws where it is none, and in strict mode where that differs. */
export function replayPayload(payload: unknown, { strict, warn }: ReplayOptions): ReplayedDecision {
  const { replayed, differences, warnings } = compareWithPayload(payload);
  for (const warning of warnings) warn(`[DecisionAgent::Replay] ${oneLine(warning)}`);
  if (differences.length === 0) return replayed;
  if (strict) throw mismatchError(differences, replayed);
  warn(
    [
      "[DecisionAgent::Replay] Non-strict mode differences detected:",
      ...differences.map(differenceText),
    ].join("\n"),
  );
  return replayed;
}

function mismatchError(differences: readonly Difference[], replayed: ReplayedDecision): ReplayMismatchError {
  // What does not differ is as it was.
  const { decision, confidence } = replayed;
  const values = (side: "expected" | "actual"): Readonly<Record<string, unknown>> => ({
    decision,
    confidence,
    ...Object.fromEntries(differences.map((each) => [each.what, each[side]])),
  });
  return new ReplayMismatchError({
    expected: values("expected"),
    actual: values("actual"),
    differences: differences.map(
      ({ what, expected, actual }) =>
        `${what} mismatch (expected: ${oneLine(expected)}, got: ${oneLine(actual)})`,
    ),
  });
}

const changed: Readonly<Record<Difference["what"], string>> = {
  decision: "Decision changed",
  confidence: "Confidence changed",
  deterministic_hash: "Deterministic hash changed",
};

const differenceText = ({ what, expected, actual }: Difference): string =>
  `  - ${changed[what]}: ${oneLine(expected)} -> ${oneLine(actual)}`;

/** On one line, so that no decision can look like a difference of its own. */
const oneLine = (value: string | number): string => printable(String(value)).replaceAll("\n", "\\n");

/** What came of a replay. */
export interface Comparison {
  readonly replayed: ReplayedDecision;
  /** Empty where it came to the same. */
  readonly differences: readonly Difference[];
  /** What had to be assumed. */
  readonly warnings: readonly string[];
}

export interface Difference {
  readonly what: "decision" | "confidence" | "deterministic_hash";
  /** As stored. */
  readonly expected: string | number;
  /** As replayed; of the hash, as what is stored would have it. */
  readonly actual: string | number;
}

/** Decides again by the votes of an audit payload, and tells where that differs; throws only where it is no payload. */
export function compareWithPayload(payload: unknown): Comparison {
  const stored = readPayload(payload);
  const { strategy, warnings } = resolveStrategy(stored);
  const again = replayVotes(stored, strategy);
  return { replayed: again, differences: findDifferences(stored, again), warnings };
}

function findDifferences(stored: StoredPayload, again: ReplayedDecision): readonly Difference[] {
  const { decision, confidence, deterministic_hash: hash } = stored;
  const compared: readonly Difference[] = [
    { what: "decision", expected: decision, actual: again.decision },
    { what: "confidence", expected: confidence, actual: again.confidence },
    ...(hash === undefined
      ? []
      : [{ what: "deterministic_hash", expected: hash, actual: storedPayloadHash(stored) } as const]),
  ];
  return compared.filter(({ expected, actual }) => expected !== actual);
}

function storedPayloadHash(stored: StoredPayload): string {
  const { context, votes, decision, confidence, scoring_strategy } = stored;
  const evaluations = votes.map(({ written }) => written);
  return payloadHash({ context, evaluations, decision, confidence, scoring_strategy }, stored);
}

/** A decision that was made again; its payload has neither a time nor a version where the stored one has none. */
export interface ReplayedDecision extends Omit<ScoredDecision, "audit_payload"> {
  readonly audit_payload: ReplayedPayload;
}

type OptionalPayloadField = "timestamp" | "agent_version";
export type ReplayedPayload = Omit<AuditPayload, OptionalPayloadField> &
  Partial<Pick<AuditPayload, OptionalPayloadField>>;

/** How far confidences may be apart and still be the same; what is exactly so far apart is within it. */
const tolerance = 0.0001 + Number.EPSILON;

/** Scores the stored votes again; no rule is asked, so all that is known of them is what they say. */
function replayVotes(stored: StoredPayload, strategy: Strategy): ReplayedDecision {
  const tallied = tallyVotes(stored.votes.map(toVoted), strategy);
  // Whoever does not round has other digits, and another hash, for the same confidence.
  const isSame = Math.abs(stored.confidence - tallied.confidence) <= tolerance;
  const outcome = { ...tallied, confidence: isSame ? stored.confidence : tallied.confidence };
  const { decision, because, failed_conditions } = outcome;
  return deepFreeze({
    ...outcome,
    explainability: { decision, because, failed_conditions },
    audit_payload: payloadOf(outcome, stored),
    failures: [],
  });
}

function toVoted({ evaluation }: StoredVote): EvaluatorVote {
  const { evaluator_name: name, decision, weight } = evaluation;
  return { name, evaluation, detail: { result: true, decision, weight, rules: [] }, asked: [] };
}

/** The contract's fields and no others: the hash answers for none that a payload may have beyond them. */
function payloadOf(outcome: ScoredOutcome, stored: StoredPayload): ReplayedPayload {
  const { evaluations, decision, confidence, scoring_parameters } = outcome;
  const { timestamp, context, feedback, scoring_strategy, agent_version } = stored;
  const said = { context, evaluations, decision, confidence, scoring_strategy };
  return {
    ...(timestamp !== undefined && { timestamp }),
    feedback,
    ...said,
    scoring_parameters: { ...scoring_parameters, ...stored.scoring_parameters },
    ...(agent_version !== undefined && { agent_version }),
    deterministic_hash: payloadHash(said, stored),
  };
}

/** How a payload is scored again, and what had to be assumed for it. */
interface ResolvedStrategy {
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
function resolveStrategy({ scoring_strategy, scoring_parameters }: StoredPayload): ResolvedStrategy {
  const name = strategies.get(scoring_strategy);
  if (name === undefined) {
    const warning = `the scoring strategy \`${scoring_strategy}\` is unknown, so \`weighted_average\` was used`;
    return { strategy: toStrategy(undefined), warnings: [warning] };
  }
  const assumed = name === "threshold" ? missingThresholdParameters(scoring_parameters) : [];
  const parameters = { ...Object.fromEntries(assumed), ...scoring_parameters };
  return {
    strategy: toStrategy({ ...parameters, strategy: name }),
    warnings: assumed.map(([key, value]) => `the payload has no \`${key}\`, so \`${value}\` was used`),
  };
}

/**
 * What `DecisionAgent::Scoring::Threshold` takes where it is told nothing. Our own payloads always tell it; of
 * `consensus` they may tell nothing, as its default is the same here and there.
 */
const thresholdDefaults = { threshold: 0.7, fallback_decision: "no_decision" };

const missingThresholdParameters = (
  parameters: JsonObject,
): readonly (readonly [string, string | number])[] =>
  Object.entries(thresholdDefaults).filter(([key]) => !Object.hasOwn(parameters, key));

interface PayloadHashInput extends ScoredHashInput {
  readonly context: JsonObject;
}

/**
 * The hash of what a payload says. Where one is written with symbols, so may its context and metadata be, which
 * were hashed by their plain names.
 */
function payloadHash(
  said: PayloadHashInput,
  { deterministic_hash: stored, hasSymbols }: Pick<StoredPayload, "deterministic_hash" | "hasSymbols">,
): string {
  const hash = scoredHash(said.context, said);
  if (!hasSymbols || hash === stored) return hash;
  const plain = normalizeKeysDeep(said as unknown as JsonObject) as unknown as PayloadHashInput;
  const plainHash = scoredHash(plain.context, plain);
  return plainHash === stored ? plainHash : hash;
}
