import type { Endpoint, FetchErrorCode, FetchFailure } from "../model/endpoint.js";
import { formatTimestamp } from "../record/timestamp.js";
import type { Verdict } from "./circuit-breaker.js";
import { defaultTimeout } from "./endpoint-settings.js";
import type { Refusal } from "./endpoint-state.js";
import type { ExchangeOutcome } from "./exchange.js";
import type { Attempt } from "./retry.js";

export type FailedExchange = Exclude<ExchangeOutcome, { readonly kind: "answer" }>;

/** Judges the health of the service by the last attempt of a fetch. */
export function fetchVerdict(attempts: readonly Attempt[], timeout: number): Verdict {
  const last = attempts.at(-1);
  if (last === undefined) return "neither";
  // A fetch that mostly waited for the rate limit gave the service too little time to respond.
  const isTooShort = attempts.length === 1 && last.took < timeout / 2;
  return last.outcome.kind === "timeout" && isTooShort ? "neither" : exchangeVerdict(last.outcome);
}

/** A service that rejects our request is healthy. */
function exchangeVerdict(outcome: ExchangeOutcome): Verdict {
  switch (outcome.kind) {
    case "answer":
      return "success";
    case "refused":
      return "neither";
    case "timeout":
    case "network":
    case "broken":
      return "failure";
    case "status":
      return outcome.status >= 500 || overloadStatuses.has(outcome.status) ? "failure" : "success";
  }
}

const overloadStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** Describes a fetch whose attempts all failed by its last attempt. */
export function fetchFailure(attempts: readonly FailedExchange[], timeout: string): FetchFailure {
  const messages = attempts.map((attempt) => failureMessage(attempt, timeout));
  const last = attempts.at(-1);
  const message = messages.at(-1) ?? "";
  const code = last === undefined ? "request_failed" : failureCodes[last.kind];
  if (attempts.length <= 1 || code === "request_timeout") return { code, message };
  const isSame = messages.every((each) => each === message);
  return { code, message: `${message} (${attempts.length} ${isSame ? "times" : "attempts"})` };
}

const failureCodes: Readonly<Record<FailedExchange["kind"], FetchErrorCode>> = {
  status: "request_failed",
  broken: "request_failed",
  refused: "fetch_refused",
  timeout: "request_timeout",
  network: "network_failed",
};

function failureMessage(failed: FailedExchange, timeout: string): string {
  switch (failed.kind) {
    case "timeout":
      return `no response within ${timeout}`;
    case "status":
      return failed.status >= 300 && failed.status < 400
        ? `redirects are not followed (HTTP status ${failed.status})`
        : `HTTP status ${failed.status}`;
    case "refused":
    case "network":
    case "broken":
      return failed.message;
  }
}

/** Describes a fetch that the circuit breaker or the rate limit refused. */
export function refusalFailure({ rate_limit: limit, timeout }: Endpoint, refusal: Refusal): FetchFailure {
  if ("openUntil" in refusal) {
    const message = `its circuit is open until ${formatTimestamp(refusal.openUntil)}`;
    return { code: "circuit_open", message };
  }
  if ("unwritten" in refusal) return unwrittenFailures[refusal.unwritten];
  const { count = 0, per = "" } = limit ?? {};
  const message = `its rate limit of ${count} per ${per} is used up, with no free slot within ${timeout ?? defaultTimeout}`;
  return { code: "rate_limited", message };
}

/** A probe and a slot count only once other processes can see them. */
const unwrittenFailures: Readonly<Record<"probe" | "slot", FetchFailure>> = {
  probe: {
    code: "circuit_open",
    message: "its circuit is open, and a probe could not be written to the store",
  },
  slot: {
    code: "rate_limited",
    message: "the request could not be counted in the store, as its rate limit requires",
  },
};
