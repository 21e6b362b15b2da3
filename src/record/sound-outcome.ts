import type {
  ErroredPredicate,
  Evaluation,
  GateOutcome,
  PolicyOutcome,
  PredicateTrace,
  ScoredOutcome,
} from "../model/result.js";
import {
  isListOfTexts,
  isMapping,
  isNumber,
  isText,
  isTextOrNull,
  isTruth,
  itemsOf,
  shaped,
} from "./shape.js";

/** Stands where a text is gone. */
const lost = "?";

export function soundCall(value: Partial<PolicyOutcome>): Omit<PolicyOutcome, "params"> {
  const { tool, allowed, outcome, reason } = value;
  const isAllowed = allowed === true && outcome !== "denied";
  return {
    tool: isText(tool) ? tool : lost,
    allowed: isAllowed,
    outcome: isAllowed ? (outcome === "allowed_by_exception" ? outcome : "allowed") : "denied",
    reason: isText(reason) ? reason : lost,
  };
}

export function soundVotes(
  value: Partial<ScoredOutcome>,
): Pick<ScoredOutcome, "decision" | "confidence" | "evaluations" | "scoring_strategy"> {
  const { decision, confidence, evaluations, scoring_strategy } = value;
  return {
    decision: isText(decision) ? decision : lost,
    confidence: isNumber(confidence) ? confidence : 0,
    evaluations: itemsOf(evaluations, isVote),
    scoring_strategy: isText(scoring_strategy) ? scoring_strategy : lost,
  };
}

const isVote = shaped<Evaluation>({
  decision: isText,
  weight: isNumber,
  reason: isText,
  evaluator_name: isText,
});

/** A gate that cannot be read is shut. */
export function soundGate({ status, work_frame, decision_metadata }: Partial<GateOutcome>): GateOutcome {
  return {
    status: isText(status) ? status : "RED",
    work_frame: isFrame(work_frame) ? work_frame : noFrame,
    decision_metadata: soundMetadata(decision_metadata),
  };
}

const isFrame = shaped<GateOutcome["work_frame"]>({
  mode: isText,
  next_action: isTextOrNull,
  allowed_actions: isListOfTexts,
  forbidden_actions: isListOfTexts,
  required_output: (value) => value !== undefined,
  missing_evidence: isListOfTexts,
  next_human_owner: isTextOrNull,
});

const noFrame: GateOutcome["work_frame"] = {
  mode: "stop",
  next_action: null,
  allowed_actions: [],
  forbidden_actions: [],
  required_output: null,
  missing_evidence: [],
  next_human_owner: null,
};

function soundMetadata(value: unknown): GateOutcome["decision_metadata"] {
  const given = isMapping(value) ? value : {};
  const { winner, deciding_rules: deciding } = isMapping(given["aggregation"]) ? given["aggregation"] : {};
  return {
    matched_rules: itemsOf(given["matched_rules"], isText),
    suppressed: itemsOf(given["suppressed"], isSuppressed),
    aggregation: {
      mode: "winner_takes_all",
      winner: isText(winner) ? winner : null,
      deciding_rules: itemsOf(deciding, isText),
    },
    predicate_traces: itemsOf(given["predicate_traces"], isTrace),
    errored_predicates: itemsOf(given["errored_predicates"], isErrored),
    request_id: isText(given["request_id"]) ? given["request_id"] : lost,
    request_time: isText(given["request_time"]) ? given["request_time"] : lost,
  };
}

const isSuppressed = shaped<{ readonly rule: string; readonly by: string }>({ rule: isText, by: isText });

const isTrace = shaped<PredicateTrace>({ rule: isText, status: isText, severity: isNumber, result: isTruth });

const isErrored = shaped<ErroredPredicate>({ source: isText, error: isText });
