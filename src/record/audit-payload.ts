import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuditPayload, ScoredOutcome } from "../model/result.js";
import { version } from "../version.js";

/** What the contract hashes beside the context. */
export interface Hashed extends Pick<ScoredOutcome, "decision" | "confidence" | "scoring_strategy"> {
  readonly evaluations: readonly object[];
}

/** Over exactly what the contract names: neither the time nor the feedback has a part in it. */
export function scoredHash(context: JsonObject, outcome: Hashed): string {
  const { evaluations, decision, confidence, scoring_strategy } = outcome;
  const hashed = { context, evaluations, decision, confidence, scoring_strategy };
  return sha256Hex(canonicalJson(hashed as unknown as Json));
}

interface Circumstances {
  readonly context: JsonObject;
  readonly feedback: JsonObject | undefined;
  readonly at: string;
  readonly hash: string;
}

/** All that it takes to reach the decision again. */
export function auditPayload(outcome: ScoredOutcome, circumstances: Circumstances): AuditPayload {
  const { context, feedback = {}, at, hash } = circumstances;
  const { evaluations, decision, confidence, scoring_strategy, scoring_parameters } = outcome;
  return {
    timestamp: at,
    context,
    feedback,
    evaluations,
    decision,
    confidence,
    scoring_strategy,
    scoring_parameters,
    agent_version: version,
    deterministic_hash: hash,
  };
}
