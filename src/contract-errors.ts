import type { ErrorCode, ErrorOptions } from "./errors.js";
import { DecisionError } from "./errors.js";

/** The weight of a vote is below 0 or above 1. */
export class InvalidWeightError extends DecisionError {
  override readonly name = "InvalidWeightError";
  constructor(weight: unknown) {
    super("invalid_weight", `Weight must be between 0.0 and 1.0, got: ${shown(weight)}`);
  }
}

/** The confidence of a decision is below 0 or above 1. */
export class InvalidConfidenceError extends DecisionError {
  override readonly name = "InvalidConfidenceError";
  constructor(confidence: unknown) {
    super("invalid_confidence", `Confidence must be between 0.0 and 1.0, got: ${shown(confidence)}`);
  }
}

function shown(value: unknown): string {
  try {
    return String(value);
  } catch {
    // Its `toString` is whatever a document says it is, or it has none.
    return "an object";
  }
}

/** No evaluator returned a decision. */
export class NoEvaluationsError extends DecisionError {
  override readonly name = "NoEvaluationsError";
  constructor(message = "No evaluators returned a decision", options: ErrorOptions = {}) {
    super("no_evaluations", message, options);
  }
}

/** Malformed rules, or a payload without a field that it must have. */
export class InvalidRuleDslError extends DecisionError {
  override readonly name = "InvalidRuleDslError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_rule_dsl", message, options);
  }
}

/** What does not fit together, such as an agent without evaluators. */
export class InvalidConfigurationError extends DecisionError {
  override readonly name = "InvalidConfigurationError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_configuration", message, options);
  }
}

/** Something that is no evaluator, or an answer that no evaluator may give. */
export class InvalidEvaluatorError extends DecisionError {
  override readonly name = "InvalidEvaluatorError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_evaluator", message, options);
  }
}

/** Something that is no scoring strategy, or an answer that none may give. */
export class InvalidScoringStrategyError extends DecisionError {
  override readonly name = "InvalidScoringStrategyError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_scoring_strategy", message, options);
  }
}

/** Something that cannot be told of decisions. */
export class InvalidAuditAdapterError extends DecisionError {
  override readonly name = "InvalidAuditAdapterError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_audit_adapter", message, options);
  }
}

/** A replay that came to something else. */
export class ReplayMismatchError extends DecisionError {
  override readonly name = "ReplayMismatchError";
  readonly expected: Readonly<Record<string, unknown>>;
  readonly actual: Readonly<Record<string, unknown>>;
  readonly differences: readonly string[];

  constructor(mismatch: {
    readonly expected: Readonly<Record<string, unknown>>;
    readonly actual: Readonly<Record<string, unknown>>;
    readonly differences: readonly string[];
  }) {
    const { expected, actual, differences } = mismatch;
    super("replay_mismatch", `Replay mismatch detected: ${differences.join("; ")}`, {
      details: { expected, actual, differences },
    });
    this.expected = expected;
    this.actual = actual;
    this.differences = differences;
  }
}

export interface RequestErrorOptions extends ErrorOptions {
  readonly code?: ErrorCode;
  readonly status?: number | undefined;
}

/** An endpoint did not give what it was asked for. */
export class RequestError extends DecisionError {
  override readonly name: string = "RequestError";
  /** What it answered with; undefined: with none that would be bad. */
  readonly status: number | undefined;

  constructor(message: string, { code = "request_failed", status, ...options }: RequestErrorOptions = {}) {
    super(code, message, options);
    this.status = status;
  }
}

/** An endpoint failed so often that it is not asked for a while. */
export class CircuitOpenError extends RequestError {
  override readonly name = "CircuitOpenError";
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, code: "circuit_open" });
  }
}

/** An endpoint did not answer in time. */
export class TimeoutError extends DecisionError {
  override readonly name = "TimeoutError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("request_timeout", message, options);
  }
}

/** An endpoint could not be reached. */
export class NetworkError extends DecisionError {
  override readonly name = "NetworkError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("network_failed", message, options);
  }
}
