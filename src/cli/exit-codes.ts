import type { ErrorCode } from "../errors.js";
import type { Result } from "../model/result.js";

/** The exit codes and their meanings, as `agent-33 help exit-codes` prints them. */
export const exitCodes = [
  {
    code: 0,
    means:
      "success; check: allowed; gate: GREEN or GREEN-SKIP; --inputs: every line succeeded; serve: stopped by SIGTERM",
  },
  {
    code: 1,
    means:
      "failure: the decision could not be recorded, a condition failed under --strict, no evaluator voted, a hit policy was violated, an output could not be evaluated, a cycle of decisions with --follow, required data could not be fetched, a record could not be replayed, a line of --inputs failed, the store or a definition could not be read or written, the log is damaged, or a bug in agent-33",
  },
  {
    code: 2,
    means:
      "usage error: an invalid flag or JSON, unreadable input, an unknown id or record, a missing directory, or a destructive command without --yes",
  },
  {
    code: 3,
    means:
      "invalid or unapproved definition, a definition file that keeps changing, or invalid directory-wide guardrails or masks; check: any invalid policy, or no policy at all; gate: any invalid gate of the action; validate: no definitions at all, without --allow-empty, or a warning with --strict; test: an invalid test; fmt: a file that is not valid YAML",
  },
  { code: 4, means: "blocked by a guardrail, denied by a policy, or a RED gate" },
  { code: 5, means: "review needed: a YELLOW gate" },
  {
    code: 6,
    means:
      "check failed: verify or import found changes in the log or export, distribution --check an unlikely split, replay a different result, backtest more changes than --max-change, precedents --check a deviation, one of these four a damaged log, endpoints --check an endpoint that does not respond, diff --check a change, test a failed test or too low a coverage or mutation score, analyze --check a finding, compare --check definitions that are not proven equivalent, fmt --check a file that is not formatted; or a check had nothing to check, without --allow-empty",
  },
  { code: 130, means: "interrupted" },
] as const;

export type ExitCode = (typeof exitCodes)[number]["code"];

const exitCodesByError: Readonly<Record<ErrorCode, ExitCode>> = {
  usage: 2,
  input_invalid: 2,
  definition_not_found: 2,
  definitions_missing: 2,
  file_exists: 2,
  definition_invalid: 3,
  expression_invalid: 3,
  condition_errored: 1,
  hit_policy_violated: 1,
  output_errored: 1,
  decision_cycle: 1,
  file_unreadable: 1,
  file_unwritable: 1,
  record_not_found: 2,
  store_busy: 1,
  store_failed: 1,
  log_damaged: 1,
  no_evaluations: 1,
  invalid_weight: 1,
  invalid_confidence: 1,
  invalid_rule_dsl: 2,
  invalid_configuration: 2,
  invalid_evaluator: 1,
  invalid_scoring_strategy: 1,
  invalid_audit_adapter: 1,
  replay_mismatch: 6,
  nothing_to_check: 6,
  not_replayable: 1,
  not_approved: 3,
  forbidden: 2,
  fetch_refused: 1,
  request_failed: 1,
  request_timeout: 1,
  network_failed: 1,
  circuit_open: 1,
  rate_limited: 1,
};

export function exitCodeOf(code: ErrorCode): ExitCode {
  return exitCodesByError[code];
}

export function resultExitCode(result: Result): ExitCode {
  if (result.blocked) return 4;
  if (result.type === "policy") return result.allowed ? 0 : 4;
  if (result.type !== "gate") return 0;
  switch (result.status) {
    case "GREEN":
    case "GREEN-SKIP":
      return 0;
    case "YELLOW":
      return 5;
    case "RED":
      return 4;
  }
}
