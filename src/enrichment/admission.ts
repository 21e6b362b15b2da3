import { admitThroughCircuit } from "./circuit-breaker.js";
import type { EndpointSettings, LimitSettings } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";

/** When the next request may be sent (microseconds since 1970), or why it may not. */
export type Admission =
  | { readonly at: number; readonly probe?: number }
  | { readonly openUntil: number }
  | { readonly rateLimited: true };

/** Times in microseconds since 1970. */
export interface AdmissionWindow {
  readonly now: number;
  /** A request at or after this time is too late. */
  readonly latest: number;
}

export interface Admitted {
  readonly admission: Admission;
  /** The unchanged state where the fetch is refused. */
  readonly state: EndpointState;
}

/** Applies the circuit breaker, then the rate limit. */
export function admitFetch(
  state: EndpointState,
  settings: EndpointSettings,
  window: AdmissionWindow,
): Admitted {
  const circuit = admitThroughCircuit(state, settings.breaker, window.now);
  if ("openUntil" in circuit) return { admission: circuit, state };
  const limited = admitRetry(circuit.state, settings, window);
  if ("rateLimited" in limited.admission) return { admission: limited.admission, state };
  const { probe } = circuit;
  return {
    admission: { ...limited.admission, ...(probe !== undefined && { probe }) },
    state: limited.state,
  };
}

/** Applies the rate limit alone: a retry belongs to a fetch that the circuit breaker has admitted. */
export function admitRetry(
  state: EndpointState,
  { limit }: EndpointSettings,
  window: AdmissionWindow,
): Admitted {
  if (limit === undefined) return { admission: { at: window.now }, state };
  const slot = reserveSlot(state.sent ?? [], limit, window);
  return slot === undefined
    ? { admission: { rateLimited: true }, state }
    : { admission: { at: slot.at }, state: { ...state, sent: slot.sent } };
}

interface Slot {
  readonly at: number;
  /** The times of all requests that still count, this one included. */
  readonly sent: readonly number[];
}

/**
 * Reserves the earliest time at which a request keeps to the limit, or returns undefined if that is not before
 * `latest`. A reserved slot is kept, so each request waits once, in order of arrival.
 */
export function reserveSlot(
  sent: readonly number[],
  limit: LimitSettings,
  { now, latest }: AdmissionWindow,
): Slot | undefined {
  const period = limit.per + safetyMargin(limit);
  const counting = sent.filter((at) => at > now - period && at < now + maxAhead(period, sent.length));
  const before = counting.at(-limit.count);
  const at = before === undefined ? now : Math.max(now, before + period);
  return at < latest ? { at, sent: [...counting, at].sort((a, b) => a - b) } : undefined;
}

/** Latency varies: two requests sent one period apart can arrive closer together. */
const safetyMargin = ({ per }: LimitSettings): number => Math.min(per / 20, 100_000);

/** Slots further ahead cannot have been reserved: they were written before the clock was set back. */
const maxAhead = (period: number, slots: number): number => period * (slots + 1);
