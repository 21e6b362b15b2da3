import { deepFreeze } from "../digest/freeze.js";
import type { Voted } from "../evaluate/scored/evaluator.js";
import type { Strategy } from "../evaluate/scored/scoring.js";
import { tallyVotes } from "../evaluate/scored/tally-votes.js";
import type { AuditPayload, ScoredDecision, ScoredOutcome } from "../model/result.js";
import { payloadHash } from "./payload-hash.js";
import type { StoredPayload } from "./stored-payload.js";
import type { StoredVote } from "./stored-vote.js";

/** A decision that was made again; its payload has neither a time nor a version where the stored one has none. */
export interface ReplayedDecision extends Omit<ScoredDecision, "audit_payload"> {
  readonly audit_payload: ReplayedPayload;
}

type Kept = "timestamp" | "agent_version";
export type ReplayedPayload = Omit<AuditPayload, Kept> & Partial<Pick<AuditPayload, Kept>>;

/** How far confidences may be apart and still be the same; what is exactly so far apart is within it. */
const tolerance = 0.0001 + Number.EPSILON;

/** Scores the stored votes again; no rule is asked, so all that is known of them is what they say. */
export function replayed(stored: StoredPayload, strategy: Strategy): ReplayedDecision {
  const tallied = tallyVotes(stored.votes.map(votedAgain), strategy);
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

function votedAgain({ evaluation }: StoredVote): Voted {
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
