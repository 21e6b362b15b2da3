import { InvalidRuleDslError, NoEvaluationsError } from "../contract-errors.js";
import { boundedConfidence } from "../evaluate/scored/scoring.js";
import type { JsonObject } from "../model/json.js";
import type { AuditPayload } from "../model/result.js";
import { asJson, asJsonObject, asList, asName, asObject, asText, optional, required } from "./field.js";
import { plainKeys } from "./plain-keys.js";
import type { StoredVote } from "./stored-vote.js";
import { readVote } from "./stored-vote.js";

/** What a payload may lack, and a replay then has nothing to say about. */
export type Unsaid = Partial<Pick<AuditPayload, "timestamp" | "agent_version" | "deterministic_hash">>;

/** An audit payload that was found to be one; the keys of its context and metadata are as they were. */
export interface StoredPayload extends Unsaid, Pick<AuditPayload, "context" | "decision" | "confidence"> {
  readonly votes: readonly StoredVote[];
  readonly scoring_strategy: string;
  readonly scoring_parameters: JsonObject;
  readonly feedback: JsonObject;
  /** Whether its own keys are written as symbols. */
  readonly hasSymbols: boolean;
}

const requiredKeys = ["context", "evaluations", "decision", "confidence"] as const;
const unsaidKeys = ["timestamp", "agent_version", "deterministic_hash"] as const;

/** Throws the contract's errors where it is none: first for what is missing, then for what is out of bounds. */
export function readPayload(payload: unknown): StoredPayload {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    throw new InvalidRuleDslError("Audit payload must be an object", {
      hint: "it is what a scored decision has as its `audit_payload`",
    });
  }
  const fields = plainKeys(payload);
  for (const key of requiredKeys) required(fields, key);
  const votes = asList(required(fields, "evaluations")).map(readVote);
  const confidence = boundedConfidence(required(fields, "confidence").value);
  const strategy = optional(fields, "scoring_strategy");
  const stored: StoredPayload = {
    context: asJsonObject(required(fields, "context")),
    votes,
    decision: asName(required(fields, "decision")),
    confidence,
    scoring_strategy: strategy === undefined ? "weighted_average" : asText(strategy),
    scoring_parameters: readParameters(fields),
    feedback: asJsonObject(optional(fields, "feedback") ?? { path: "feedback", value: {} }),
    hasSymbols: !requiredKeys.some((key) => Object.hasOwn(payload, key)),
    ...readUnsaid(fields),
  };
  if (votes.length === 0) {
    throw new NoEvaluationsError(undefined, { hint: "a decision is replayed from the votes in its payload" });
  }
  return stored;
}

function readParameters(fields: Readonly<Record<string, unknown>>): JsonObject {
  const field = optional(fields, "scoring_parameters");
  if (field === undefined) return {};
  return asJson({ path: field.path, value: plainKeys(asObject(field)) }) as JsonObject;
}

function readUnsaid(fields: Readonly<Record<string, unknown>>): Unsaid {
  const said = unsaidKeys.flatMap((key) => optional(fields, key) ?? []);
  return Object.fromEntries(said.map((field) => [field.path, asText(field)]));
}
