import type { ErrorCode } from "../../errors.js";
import { DecisionError, toFileError } from "../../errors.js";
import type { Unauthenticated } from "../auth/authenticate.js";
import { visibleError } from "../visible-error.js";

/** An error response as in RFC 9457. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly hint?: string;
  /** The problems of the request, one by one. */
  readonly errors?: unknown;
}

export const problemContentType = "application/problem+json; charset=utf-8";

const statusTitles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};

interface ProblemOptions {
  readonly code: string;
  readonly hint?: string | undefined;
  readonly errors?: unknown;
}

export function createProblem(
  status: number,
  detail: string,
  { code, hint, errors }: ProblemOptions,
): ProblemDocument {
  return {
    type: `urn:agent-33:problem:${code}`,
    title: titleOf(status),
    status,
    detail,
    code,
    ...(hint !== undefined && { hint }),
    ...(errors !== undefined && { errors }),
  };
}

/** 4xx: the client must change the request. 5xx: the operator must fix the definitions, the store or an endpoint. */
const statusByCode: Readonly<Record<ErrorCode, number>> = {
  usage: 400,
  input_invalid: 400,
  forbidden: 403,
  definition_not_found: 404,
  record_not_found: 404,
  condition_errored: 422,
  hit_policy_violated: 422,
  output_errored: 422,
  decision_cycle: 422,
  no_evaluations: 422,
  invalid_weight: 422,
  invalid_confidence: 422,
  invalid_rule_dsl: 422,
  invalid_configuration: 422,
  invalid_evaluator: 422,
  invalid_scoring_strategy: 422,
  invalid_audit_adapter: 422,
  replay_mismatch: 422,
  nothing_to_check: 422,
  not_replayable: 422,
  definition_invalid: 503,
  definitions_missing: 503,
  expression_invalid: 503,
  not_approved: 503,
  file_exists: 503,
  file_unreadable: 503,
  file_unwritable: 503,
  store_busy: 503,
  store_failed: 503,
  log_damaged: 503,
  fetch_refused: 502,
  request_failed: 502,
  network_failed: 502,
  circuit_open: 503,
  rate_limited: 503,
  request_timeout: 504,
};

interface FrameworkError {
  readonly statusCode?: number;
  readonly code?: string;
  readonly message?: string;
}

/** Configured limits, for hints. */
interface ServerLimits {
  readonly maxBodyBytes?: number;
}

/** Converts any error: an expected one, one of the web framework, or a bug. */
export function problemFromError(thrown: unknown, limits: ServerLimits = {}): ProblemDocument {
  const error = toFileError(thrown) ?? thrown;
  if (error instanceof DecisionError) return problemFromDecisionError(error);
  const { statusCode, code, message } = (error ?? {}) as FrameworkError;
  if (statusCode !== undefined && statusCode < 500) {
    const hint = frameworkHint(statusCode, limits);
    const detail = frameworkMessages[code ?? ""] ?? message ?? "the request is invalid";
    return createProblem(statusCode, detail, { code: codeOfStatus(statusCode), hint });
  }
  return createProblem(500, "this is a bug in agent-33, not in the request", { code: "bug" });
}

function problemFromDecisionError(error: DecisionError): ProblemDocument {
  const { code, message, hint, details } = visibleError(error, "http");
  const { errors, candidates } = (details ?? {}) as Partial<Record<string, unknown>>;
  return createProblem(statusByCode[code], message, { code, hint, errors: errors ?? candidates });
}

function frameworkHint(status: number, { maxBodyBytes }: ServerLimits): string | undefined {
  if (status === 415) return "send JSON with `content-type: application/json`";
  if (status !== 413 || maxBodyBytes === undefined) return undefined;
  return `send at most ${maxBodyBytes} bytes; the server option --max-body sets this limit`;
}

const frameworkMessages: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "the body is too large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "the body must be JSON",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "the length of the body differs from `content-length`",
  FST_ERR_BAD_URL: "the path contains an invalid escape",
  FST_ERR_MAX_PARAM_LENGTH: "the path contains an id that is too long",
};

export function titleOf(status: number): string {
  return statusTitles[status] ?? "Error";
}

export function codeOfStatus(status: number): string {
  return titleOf(status).toLowerCase().replaceAll(" ", "_");
}

/** A request rejected by the HTTP layer: by authentication, origin, rate or route. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly document: ProblemDocument;
  readonly headers: Readonly<Record<string, string>>;

  constructor(document: ProblemDocument, headers: Readonly<Record<string, string>> = {}) {
    super(document.detail);
    this.document = document;
    this.headers = headers;
  }
}

/** Without a token, the challenge has no error code, as RFC 6750 requires. */
export function unauthenticated({ status, error, message, hint }: Unauthenticated): HttpError {
  if (status === 503) {
    return new HttpError(createProblem(503, message, { code: "keys_unavailable", hint }), {
      "retry-after": "5",
    });
  }
  const challenge = `Bearer realm="agent-33"${error === undefined ? "" : `, error="${error}", error_description="${message}"`}`;
  return new HttpError(createProblem(401, message, { code: "unauthorized", hint }), {
    "www-authenticate": challenge,
  });
}

export function tooManyRequests(scope: string, seconds: number): HttpError {
  return new HttpError(
    createProblem(429, `too many requests ${scope}`, {
      code: "too_many_requests",
      hint: `try again in ${seconds} s`,
    }),
    { "retry-after": String(seconds) },
  );
}

export const overloaded = (): HttpError =>
  new HttpError(
    createProblem(503, "the server is processing too many requests", {
      code: "overloaded",
      hint: "try again in 1 s",
    }),
    { "retry-after": "1" },
  );
