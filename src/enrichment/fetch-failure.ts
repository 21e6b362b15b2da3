import type { Endpoint, FetchErrorCode, FetchFailure } from "../model/endpoint.js";
import { timestampOf } from "../record/moment.js";
import type { Attempt } from "./attempts.js";
import type { Verdict } from "./breaker.js";
import { defaultTimeout } from "./endpoint-settings.js";
import type { Exchanged } from "./exchange.js";
import type { Refusal } from "./shared-states.js";

/** An exchange that brought no data. */
export type Failed = Exclude<Exchanged, { readonly kind: "answer" }>;

/** What a fetch tells about the service: the last of its attempts does. */
export function verdictOf(attempts: readonly Attempt[], timeout: number): Verdict {
  const last = attempts.at(-1);
  if (last === undefined) return "neither";
  // One that waited for its turn most of the time has given the service too little of it.
  const isHasty = attempts.length === 1 && last.took < timeout / 2;
  return last.exchanged.kind === "timeout" && isHasty ? "neither" : verdictOn(last.exchanged);
}

/** One that finds fault with our request is alive. */
function verdictOn(exchanged: Exchanged): Verdict {
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
      return exchanged.status >= 500 || overloaded.has(exchanged.status) ? "failure" : "success";
  }
}

const overloaded: ReadonlySet<number> = new Set([408, 425, 429]);

/** What is said of a fetch whose attempts all failed; the last one tells why. */
export function fetchFailure(attempts: readonly Failed[], timeout: string): FetchFailure {
  const messages = attempts.map((attempt) => messageOf(attempt, timeout));
  const last = attempts.at(-1);
  const message = messages.at(-1) ?? "";
  const code = last === undefined ? "request_failed" : codes[last.kind];
  if (attempts.length <= 1 || code === "request_timeout") return { code, message };
  const times = messages.every((each) => each === message) ? "" : "tried ";
  return { code, message: `${message} (${times}${attempts.length} times)` };
}

const codes: Readonly<Record<Failed["kind"], FetchErrorCode>> = {
  status: "request_failed",
  broken: "request_failed",
  refused: "fetch_refused",
  timeout: "request_timeout",
  network: "network_failed",
};

function messageOf(failed: Failed, timeout: string): string {
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
export function refusalOf({ rate_limit: limit, timeout }: Endpoint, refusal: Refusal): FetchFailure {
  if ("openUntil" in refusal) {
    const message = `its circuit is open until ${timestampOf(refusal.openUntil)}`;
    return { code: "circuit_open", message };
  }
  if ("unknown" in refusal) return unknown[refusal.unknown];
  const { count = 0, per = "" } = limit ?? {};
  const message = `it may be asked ${count} times in ${per}, and there is no turn left within ${timeout ?? defaultTimeout}`;
  return { code: "rate_limited", message };
}

/** Whoever tries it must be known to all, and so must whoever takes a turn. */
const unknown: Readonly<Record<"circuit" | "limit", FetchFailure>> = {
  circuit: {
    code: "circuit_open",
    message: "its circuit is open, and the store cannot be told that it is tried again",
  },
  limit: {
    code: "rate_limited",
    message: "the store cannot be told that it is asked, which its rate limit needs",
  },
};
