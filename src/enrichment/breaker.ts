import type { BreakerLimits } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { untouched } from "./endpoint-state.js";

/** Whether a fetch may ask the endpoint. */
export type Admission =
  | {
      readonly state: EndpointState;
      /** What it is known by, where it is the one that tries. */
      readonly probe?: number;
    }
  /** Not before then, in microseconds since 1970; while somebody tries, perhaps sooner. */
  | { readonly openUntil: number };

/** Half open, it lets one in at a time. */
export function admit(state: EndpointState, limits: BreakerLimits, now: number): Admission {
  const { circuit, opened_at = 0, probe_until } = state;
  if (circuit === "CLOSED") return { state };
  if (circuit === "OPEN") {
    return isWithin(opened_at, limits.openFor, now)
      ? { openUntil: opened_at + limits.openFor }
      : probing({ ...state, circuit: "HALF_OPEN", successes: 0 }, limits, now);
  }
  return probe_until !== undefined && isWithin(probe_until - limits.probeFor, limits.probeFor, now)
    ? { openUntil: probe_until }
    : probing(state, limits, now);
}

/** A time too far ahead is from before the clock was set back, and holds nothing up. */
const isWithin = (start: number, length: number, now: number): boolean => Math.abs(now - start) < length;

function probing(state: EndpointState, { probeFor }: BreakerLimits, now: number): Admission {
  const probe = now + probeFor;
  return { state: { ...state, probe_until: probe }, probe };
}

/** How a fetch went that was admitted; `neither` tells nothing about the service. */
export type Verdict = "success" | "failure" | "neither";

/** Half open, only the one that tries counts; open, nobody does. */
export function settle(
  state: EndpointState,
  { verdict, probe }: { readonly verdict: Verdict; readonly probe: number | undefined },
  circumstances: Circumstances,
): EndpointState {
  switch (state.circuit) {
    case "CLOSED":
      return settleClosed(state, verdict, circumstances);
    case "OPEN":
      return state;
    case "HALF_OPEN":
      return probe === undefined || probe !== state.probe_until
        ? state
        : settleProbe(withoutProbe(state), verdict, circumstances);
  }
}

interface Circumstances {
  readonly limits: BreakerLimits;
  readonly now: number;
}

function settleClosed(state: EndpointState, verdict: Verdict, { limits, now }: Circumstances): EndpointState {
  if (verdict === "neither") return state;
  if (verdict === "success") return { ...state, failures: 0 };
  const failures = state.failures + 1;
  return failures < limits.failureThreshold ? { ...state, failures } : opened({ ...state, failures }, now);
}

function settleProbe(state: EndpointState, verdict: Verdict, { limits, now }: Circumstances): EndpointState {
  if (verdict === "neither") return state;
  if (verdict === "failure") return opened({ ...state, failures: state.failures + 1 }, now);
  const successes = state.successes + 1;
  return successes < limits.successThreshold ? { ...state, successes } : closed(state);
}

const opened = (state: EndpointState, now: number): EndpointState => ({
  ...state,
  circuit: "OPEN",
  successes: 0,
  opened_at: now,
});

const closed = (state: EndpointState): EndpointState => ({ ...untouched, ...beside(state) });

const withoutProbe = ({
  circuit,
  failures,
  successes,
  opened_at = 0,
  ...more
}: EndpointState): EndpointState => ({
  circuit,
  failures,
  successes,
  opened_at,
  ...beside(more),
});

/** What the circuit has nothing to do with. */
const beside = ({
  sent,
  last,
}: Pick<EndpointState, "sent" | "last">): Pick<EndpointState, "sent" | "last"> => ({
  ...(sent && { sent }),
  ...(last && { last }),
});
