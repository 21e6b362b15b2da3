import { payloadHash } from "./payload-hash.js";
import type { ReplayedDecision } from "./replayed.js";
import { replayed } from "./replayed.js";
import type { StoredPayload } from "./stored-payload.js";
import { readPayload } from "./stored-payload.js";
import { storedStrategy } from "./stored-strategy.js";

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
  const { strategy, warnings } = storedStrategy(stored);
  const again = replayed(stored, strategy);
  return { replayed: again, differences: differencesOf(stored, again), warnings };
}

function differencesOf(stored: StoredPayload, again: ReplayedDecision): readonly Difference[] {
  const { decision, confidence, deterministic_hash: hash } = stored;
  const compared: readonly Difference[] = [
    { what: "decision", expected: decision, actual: again.decision },
    { what: "confidence", expected: confidence, actual: again.confidence },
    ...(hash === undefined
      ? []
      : [{ what: "deterministic_hash", expected: hash, actual: hashOf(stored) } as const]),
  ];
  return compared.filter(({ expected, actual }) => expected !== actual);
}

function hashOf(stored: StoredPayload): string {
  const { context, votes, decision, confidence, scoring_strategy } = stored;
  const evaluations = votes.map(({ written }) => written);
  return payloadHash({ context, evaluations, decision, confidence, scoring_strategy }, stored);
}
