import type { BreakerLimits } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { initialState } from "./endpoint-state.js";

/** Whether a fetch may ask the endpoint. */
type CircuitAdmission =
  | {
      readonly state: EndpointState;
      /** What it is known by, where it is the one that tries. */
      readonly probe?: number;
    }
  /** Not before then, in microseconds since 1970; while somebody tries, perhaps sooner. */
  | { readonly openUntil: number };

/** Half open, it lets one in at a time. */
export function admitThroughCircuit(
  state: EndpointState,
  limits: BreakerLimits,
  now: number,
): CircuitAdmission {
  const { circuit, opened_at = 0, probe_until } = state;
  if (circuit === "CLOSED") return { state };
  if (circuit === "OPEN") {
    return isWithin(opened_at, limits.openFor, now)
      ? { openUntil: opened_at + limits.openFor }
      : startProbe({ ...state, circuit: "HALF_OPEN", successes: 0 }, limits, now);
  }
  return probe_until !== undefined && isWithin(probe_until - limits.probeFor, limits.probeFor, now)
    ? { openUntil: probe_until }
    : startProbe(state, limits, now);
}

/** A time too far ahead is from before the clock was set back, and holds nothing up. */
const isWithin = (start: number, length: number, now: number): boolean => Math.abs(now - start) < length;

function startProbe(state: EndpointState, { probeFor }: BreakerLimits, now: number): CircuitAdmission {
  const probe = now + probeFor;
  return { state: { ...state, probe_until: probe }, probe };
}

/** How a fetch went that was admitted; `neither` tells nothing about the service. */
export type Verdict = "success" | "failure" | "neither";

/** Half open, only the one that tries counts; open, nobody does. */
export function applyVerdict(
  state: EndpointState,
  { verdict, probe }: { readonly verdict: Verdict; readonly probe: number | undefined },
  circumstances: BreakerOptions,
): EndpointState {
  switch (state.circuit) {
    case "CLOSED":
      return applyVerdictClosed(state, verdict, circumstances);
    case "OPEN":
      return state;
    case "HALF_OPEN":
      return probe === undefined || probe !== state.probe_until
        ? state
        : applyVerdictToProbe(withoutProbe(state), verdict, circumstances);
  }
}

interface BreakerOptions {
  readonly limits: BreakerLimits;
  readonly now: number;
}

function applyVerdictClosed(
  state: EndpointState,
  verdict: Verdict,
  { limits, now }: BreakerOptions,
): EndpointState {
  if (verdict === "neither") return state;
  if (verdict === "success") return { ...state, failures: 0 };
  const failures = state.failures + 1;
  return failures < limits.failureThreshold
    ? { ...state, failures }
    : openCircuit({ ...state, failures }, now);
}

function applyVerdictToProbe(
  state: EndpointState,
  verdict: Verdict,
  { limits, now }: BreakerOptions,
): EndpointState {
  if (verdict === "neither") return state;
  if (verdict === "failure") return openCircuit({ ...state, failures: state.failures + 1 }, now);
  const successes = state.successes + 1;
  return successes < limits.successThreshold ? { ...state, successes } : closeCircuit(state);
}

const openCircuit = (state: EndpointState, now: number): EndpointState => ({
  ...state,
  circuit: "OPEN",
  successes: 0,
  opened_at: now,
});

const closeCircuit = (state: EndpointState): EndpointState => ({
  ...initialState,
  ...unrelatedFields(state),
});

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
  ...unrelatedFields(more),
});

/** What the circuit has nothing to do with. */
const unrelatedFields = ({
  sent,
  last,
}: Pick<EndpointState, "sent" | "last">): Pick<EndpointState, "sent" | "last"> => ({
  ...(sent && { sent }),
  ...(last && { last }),
});
