import type { BreakerSettings } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { initialState } from "./endpoint-state.js";

export type CircuitAdmission =
  | {
      readonly state: EndpointState;
      /** Identifies the probe, if this fetch is one. */
      readonly probe?: number;
    }
  /** Refused until then, in microseconds since 1970. May end earlier if a running probe succeeds. */
  | { readonly openUntil: number };

/** Decides whether a fetch may call the endpoint. A half-open circuit admits one probe at a time. */
export function admitThroughCircuit(
  state: EndpointState,
  settings: BreakerSettings,
  now: number,
): CircuitAdmission {
  const { circuit, opened_at = 0, probe_until } = state;
  switch (circuit) {
    case "CLOSED":
      return { state };
    case "OPEN":
      return isWithin(opened_at, settings.openFor, now)
        ? { openUntil: opened_at + settings.openFor }
        : startProbe({ ...state, circuit: "HALF_OPEN", successes: 0 }, settings, now);
    case "HALF_OPEN":
      return probe_until !== undefined && isWithin(probe_until - settings.probeFor, settings.probeFor, now)
        ? { openUntil: probe_until }
        : startProbe(state, settings, now);
  }
}

/** Ignores a start too far in the future: it was written before the clock was set back. */
const isWithin = (start: number, length: number, now: number): boolean => Math.abs(now - start) < length;

function startProbe(state: EndpointState, { probeFor }: BreakerSettings, now: number): CircuitAdmission {
  const probe = now + probeFor;
  return { state: { ...state, probe_until: probe }, probe };
}

/** The outcome of an admitted fetch. `neither` says nothing about the health of the service. */
export type Verdict = "success" | "failure" | "neither";

interface VerdictOptions {
  readonly settings: BreakerSettings;
  readonly now: number;
}

/** Updates the circuit after a fetch. Half open, only the probe counts; open, no verdict does. */
export function applyVerdict(
  state: EndpointState,
  { verdict, probe }: { readonly verdict: Verdict; readonly probe: number | undefined },
  options: VerdictOptions,
): EndpointState {
  if (state.circuit === "CLOSED") return applyWhenClosed(state, verdict, options);
  const isProbe = state.circuit === "HALF_OPEN" && probe !== undefined && probe === state.probe_until;
  return isProbe ? applyToProbe(withoutProbe(state), verdict, options) : state;
}

function applyWhenClosed(
  state: EndpointState,
  verdict: Verdict,
  { settings, now }: VerdictOptions,
): EndpointState {
  if (verdict === "neither") return state;
  if (verdict === "success") return { ...state, failures: 0 };
  const failures = state.failures + 1;
  return failures < settings.failureThreshold
    ? { ...state, failures }
    : openCircuit({ ...state, failures }, now);
}

function applyToProbe(
  state: EndpointState,
  verdict: Verdict,
  { settings, now }: VerdictOptions,
): EndpointState {
  if (verdict === "neither") return state;
  if (verdict === "failure") return openCircuit({ ...state, failures: state.failures + 1 }, now);
  const successes = state.successes + 1;
  return successes < settings.successThreshold ? { ...state, successes } : closeCircuit(state);
}

const openCircuit = (state: EndpointState, now: number): EndpointState => ({
  ...state,
  circuit: "OPEN",
  successes: 0,
  opened_at: now,
});

/** Closes the circuit and forgets its failures. Sent requests still count for the rate limit. */
export const closeCircuit = ({ sent, last }: EndpointState): EndpointState => ({
  ...initialState,
  ...(sent && { sent }),
  ...(last && { last }),
});

function withoutProbe(state: EndpointState): EndpointState {
  const { circuit, failures, successes, opened_at = 0 } = state;
  return { ...closeCircuit(state), circuit, failures, successes, opened_at };
}
