import type { ErrorCode } from "../errors.js";
import type { Result } from "../model/result.js";

/** What scripts can tell from the exit code alone. */
export const exitCodes = [
  {
    code: 0,
    means:
      "done; of a call: allowed; of a gate: GREEN or GREEN-SKIP; with --inputs: every line was answered; of serve: ended by SIGTERM",
  },
  {
    code: 1,
    means:
      "failed: the decision could not be recorded, a condition under --strict, no evaluator voted, a hit policy violated, a way followed in a circle, data that it needs did not come, a named record that cannot be replayed, a bad line of --inputs, a store or definition that cannot be read or written, a damaged log, or a bug of ours",
  },
  {
    code: 2,
    means:
      "the request is wrong: a flag, the JSON, an input that cannot be read, an unknown id or record, a directory that is not there, something destructive without --yes",
  },
  {
    code: 3,
    means:
      "a definition is invalid or not approved, or a guardrail for all; of a call: any policy is; of a gate: one of the action is",
  },
  { code: 4, means: "blocked by a guardrail, denied, or a gate is RED" },
  { code: 5, means: "to be reviewed: a gate is YELLOW" },
  {
    code: 6,
    means:
      "a mismatch: verify found the log or an export changed, distribution --check an unlikely split, replay another answer, backtest more changes than --max-change, precedents --check a deviation, endpoints --check one that does not answer, diff --check a change",
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

/** What a script can tell of a decision from the exit code alone. */
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
