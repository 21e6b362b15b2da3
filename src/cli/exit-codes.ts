import type { ErrorCode } from "../errors.js";

/** What scripts can tell from the exit code alone. */
export const exitCodes = [
  { code: 0, means: "done: routed, allowed, GREEN or GREEN-SKIP" },
  {
    code: 1,
    means:
      "failed: store, network, a condition under --strict, no votes, a hit policy violated, a bad line of --inputs, or a bug of ours",
  },
  {
    code: 2,
    means:
      "the request is wrong: a flag, the JSON, an unknown id or record, a destructive command without --yes",
  },
  { code: 3, means: "a definition is invalid or not approved" },
  { code: 4, means: "blocked, denied or RED" },
  { code: 5, means: "to be reviewed: YELLOW" },
  { code: 6, means: "a mismatch: replay, verify, test, --check, --max-change" },
  { code: 130, means: "interrupted" },
] as const;

export type ExitCode = (typeof exitCodes)[number]["code"];

const byError: Readonly<Record<ErrorCode, ExitCode>> = {
  usage: 2,
  input_invalid: 2,
  definition_not_found: 2,
  definitions_missing: 2,
  file_exists: 2,
  definition_invalid: 3,
  expression_invalid: 3,
  condition_errored: 1,
  hit_policy_violated: 1,
  file_unreadable: 1,
  file_unwritable: 1,
};

export function exitCodeOf(code: ErrorCode): ExitCode {
  return byError[code];
}
