import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../src/errors.js";
import {
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
  DecisionError,
} from "../src/errors.js";
import * as library from "../src/index.js";

const mismatch = {
  expected: { decision: "approve", confidence: 0.75 },
  actual: { decision: "reject", confidence: 0.82 },
  differences: ["decision mismatch (expected: approve, got: reject)", "confidence mismatch"],
};

interface Case {
  readonly name: keyof typeof library;
  readonly error: DecisionError;
  readonly code: ErrorCode;
  readonly message: string;
}

const cases: readonly Case[] = [
  {
    name: "InvalidWeightError",
    error: new InvalidWeightError(1.5),
    code: "invalid_weight",
    message: "Weight must be between 0.0 and 1.0, got: 1.5",
  },
  {
    name: "InvalidConfidenceError",
    error: new InvalidConfidenceError(-0.1),
    code: "invalid_confidence",
    message: "Confidence must be between 0.0 and 1.0, got: -0.1",
  },
  {
    name: "NoEvaluationsError",
    error: new NoEvaluationsError(),
    code: "no_evaluations",
    message: "No evaluators returned a decision",
  },
  {
    name: "InvalidRuleDslError",
    error: new InvalidRuleDslError("Audit payload missing required key: context"),
    code: "invalid_rule_dsl",
    message: "Audit payload missing required key: context",
  },
  {
    name: "InvalidConfigurationError",
    error: new InvalidConfigurationError("no evaluators"),
    code: "invalid_configuration",
    message: "no evaluators",
  },
  {
    name: "InvalidEvaluatorError",
    error: new InvalidEvaluatorError("no evaluator"),
    code: "invalid_evaluator",
    message: "no evaluator",
  },
  {
    name: "InvalidScoringStrategyError",
    error: new InvalidScoringStrategyError("no strategy"),
    code: "invalid_scoring_strategy",
    message: "no strategy",
  },
  {
    name: "InvalidAuditAdapterError",
    error: new InvalidAuditAdapterError("no adapter"),
    code: "invalid_audit_adapter",
    message: "no adapter",
  },
  {
    name: "ReplayMismatchError",
    error: new ReplayMismatchError(mismatch),
    code: "replay_mismatch",
    message:
      "Replay mismatch detected: decision mismatch (expected: approve, got: reject); confidence mismatch",
  },
  {
    name: "RequestError",
    error: new RequestError("HTTP status 503", { status: 503 }),
    code: "request_failed",
    message: "HTTP status 503",
  },
  {
    name: "CircuitOpenError",
    error: new CircuitOpenError("its circuit is open"),
    code: "circuit_open",
    message: "its circuit is open",
  },
  {
    name: "TimeoutError",
    error: new TimeoutError("it did not answer"),
    code: "request_timeout",
    message: "it did not answer",
  },
  {
    name: "NetworkError",
    error: new NetworkError("it was not reached"),
    code: "network_failed",
    message: "it was not reached",
  },
];

describe("an error of the contract", () => {
  it.each(cases)("is a DecisionError: $name", ({ name, error, code, message }) => {
    expect(error).toBeInstanceOf(DecisionError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(library[name] as typeof DecisionError);
    expect({ name: error.name, code: error.code, message: error.message }).toEqual({ name, code, message });
    expect(error.stack).toContain(`${name}: ${message}`);
  });

  it.each(["a string", null, undefined, Number.NaN, Symbol("s"), [0.5]])(
    "shows a weight or confidence that is no number: %s",
    (given) => {
      expect(new InvalidWeightError(given).message).toBe(
        `Weight must be between 0.0 and 1.0, got: ${String(given)}`,
      );
      expect(new InvalidConfidenceError(given).message).toBe(
        `Confidence must be between 0.0 and 1.0, got: ${String(given)}`,
      );
    },
  );

  it.each([JSON.parse('{ "toString": 1, "valueOf": 1 }'), Object.create(null)])(
    "shows a weight or confidence that cannot be made text (%#)",
    (given) => {
      expect(new InvalidWeightError(given).message).toBe(
        "Weight must be between 0.0 and 1.0, got: an object",
      );
    },
  );

  it.each([
    (options: object) => new NoEvaluationsError("m", options),
    (options: object) => new InvalidRuleDslError("m", options),
    (options: object) => new InvalidConfigurationError("m", options),
    (options: object) => new InvalidEvaluatorError("m", options),
    (options: object) => new InvalidScoringStrategyError("m", options),
    (options: object) => new InvalidAuditAdapterError("m", options),
    (options: object) => new RequestError("m", options),
    (options: object) => new CircuitOpenError("m", options),
    (options: object) => new TimeoutError("m", options),
    (options: object) => new NetworkError("m", options),
  ])("carries a hint, details and a cause where it was given them (%#)", (make) => {
    const cause = new Error("why");
    expect(make({ hint: "h", details: { a: 1 }, cause })).toMatchObject({
      message: "m",
      hint: "h",
      details: { a: 1 },
      cause,
    });
  });
});

describe("a RequestError", () => {
  it("tells the status, where there was one", () => {
    expect(new RequestError("m", { status: 404 }).status).toBe(404);
    expect(new RequestError("m").status).toBeUndefined();
  });

  it("is what an open circuit raises, without a status", () => {
    const error = new CircuitOpenError("m");
    expect(error).toBeInstanceOf(RequestError);
    expect(error.status).toBeUndefined();
  });

  it("may have another code", () => {
    expect(new RequestError("m", { code: "rate_limited" }).code).toBe("rate_limited");
  });
});

describe("a ReplayMismatchError", () => {
  it("tells what was expected, what came and how they differ", () => {
    const error = new ReplayMismatchError(mismatch);
    const { expected, actual, differences } = error;
    expect({ expected, actual, differences }).toEqual(mismatch);
  });

  it("carries the same in its details, as JSON errors show them", () => {
    expect(new ReplayMismatchError(mismatch).details).toEqual(mismatch);
  });
});

describe("a DecisionError", () => {
  it("has a code and a message, and nothing else unless told", () => {
    const error = new DecisionError("usage", "no such flag");
    const { name, code, message, hint, details } = error;
    expect({ name, code, message, hint, details }).toEqual({
      name: "DecisionError",
      code: "usage",
      message: "no such flag",
      hint: undefined,
      details: undefined,
    });
    expect(error).not.toHaveProperty("cause");
  });

  it("carries a hint, details and the cause", () => {
    const cause = new Error("disk full");
    expect(new DecisionError("store_failed", "m", { hint: "h", details: [1], cause })).toMatchObject({
      hint: "h",
      details: [1],
      cause,
    });
  });

  it("keeps a cause that is falsy but there", () => {
    expect(new DecisionError("usage", "m", { cause: null }).cause).toBeNull();
  });
});
