import type { BreakerSettings } from "./endpoint-settings.js";
import { breakerSettings } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { systemTime } from "../clock.js";
import { CircuitOpenError, InvalidConfigurationError } from "../errors.js";
import type { BreakerSettings as WrittenSettings } from "../model/endpoint.js";
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

/** A circuit breaker around any work of a program, as endpoints have one. Its state is in memory. */
export interface CircuitBreaker {
  /** An open circuit becomes half open with the first call after its timeout. */
  readonly state: EndpointState["circuit"];
  /** Runs the work, or rejects with a `CircuitOpenError`. Half open, one call at a time is let through. */
  call<T>(work: () => T | Promise<T>): Promise<T>;
  /** Closes the circuit and forgets its failures. */
  reset(): void;
}

export interface CircuitBreakerOptions extends WrittenSettings {
  /** Whether an error says that the service is unhealthy; absent: every error does. */
  readonly isFailure?: (error: unknown) => boolean;
  /** Returns the current time in milliseconds. */
  readonly now?: () => number;
}

export function circuitBreaker(options: CircuitBreakerOptions = {}): CircuitBreaker {
  const { isFailure = () => true, now = () => systemTime.now(), ...written } = options;
  const settings = breakerSettings(assertThresholds(written), written.timeout ?? "60s");
  const clock = (): number => now() * 1000;
  let state = initialState;
  const finish = (verdict: Verdict, probe: number | undefined): void => {
    state = applyVerdict(state, { verdict, probe }, { settings, now: clock() });
  };
  return {
    get state() {
      return state.circuit;
    },
    async call(work) {
      const admission = admitThroughCircuit(state, settings, clock());
      if ("openUntil" in admission) {
        const until = new Date(admission.openUntil / 1000).toISOString();
        throw new CircuitOpenError(`the circuit is open until ${until}`);
      }
      ({ state } = admission);
      const { probe } = admission;
      try {
        const answer = await work();
        finish("success", probe);
        return answer;
      } catch (error) {
        finish(isFailure(error) ? "failure" : "neither", probe);
        throw error;
      }
    },
    reset() {
      state = closeCircuit(state);
    },
  };
}

function assertThresholds(settings: WrittenSettings): WrittenSettings {
  for (const name of ["failure_threshold", "success_threshold"] as const) {
    const value = settings[name] ?? 1;
    if (!Number.isInteger(value) || value < 1)
      throw new InvalidConfigurationError(
        `\`${name}\` must be a whole number of at least 1 (got \`${value}\`)`,
      );
  }
  return settings;
}
