import { deepFreeze } from "../digest/freeze-json.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { InvalidScoringStrategyError, ReplayMismatchError } from "../errors.js";
import type { EvaluatorVote } from "../evaluate/scored/evaluator.js";
import type { ScoringPlugIn } from "../evaluate/scored/plug-ins.js";
import { toStrategy } from "../evaluate/scored/plug-ins.js";
import type { Strategy } from "../evaluate/scored/scoring.js";
import { tallyVotes } from "../evaluate/scored/tally-votes.js";
import type { ScoringStrategy } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { AuditPayload, ScoredDecision, ScoredOutcome } from "../model/result.js";
import type { ScoredHashInput } from "../record/deterministic-hash.js";
import { scoredHash } from "../record/deterministic-hash.js";
import { changedText, mismatchText, valueText } from "./difference-text.js";
import type { StoredPayload, StoredVote } from "./stored-payload.js";
import { normalizeKeysDeep, readPayload } from "./stored-payload.js";

export interface ReplayOptions {
  /** Throw an error when the replay differs; otherwise report the differences with `warn`. */
  readonly strict: boolean;
  /** Receives assumptions and, in non-strict mode, differences. */
  readonly warn: (text: string) => void;
  /** Custom scoring strategies, for payloads that name one of them. */
  readonly strategies?: readonly ScoringPlugIn[];
}

/** Decides again from the votes in an audit payload; throws if it is not one and, in strict mode, if the replay differs. */
export function replayPayload(
  payload: unknown,
  { strict, warn, strategies }: ReplayOptions,
): ReplayedDecision {
  const { replayed, differences, warnings } = compareWithPayload(payload, { strategies });
  for (const warning of warnings) warn(`[DecisionAgent::Replay] ${valueText(warning)}`);
  if (differences.length === 0) return replayed;
  if (strict) throw mismatchError(differences, replayed);
  const lines = differences.map((difference) => `  - ${changedText(difference)}`);
  warn(["[DecisionAgent::Replay] Non-strict mode differences detected:", ...lines].join("\n"));
  return replayed;
}

function mismatchError(differences: readonly Difference[], replayed: ReplayedDecision): ReplayMismatchError {
  const { decision, confidence } = replayed;
  const values = (side: "expected" | "actual"): Readonly<Record<string, unknown>> => ({
    decision,
    confidence,
    ...Object.fromEntries(differences.map((each) => [each.what, each[side]])),
  });
  return new ReplayMismatchError({
    expected: values("expected"),
    actual: values("actual"),
    differences: differences.map(mismatchText),
  });
}

/** A replayed decision, compared with the stored one. */
export interface Comparison {
  readonly replayed: ReplayedDecision;
  /** Empty where the replay matches. */
  readonly differences: readonly Difference[];
  /** Assumptions about values that the payload lacks. */
  readonly warnings: readonly string[];
}

export interface Difference {
  readonly what: "decision" | "confidence" | "deterministic_hash";
  /** The stored value. */
  readonly expected: string | number;
  /** The replayed value; for the hash, the hash of the stored values. */
  readonly actual: string | number;
}

/** Decides again from the votes in an audit payload and lists the differences; throws only if the document is not an audit payload. */
export function compareWithPayload(
  payload: unknown,
  { strategies = [] }: { readonly strategies?: readonly ScoringPlugIn[] | undefined } = {},
): Comparison {
  const stored = readPayload(payload);
  const { strategy, warnings } = findCustomStrategy(stored, strategies) ?? resolveStrategy(stored);
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

/** A decision made again; its payload has a timestamp and a version only if the stored one does. */
export interface ReplayedDecision extends Omit<ScoredDecision, "audit_payload"> {
  readonly audit_payload: ReplayedPayload;
}

type OptionalPayloadField = "timestamp" | "agent_version";
export type ReplayedPayload = Omit<AuditPayload, OptionalPayloadField> &
  Partial<Pick<AuditPayload, OptionalPayloadField>>;

/** Confidences that differ by at most 0.0001 are equal; epsilon keeps exactly that difference within. */
const tolerance = 0.0001 + Number.EPSILON;

/** Scores the stored votes again; no rule is evaluated. */
function replayVotes(stored: StoredPayload, strategy: Strategy): ReplayedDecision {
  const tallied = tallyVotes(stored.votes.map(toEvaluatorVote), strategy);
  // Implementations that do not round store more digits, and another hash, for the same confidence.
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

function toEvaluatorVote({ evaluation }: StoredVote): EvaluatorVote {
  const { evaluator_name: name, decision, weight } = evaluation;
  return { name, evaluation, detail: { result: true, decision, weight, rules: [] }, evaluatedRules: [] };
}

/** Returns the fields of the specification only: the hash covers no others. */
function payloadOf(outcome: ScoredOutcome, stored: StoredPayload): ReplayedPayload {
  const { evaluations, decision, confidence, scoring_parameters } = outcome;
  const { timestamp, context, feedback, scoring_strategy, agent_version } = stored;
  const hashed = { context, evaluations, decision, confidence, scoring_strategy };
  return {
    ...(timestamp !== undefined && { timestamp }),
    feedback,
    ...hashed,
    scoring_parameters: { ...scoring_parameters, ...stored.scoring_parameters },
    ...(agent_version !== undefined && { agent_version }),
    deterministic_hash: payloadHash(hashed, stored),
  };
}

/** The scoring strategy of a payload, with a warning for each assumption. */
interface ResolvedStrategy {
  readonly strategy: Strategy;
  readonly warnings: readonly string[];
}

/** A custom strategy may not have the name of a built-in one, which other payloads mean. */
function findCustomStrategy(
  { scoring_strategy: name, scoring_parameters: stored }: StoredPayload,
  plugIns: readonly ScoringPlugIn[],
): ResolvedStrategy | undefined {
  const custom = plugIns.map(toStrategy);
  const builtIn = custom.find((each) => builtInStrategies.has(each.name));
  if (builtIn !== undefined)
    throw new InvalidScoringStrategyError(`\`${builtIn.name}\` is the name of a built-in scoring strategy`);
  const strategy = custom.find((each) => each.name === name);
  if (strategy === undefined) return undefined;
  const isSame = canonicalJson(stored) === canonicalJson(strategy.parameters);
  const warning = `the payload was made with other parameters of \`${name}\``;
  return { strategy, warnings: isSame ? [] : [warning] };
}

const classNames: Readonly<Record<ScoringStrategy, string>> = {
  weighted_average: "WeightedAverage",
  max_weight: "MaxWeight",
  consensus: "Consensus",
  threshold: "Threshold",
};

const builtInStrategies: ReadonlyMap<string, ScoringStrategy> = new Map(
  Object.entries(classNames).flatMap(([name, className]) =>
    [name, className, `DecisionAgent::Scoring::${className}`].map((each) => [each, name as ScoringStrategy]),
  ),
);

/** Throws if the strategy does not accept the parameters. */
function resolveStrategy({ scoring_strategy, scoring_parameters }: StoredPayload): ResolvedStrategy {
  const name = builtInStrategies.get(scoring_strategy);
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
 * The defaults of `DecisionAgent::Scoring::Threshold`. Our own payloads always have these parameters; the
 * default of `consensus` is the same in both implementations.
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
 * Returns the hash of a payload's values. If the payload's keys are symbols, its context and metadata may have
 * been hashed with plain keys; that hash is returned if it matches the stored one.
 */
function payloadHash(
  hashed: PayloadHashInput,
  { deterministic_hash: stored, hasSymbols }: Pick<StoredPayload, "deterministic_hash" | "hasSymbols">,
): string {
  const hash = scoredHash(hashed.context, hashed);
  if (!hasSymbols || hash === stored) return hash;
  const plain = normalizeKeysDeep(hashed as unknown as JsonObject) as unknown as PayloadHashInput;
  const plainHash = scoredHash(plain.context, plain);
  return plainHash === stored ? plainHash : hash;
}
