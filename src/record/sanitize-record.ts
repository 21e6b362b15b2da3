import { provenanceFields } from "./record-json.js";
import {
  isTextList,
  isText,
  isBoolean,
  validItems,
  optional,
  hasShape,
  isNumber,
  validFields,
  isTextOrNull,
} from "./well-formed.js";
import type {
  Entity,
  InputSource,
  Lineage,
  LineageCondition,
  OverrideApplication,
  PolicyEvaluation,
  Precedent,
} from "../model/lineage.js";
import type { DecisionRecord, PolicyRecord } from "../model/record.js";
import type {
  Aggregate,
  Check,
  ConditionDetail,
  ConditionTrace,
  EvaluationDetails,
  EvaluatorDetail,
  ExpressionTrace,
  FieldTrace,
  NamedCondition,
  PolicyDetail,
  Result,
  RollDetails,
  ErroredPredicate,
  Evaluation,
  GateOutcome,
  PolicyOutcome,
  PredicateTrace,
  ScoredOutcome,
} from "../model/result.js";
import { isObject } from "../expression/equal.js";

/**
 * Returns a record without malformed parts, so that a damaged record can be explained. Well-formed parts are
 * unchanged.
 */
export function sanitizeRecord(record: PolicyRecord): PolicyRecord;
export function sanitizeRecord(record: DecisionRecord): DecisionRecord;
export function sanitizeRecord(record: DecisionRecord): DecisionRecord {
  const { lineage } = record as { readonly lineage?: unknown };
  const sanitized = {
    ...withoutMalformedFields(record),
    evaluation_details: sanitizeDetails(record.type, record.evaluation_details),
    guardrails: validItems(record.guardrails, isCheck),
    ...(lineage !== undefined && { lineage: sanitizeLineage(lineage) }),
  };
  switch (record.type) {
    case "scored":
      return { ...sanitized, ...sanitizeScoredOutcome(record) };
    case "policy":
      return { ...sanitized, ...sanitizePolicyOutcome(record), lineage: sanitizeLineage(lineage) };
    case "gate":
      return { ...sanitized, ...sanitizeGateOutcome(record) };
    default:
      return sanitized;
  }
}

const isCheck = hasShape<Check>({
  decision_id: optional(isText),
  check_name: isText,
  passed: isBoolean,
  message: isText,
  on_fail: optional((value) => value === "block" || value === "escalate" || value === "warn"),
});

const textFields: readonly string[] = [
  "decision_name",
  "decision_version",
  "cache_key",
  "cached_from",
  "answer_digest",
  "proposed_outcome",
  "proposed_status",
  ...provenanceFields,
];

const textListFields: readonly string[] = ["proposed_targets", "proposed_labels"];
const listFields: readonly string[] = ["outputs", "proposed_outputs"];

const isAggregate = hasShape<Aggregate>({
  function: isText,
  value: (value) => value !== undefined,
  of: Array.isArray,
});

/** Removes malformed optional fields. */
function withoutMalformedFields(record: DecisionRecord): DecisionRecord {
  const isMalformed = ([name, value]: readonly [string, unknown]): boolean =>
    (textFields.includes(name) && !isText(value)) ||
    (textListFields.includes(name) && !isTextList(value)) ||
    (listFields.includes(name) && !Array.isArray(value)) ||
    (name === "aggregate" && !isAggregate(value)) ||
    (name === "rules_total" && !Number.isSafeInteger(value));
  const entries = Object.entries(record);
  return entries.some(isMalformed)
    ? (Object.fromEntries(entries.filter((entry) => !isMalformed(entry))) as unknown as DecisionRecord)
    : record;
}

/** Keeps the details that are well-formed for the type of decision. */
function sanitizeDetails(type: Result["type"], details: unknown): EvaluationDetails {
  switch (type) {
    case "scored":
      return mapValues(validFields(details, isEvaluatorDetail), ({ rules, ...detail }) => ({
        ...detail,
        rules: validItems(rules, isEvaluatorRule).map((rule) => ({
          ...rule,
          conditions: validTraces(rule.conditions),
        })),
      }));
    case "policy":
      return mapValues(validFields(details, isPolicyDetail), (detail) => ({
        ...detail,
        conditions: validItems(detail.conditions, isNamedCondition),
      }));
    default:
      return isObject(details) && isNumber(details["total_weight"])
        ? sanitizeRoll(details)
        : validFields(details, isConditionDetail);
  }
}

function mapValues<Detail>(
  details: Readonly<Record<string, Detail>>,
  change: (detail: Detail) => Detail,
): Readonly<Record<string, Detail>> {
  return Object.fromEntries(Object.entries(details).map(([name, detail]) => [name, change(detail)]));
}

function sanitizeRoll({
  roll,
  total_weight,
  weights,
  conditions,
}: Readonly<Record<string, unknown>>): RollDetails {
  return {
    ...(isNumber(roll) && { roll }),
    total_weight: total_weight as number,
    weights: validFields(weights, isNumber),
    ...(isObject(conditions) && { conditions: validFields(conditions, isConditionDetail) }),
  };
}

const isConditionDetail = hasShape<ConditionDetail>({
  condition: isText,
  result: isBoolean,
  error: optional(isText),
});

const isPolicyDetail = hasShape<PolicyDetail>({
  version: isText,
  result: isBoolean,
  left_out: optional(isText),
  reason: optional(isText),
  overridden_by: optional(isText),
  changed_by: optional(isTextList),
  overrides: optional(isTextList),
});

const isNamedCondition = hasShape<NamedCondition>({
  name: isText,
  expression: isText,
  result: isBoolean,
  error: optional(isText),
});

const isEvaluatorDetail = hasShape<EvaluatorDetail>({ result: isBoolean, error: optional(isText) });

const isEvaluatorRule = hasShape<EvaluatorDetail["rules"][number]>({ rule_id: isText });

const validTraces = (value: unknown): readonly ConditionTrace[] =>
  validItems(value, (item): item is ConditionTrace => isExpressionTrace(item) || isFieldTrace(item));

const isExpressionTrace = hasShape<ExpressionTrace>({
  expression: isText,
  result: isBoolean,
  error: optional(isText),
});

const isFieldTrace = hasShape<FieldTrace>({
  field: isText,
  operator: isText,
  expected: (value) => value !== undefined,
  result: isBoolean,
  note: optional(isText),
});

/** Keeps the well-formed parts of a lineage; old records have none, changed ones may contain anything. */
function sanitizeLineage(value: unknown): Lineage {
  const fields = isObject(value) ? value : {};
  const { entities, artifacts, param_names, inputs, conditions } = fields;
  const { policies, override, overrides, params_digest, precedents } = fields;
  return {
    entities: validItems(entities, isEntity),
    artifacts: validItems(artifacts, isText),
    ...(param_names !== undefined && { param_names: validItems(param_names, isText) }),
    inputs: validItems(inputs, isInputSource),
    conditions: validItems(conditions, isLineageCondition),
    policies: validItems(policies, isPolicyEvaluation),
    override: isOverrideApplication(override) ? override : null,
    ...(overrides !== undefined && { overrides: validItems(overrides, isOverrideApplication) }),
    params_digest: isText(params_digest) ? params_digest : null,
    precedents: validItems(precedents, isPrecedent),
  };
}

const isEntity = hasShape<Entity>({ type: isText, id: isText });

const isInputSource = hasShape<InputSource>({ source: isText, keys: isTextList });

const isLineageCondition = hasShape<LineageCondition>({
  policy: optional(isText),
  name: isText,
  expression: isText,
  result: isBoolean,
  inputs_used: isTextList,
});

const isPolicyEvaluation = hasShape<PolicyEvaluation>({
  name: isText,
  version: isText,
  base_decision: (value) => value === "allow" || value === "deny",
  denial_reason: isTextOrNull,
  override: isTextOrNull,
});

const isOverrideApplication = hasShape<OverrideApplication>({
  name: isText,
  version: isText,
  description: optional(isTextOrNull),
  decision: optional(isText),
  overrides: isTextList,
  condition: isTextOrNull,
  action: isText,
  reason: isText,
  expires_at: isTextOrNull,
});

const isPrecedent = hasShape<Precedent>({
  record_id: isText,
  similarity: isNumber,
  match_reason: isText,
  outcome_matched: isBoolean,
});

/** Replaces a malformed text. */
const lostText = "?";

function sanitizePolicyOutcome(value: Partial<PolicyOutcome>): Omit<PolicyOutcome, "params"> {
  const { tool, allowed, outcome, reason } = value;
  const isAllowed = allowed === true && outcome !== "denied";
  return {
    tool: isText(tool) ? tool : lostText,
    allowed: isAllowed,
    outcome: isAllowed ? (outcome === "allowed_by_exception" ? outcome : "allowed") : "denied",
    reason: isText(reason) ? reason : lostText,
  };
}

function sanitizeScoredOutcome(
  value: Partial<ScoredOutcome>,
): Pick<ScoredOutcome, "decision" | "confidence" | "evaluations" | "scoring_strategy"> {
  const { decision, confidence, evaluations, scoring_strategy } = value;
  return {
    decision: isText(decision) ? decision : lostText,
    confidence: isNumber(confidence) ? confidence : 0,
    evaluations: validItems(evaluations, isEvaluation),
    scoring_strategy: isText(scoring_strategy) ? scoring_strategy : lostText,
  };
}

const isEvaluation = hasShape<Evaluation>({
  decision: isText,
  weight: isNumber,
  reason: isText,
  evaluator_name: isText,
});

/** A gate with a malformed status is RED. */
function sanitizeGateOutcome({ status, work_frame, decision_metadata }: Partial<GateOutcome>): GateOutcome {
  return {
    status: isText(status) ? status : "RED",
    work_frame: isWorkFrame(work_frame) ? work_frame : closedWorkFrame,
    decision_metadata: sanitizeGateMetadata(decision_metadata),
  };
}

const isWorkFrame = hasShape<GateOutcome["work_frame"]>({
  mode: isText,
  next_action: isTextOrNull,
  allowed_actions: isTextList,
  forbidden_actions: isTextList,
  required_output: (value) => value !== undefined,
  missing_evidence: isTextList,
  next_human_owner: isTextOrNull,
});

const closedWorkFrame: GateOutcome["work_frame"] = {
  mode: "stop",
  next_action: null,
  allowed_actions: [],
  forbidden_actions: [],
  required_output: null,
  missing_evidence: [],
  next_human_owner: null,
};

function sanitizeGateMetadata(value: unknown): GateOutcome["decision_metadata"] {
  const fields = isObject(value) ? value : {};
  const {
    winner,
    deciding_rules: deciding,
    raised,
  } = isObject(fields["aggregation"]) ? fields["aggregation"] : {};
  return {
    matched_rules: validItems(fields["matched_rules"], isText),
    suppressed: validItems(fields["suppressed"], isSuppressed),
    aggregation: {
      mode: "winner_takes_all",
      winner: isText(winner) ? winner : null,
      deciding_rules: validItems(deciding, isText),
      ...(isRaised(raised) && { raised }),
    },
    predicate_traces: validItems(fields["predicate_traces"], isPredicateTrace),
    errored_predicates: validItems(fields["errored_predicates"], isErroredPredicate),
    ...(fields["limits"] !== undefined && { limits: validItems(fields["limits"], isNamedCondition) }),
    request_id: isText(fields["request_id"]) ? fields["request_id"] : lostText,
    request_time: isText(fields["request_time"]) ? fields["request_time"] : lostText,
  };
}

const isRaised = hasShape<NonNullable<GateOutcome["decision_metadata"]["aggregation"]["raised"]>>({
  from: isText,
  to: isText,
  reason: isText,
});

const isSuppressed = hasShape<{ readonly rule: string; readonly by: string }>({ rule: isText, by: isText });

const isPredicateTrace = hasShape<PredicateTrace>({
  rule: isText,
  status: isText,
  severity: isNumber,
  result: isBoolean,
});

const isErroredPredicate = hasShape<ErroredPredicate>({ source: isText, error: isText });
