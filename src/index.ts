/// <reference types="node" preserve="true" />
import type { ReplayOptions, ReplayedDecision } from "./replay/replay-payload.js";
import { replayPayload } from "./replay/replay-payload.js";

export type { ApprovalConfiguration, Composed, Configuration, GateKey } from "./compose.js";
export { compose, openSystemStore as openStore } from "./compose.js";
export type { DataEnrichmentOptions } from "./enrichment-client.js";
export { dataEnrichmentClient } from "./enrichment-client.js";
export type { CheckRequest, CheckResult } from "./decide/check.js";
export type { DecisionRequest } from "./decide/decide.js";
export type { LineageOptions } from "./decide/request.js";
export type {
  AuditAdapter,
  ScoredAgent,
  ScoredAgentOptions,
  ScoredAgentRequest,
} from "./decide/scored-agent.js";
export { scoredAgent } from "./decide/scored-agent.js";
export type { ToolResult, ToolResultRequest } from "./decide/tool-result.js";
export { canonicalJson } from "./digest/canonical-json.js";
export type { CircuitBreaker, CircuitBreakerOptions } from "./enrichment/circuit-breaker.js";
export { circuitBreaker } from "./enrichment/circuit-breaker.js";
export type { DataEnrichmentClient } from "./enrichment/client.js";
export type { ErrorCode } from "./errors.js";
export { DecisionError } from "./errors.js";
export {
  CircuitOpenError,
  InvalidAuditAdapterError,
  InvalidConfidenceError,
  InvalidConfigurationError,
  InvalidEvaluatorError,
  InvalidRuleDslError,
  InvalidScoringStrategyError,
  InvalidWeightError,
  NetworkError,
  NoEvaluationsError,
  ReplayMismatchError,
  RequestError,
  TimeoutError,
} from "./errors.js";
export type { Evaluated, Prepared } from "./evaluate/evaluate.js";
export { evaluate } from "./evaluate/evaluate.js";
export { prepare } from "./evaluate/prepare.js";
export { validateEvaluation as evaluation } from "./evaluate/scored/evaluation.js";
export type { CustomVote, EvaluationGiven, Evaluator, ScoringPlugIn } from "./evaluate/scored/plug-ins.js";
export type { Expression } from "./expression/compile.js";
export { compile } from "./expression/compile.js";
export { Failure } from "./expression/failure.js";
export type { ValidationOptions } from "./guard/guard.js";
export { validateDecision } from "./guard/guard.js";
export type { Assessment, Deviation } from "./model/assessment.js";
export type { AssessmentOptions } from "./lineage/deviations.js";
export { assessConsistency } from "./lineage/deviations.js";
export type { Traits as PrecedentTraits } from "./lineage/precedents.js";
export { precedentSimilarity, precedentTraits } from "./lineage/precedents.js";
export type {
  AggregateFunction,
  Answer,
  Case,
  CustomEvaluatorDefinition,
  DecisionType,
  Definition,
  EvaluatorDefinition,
  GateDefinition,
  GateRule,
  Guardrail,
  HitPolicy,
  LoadedDefinition,
  Observer,
  Policy,
  PolicyDefinition,
  RoutingDefinition,
  RuleCondition,
  ScoredDefinition,
  Scoring,
  Status,
  Target,
} from "./model/definition.js";
export type { Endpoint, Endpoints, Enrichment } from "./model/endpoint.js";
export type { Json, JsonObject } from "./model/json.js";
export type { Diagnostic as Problem } from "./model/diagnostic.js";
export type { Entity, Lineage } from "./model/lineage.js";
export type {
  Actor,
  AssessmentRecord,
  AuthenticatedCaller,
  DecisionRecord,
  LogRecord,
  NoteRecord,
  Provenance,
  ToolResultRecord,
} from "./model/record.js";
export type { Ledger, LogLine, Prunable, Query, Shelf, Store, Tally, TimeRange } from "./model/store.js";
export type { StoreConfiguration } from "./store/open-store.js";
export type {
  Aggregate,
  AuditPayload,
  Check,
  ConditionDetail,
  Evaluation,
  EvaluationDetails,
  GateResult,
  PolicyResult,
  Result,
  RollDetails,
  RoutingResult,
  ScoredDecision,
  ScoredResult,
  WorkFrame,
} from "./model/result.js";
export type { Scope } from "./model/scope.js";
export type { Comparison, Difference } from "./replay/replay-payload.js";
export { compareWithPayload } from "./replay/replay-payload.js";
export type { ReplayOptions } from "./replay/replay-payload.js";
export type { ReplayedDecision, ReplayedPayload } from "./replay/replay-payload.js";
export { version } from "./version.js";

/**
 * Replays a scored decision from its audit payload. Throws where the payload is malformed and, in strict mode,
 * where the result differs. Warnings go to `warn`, by default standard error.
 */
export function replay(payload: unknown, options: Partial<ReplayOptions> = {}): ReplayedDecision {
  const { strict = true, warn = (text) => process.stderr.write(`${text}\n`), strategies = [] } = options;
  return replayPayload(payload, { strict, warn, strategies });
}
