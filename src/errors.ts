/** The codes of expected failures; scripts may rely on them. */
export type ErrorCode =
  | "usage"
  | "input_invalid"
  | "definition_not_found"
  | "definition_invalid"
  | "definitions_missing"
  | "expression_invalid"
  | "condition_errored"
  | "hit_policy_violated"
  | "output_errored"
  | "decision_cycle"
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
  | "nothing_to_check"
  | "not_replayable"
  | "not_approved"
  | "forbidden"
  | "fetch_refused"
  | "request_failed"
  | "request_timeout"
  | "network_failed"
  | "circuit_open"
  | "rate_limited";

interface ErrorOptions {
  readonly hint?: string | undefined;
  readonly details?: unknown;
  readonly cause?: unknown;
}

/** A failure that the user can act on. Anything else that is thrown is a bug. */
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

/** The JSON form of an error. */
interface ErrorDocument {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly details?: unknown;
  };
}

export function errorDocument({ code, message, hint, details }: DecisionError): ErrorDocument {
  return {
    error: { code, message, ...(hint !== undefined && { hint }), ...(details !== undefined && { details }) },
  };
}

/** How to fix errors of the file system, by their code; `it` is the path. */
const fileErrorHints: Readonly<Record<string, (it: string) => string>> = {
  EACCES: (it) => `check the owner and the permissions of ${it} and of the directories above it`,
  EPERM: (it) => `check the owner and the permissions of ${it} and of the directories above it`,
  EISDIR: (it) => `${it} is a directory; specify a file`,
  ENOTDIR: (it) => `a part of ${it} is a file, not a directory; choose another path`,
  ENOENT: (it) => `check the path ${it}`,
  ELOOP: (it) => `${it} is a symbolic link that leads back to itself; replace it`,
  ENAMETOOLONG: (it) => `${it} is too long; choose a shorter path`,
  EROFS: (it) => `the file system of ${it} is read-only; choose another directory`,
  ENOSPC: (it) => `free some space on the disk of ${it}`,
  EDQUOT: (it) => `free some space: the disk quota for ${it} is used up`,
  EFBIG: () => "raise the limit on the size of files (`ulimit -f`)",
  EMFILE: () => "raise the limit on open files (`ulimit -n`)",
  ENFILE: () => "close other programs: the system has too many open files",
  EIO: (it) => `the disk of ${it} has failed; check the log of the system`,
  EBUSY: (it) => `${it} is in use; try again`,
  ENXIO: (it) => `${it} is a pipe, a socket or a device; replace it by a file`,
};

/** Returns how to fix an error of the file system; undefined for other errors. */
export function fileErrorHint(error: unknown, path?: string): string | undefined {
  const { code = "", path: failedPath = path } = (error ?? {}) as NodeJS.ErrnoException;
  const hint = Object.hasOwn(fileErrorHints, code) ? fileErrorHints[code] : undefined;
  return hint?.(failedPath === undefined ? "the path" : `\`${failedPath}\``);
}

const readingCalls: ReadonlySet<string> = new Set(["access", "lstat", "open", "read", "scandir", "stat"]);

/** Returns an error of the file system as an error that the user can act on; undefined for other errors. */
export function toFileError(error: unknown): DecisionError | undefined {
  const hint = fileErrorHint(error);
  if (hint === undefined || error instanceof DecisionError) return undefined;
  const { code = "", message, path, syscall = "read" } = error as NodeJS.ErrnoException;
  const isRead = readingCalls.has(syscall) && !["EROFS", "ENOSPC", "EDQUOT", "EFBIG"].includes(code);
  const file = path === undefined ? "a file" : `\`${path}\``;
  return new DecisionError(
    isRead ? "file_unreadable" : "file_unwritable",
    `cannot ${isRead ? "read" : "write"} ${file}: ${message}`,
    { hint, cause: error },
  );
}

/** The weight of a vote is below 0 or above 1. */
export class InvalidWeightError extends DecisionError {
  override readonly name = "InvalidWeightError";
  constructor(weight: unknown) {
    super("invalid_weight", `Weight must be between 0.0 and 1.0, got: ${toText(weight)}`);
  }
}

/** The confidence of a decision is below 0 or above 1. */
export class InvalidConfidenceError extends DecisionError {
  override readonly name = "InvalidConfidenceError";
  constructor(confidence: unknown) {
    super("invalid_confidence", `Confidence must be between 0.0 and 1.0, got: ${toText(confidence)}`);
  }
}

function toText(value: unknown): string {
  try {
    return String(value);
  } catch {
    // `toString` may come from a document, or be missing.
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

/** An inconsistent configuration, for example an agent without evaluators. */
export class InvalidConfigurationError extends DecisionError {
  override readonly name = "InvalidConfigurationError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_configuration", message, options);
  }
}

/** A value that is not an evaluator, or an invalid answer of an evaluator. */
export class InvalidEvaluatorError extends DecisionError {
  override readonly name = "InvalidEvaluatorError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_evaluator", message, options);
  }
}

/** A value that is not a scoring strategy, or an invalid answer of one. */
export class InvalidScoringStrategyError extends DecisionError {
  override readonly name = "InvalidScoringStrategyError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_scoring_strategy", message, options);
  }
}

/** A value that is not an audit adapter. */
export class InvalidAuditAdapterError extends DecisionError {
  override readonly name = "InvalidAuditAdapterError";
  constructor(message: string, options: ErrorOptions = {}) {
    super("invalid_audit_adapter", message, options);
  }
}

/** A replay with another result. */
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

interface RequestErrorOptions extends ErrorOptions {
  readonly code?: ErrorCode;
  readonly status?: number | undefined;
}

/** A request to an endpoint failed. */
export class RequestError extends DecisionError {
  override readonly name: string = "RequestError";
  /** The HTTP status; undefined where the status is not the problem. */
  readonly status: number | undefined;

  constructor(message: string, { code = "request_failed", status, ...options }: RequestErrorOptions = {}) {
    super(code, message, options);
    this.status = status;
  }
}

/** The circuit of an endpoint is open after repeated failures. */
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
