/** Every way an expected failure is named; scripts may rely on these. */
export type ErrorCode =
  | "usage"
  | "input_invalid"
  | "definition_not_found"
  | "definition_invalid"
  | "definitions_missing"
  | "expression_invalid"
  | "condition_errored"
  | "hit_policy_violated"
  | "way_endless"
  | "file_exists"
  | "file_unreadable"
  | "file_unwritable"
  | "record_not_found"
  | "store_busy"
  | "store_failed"
  | "log_damaged"
  | "no_evaluations"
  | "invalid_weight"
  | "invalid_confidence"
  | "invalid_rule_dsl"
  | "invalid_configuration"
  | "invalid_evaluator"
  | "invalid_scoring_strategy"
  | "invalid_audit_adapter"
  | "replay_mismatch"
  | "not_approved"
  | "forbidden"
  | "fetch_refused"
  | "request_failed"
  | "request_timeout"
  | "network_failed"
  | "circuit_open"
  | "rate_limited";

export interface ErrorOptions {
  readonly hint?: string | undefined;
  readonly details?: unknown;
  readonly cause?: unknown;
}

/** A failure that a user can act on; anything else that is thrown is a bug of ours. */
export class DecisionError extends Error {
  override readonly name: string = "DecisionError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
  }
}
