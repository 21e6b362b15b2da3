import type { ErrorCode } from "../errors.js";
import { DecisionError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { JsonObject } from "../model/json.js";

/** The details of an error that concern the request. */
const visibleDetailKeys = ["errors", "candidates", "scope", "way"];

/**
 * Messages that replace those of errors which only the operator can fix: the original may contain file names and
 * addresses, which clients must not see.
 */
const operatorOnlyMessages: Readonly<Partial<Record<ErrorCode, string>>> = {
  definition_invalid: "a required definition is not valid",
  definitions_missing: "the definitions cannot be read",
  expression_invalid: "a required definition is not valid",
  not_approved: "a required definition is not approved",
  file_exists: "a file could not be written",
  file_unreadable: "a file could not be read",
  file_unwritable: "a file could not be written",
  store_busy: "the store is busy",
  store_failed: "the store cannot be used",
  log_damaged: "the decision log is damaged",
};

type Transport = "http" | "mcp";

/** How a client lists the decisions. */
const listHints: Readonly<Record<Transport, string>> = {
  http: "`GET /decisions` lists all decisions",
  mcp: "the tool `list_decisions` lists all decisions",
};

/** Hints that replace those for the command line. */
const remoteHints: Readonly<Partial<Record<ErrorCode, string>>> = Object.fromEntries(
  [
    "fetch_refused",
    "request_failed",
    "network_failed",
    "circuit_open",
    "rate_limited",
    "request_timeout",
  ].map((code) => [code, "try again later; the operator of the server can check the endpoint"]),
);

/** Returns the error as clients may see it. */
export function visibleError(error: DecisionError, transport: Transport): DecisionError {
  const { code, message, hint } = error;
  const replacement = operatorOnlyMessages[code];
  if (replacement !== undefined) {
    return new DecisionError(code, replacement, {
      hint: "the operator of the server finds details in its log",
    });
  }
  const substitute = code === "definition_not_found" ? listHints[transport] : remoteHints[code];
  return new DecisionError(code, message, {
    hint: visibleHint(hint, substitute),
    details: visibleDetails(error),
  });
}

const commandLineAdvice = /`agent-33 |(?<![\w-])--[a-z]/;

/** Removes the parts of a hint that only help on the command line; returns the substitute if nothing is left. */
function visibleHint(hint: string | undefined, substitute: string | undefined): string | undefined {
  if (hint === undefined || !commandLineAdvice.test(hint)) return hint;
  const visible = hint.split("; ").filter((part) => !commandLineAdvice.test(part));
  return visible.length === 0 ? substitute : visible.join("; ");
}

/** Whether clients see a replacement, so that the log must have the original. */
export const isOperatorOnly = ({ code }: DecisionError): boolean => operatorOnlyMessages[code] !== undefined;

function visibleDetails({ details }: DecisionError): JsonObject | undefined {
  if (!isObject(details)) return undefined;
  const visible = Object.entries(details).filter(([key]) => visibleDetailKeys.includes(key));
  return visible.length === 0 ? undefined : Object.fromEntries(visible);
}
