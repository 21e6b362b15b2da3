import type { ErrorCode } from "../errors.js";
import { DecisionError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";

/** Of the details of an error, those that are about the request. */
const visibleDetailKeys = ["errors", "candidates", "scope", "way"];

/** What only the operator can mend: it may name files and addresses, which is nobody's business on the other side. */
const operatorOnlyMessages: Readonly<Partial<Record<ErrorCode, string>>> = {
  definition_invalid: "a definition that this rests on is not valid",
  definitions_missing: "the definitions cannot be read",
  expression_invalid: "a definition that this rests on is not valid",
  not_approved: "what this rests on is not approved",
  file_exists: "a file could not be written",
  file_unreadable: "a file could not be read",
  file_unwritable: "a file could not be written",
  store_busy: "the store is busy",
  store_failed: "the store cannot be used",
  log_damaged: "the log of decisions is damaged",
};

/** What to do instead of what a hint says to whoever types commands. */
const remoteHints: Readonly<Partial<Record<ErrorCode, string>>> = {
  definition_not_found: "`GET /decisions`, over MCP `list_decisions`, tells what is defined",
  ...Object.fromEntries(
    [
      "fetch_refused",
      "request_failed",
      "network_failed",
      "circuit_open",
      "rate_limited",
      "request_timeout",
    ].map((code) => [code, "try again later; whoever runs the server can look after the endpoint"]),
  ),
};

/** The same error as the other side may know it. */
export function visibleError(error: DecisionError): DecisionError {
  const { code, message, hint } = error;
  const kept = operatorOnlyMessages[code];
  if (kept !== undefined) {
    return new DecisionError(code, kept, { hint: "whoever runs the server finds more in its log" });
  }
  return new DecisionError(code, message, { hint: visibleHint(hint, code), details: visibleDetails(error) });
}

const commandLineAdvice = /`agent-33 |(?<![\w-])--[a-z]/;

/** Without what only helps at the command line. */
function visibleHint(hint: string | undefined, code: ErrorCode): string | undefined {
  if (hint === undefined || !commandLineAdvice.test(hint)) return hint;
  const kept = hint.split("; ").filter((part) => !commandLineAdvice.test(part));
  return kept.length === 0 ? remoteHints[code] : kept.join("; ");
}

/** Whether more is known than the other side is told. */
export const isOperatorOnly = ({ code }: DecisionError): boolean => operatorOnlyMessages[code] !== undefined;

function visibleDetails({ details }: DecisionError): JsonObject | undefined {
  if (!isObject(details as Json)) return undefined;
  const kept = Object.entries(details as JsonObject).filter(([key]) => visibleDetailKeys.includes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
