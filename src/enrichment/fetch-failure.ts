import type { Endpoint, FetchErrorCode, FetchFailure } from "../model/endpoint.js";
import { formatTimestamp } from "../record/timestamp.js";
import type { Attempt } from "./retry.js";
import type { Verdict } from "./circuit-breaker.js";
import { defaultTimeout } from "./endpoint-settings.js";
import type { ExchangeOutcome } from "./exchange.js";
import type { Refusal } from "./endpoint-state.js";

/** An exchange that brought no data. */
export type FailedExchange = Exclude<ExchangeOutcome, { readonly kind: "answer" }>;

/** What a fetch tells about the service: the last of its attempts does. */
export function fetchVerdict(attempts: readonly Attempt[], timeout: number): Verdict {
  const last = attempts.at(-1);
  if (last === undefined) return "neither";
  // One that waited for its turn most of the time has given the service too little of it.
  const isHasty = attempts.length === 1 && last.took < timeout / 2;
  return last.exchanged.kind === "timeout" && isHasty ? "neither" : exchangeVerdict(last.exchanged);
}

/** One that finds fault with our request is alive. */
function exchangeVerdict(exchanged: ExchangeOutcome): Verdict {
  switch (exchanged.kind) {
    case "answer":
      return "success";
    case "refused":
      return "neither";
    case "timeout":
    case "network":
    case "broken":
      return "failure";
    case "status":
      return exchanged.status >= 500 || overloadStatuses.has(exchanged.status) ? "failure" : "success";
  }
}

const overloadStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** What is said of a fetch whose attempts all failed; the last one tells why. */
export function fetchFailure(attempts: readonly FailedExchange[], timeout: string): FetchFailure {
  const messages = attempts.map((attempt) => failureMessage(attempt, timeout));
  const last = attempts.at(-1);
  const message = messages.at(-1) ?? "";
  const code = last === undefined ? "request_failed" : failureCodes[last.kind];
  if (attempts.length <= 1 || code === "request_timeout") return { code, message };
  const times = messages.every((each) => each === message) ? "" : "tried ";
  return { code, message: `${message} (${times}${attempts.length} times)` };
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
      return `it did not answer within ${timeout}`;
    case "status":
      return failed.status >= 300 && failed.status < 400
        ? `redirects are not followed (it answered ${failed.status})`
        : `it answered ${failed.status}`;
    case "refused":
    case "network":
    case "broken":
      return failed.message;
  }
}

/** What is said of a fetch that was not let through. */
export function refusalFailure({ rate_limit: limit, timeout }: Endpoint, refusal: Refusal): FetchFailure {
  if ("openUntil" in refusal) {
    const message = `its circuit is open until ${formatTimestamp(refusal.openUntil)}`;
    return { code: "circuit_open", message };
  }
  if ("unknown" in refusal) return unwritableState[refusal.unknown];
  const { count = 0, per = "" } = limit ?? {};
  const message = `it may be asked ${count} times in ${per}, and there is no turn left within ${timeout ?? defaultTimeout}`;
  return { code: "rate_limited", message };
}

/** Whoever tries it must be known to all, and so must whoever takes a turn. */
const unwritableState: Readonly<Record<"circuit" | "limit", FetchFailure>> = {
  circuit: {
    code: "circuit_open",
    message: "its circuit is open, and the store cannot be told that it is tried again",
  },
  limit: {
    code: "rate_limited",
    message: "the store cannot be told that it is asked, which its rate limit needs",
  },
};
