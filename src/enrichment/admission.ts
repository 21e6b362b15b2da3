import { admitThroughCircuit } from "./circuit-breaker.js";
import type { EndpointSettings, LimitSettings } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";

/** Whether a fetch may begin: when its first request may be sent, or why none may. */
export type Admission =
  | { readonly at: number; readonly probe?: number }
  | { readonly openUntil: number }
  | { readonly rateLimited: true };

export interface AdmissionWindow {
  /** In microseconds since 1970. */
  readonly now: number;
  /** From then on it is too late. */
  readonly latest: number;
}

/** What the circuit says, then what the rate limit says; whoever is refused leaves the state as it is. */
export function admitFetch(
  state: EndpointState,
  settings: EndpointSettings,
  moment: AdmissionWindow,
): { readonly entry: Admission; readonly state: EndpointState } {
  const admitted = admitThroughCircuit(state, settings.breaker, moment.now);
  if ("openUntil" in admitted) return { entry: admitted, state };
  const turned = admitRetry(admitted.state, settings, moment);
  if ("rateLimited" in turned.entry) return { entry: turned.entry, state };
  const { probe } = admitted;
  return { entry: { ...turned.entry, ...(probe !== undefined && { probe }) }, state: turned.state };
}

/** What the rate limit alone says, to a fetch that asks again. */
export function admitRetry(
  state: EndpointState,
  { limit }: EndpointSettings,
  moment: AdmissionWindow,
): { readonly entry: Exclude<Admission, { readonly openUntil: number }>; readonly state: EndpointState } {
  if (limit === undefined) return { entry: { at: moment.now }, state };
  const turn = reserveSlot(state.sent ?? [], limit, moment);
  return turn === undefined
    ? { entry: { rateLimited: true }, state }
    : { entry: { at: turn.at }, state: { ...state, sent: turn.sent } };
}

/** When the next request may be sent, and what was sent or will be then; undefined: not before `latest`. */
interface Slot {
  readonly at: number;
  readonly sent: readonly number[];
}

/**
 * Takes a turn: at once, or as soon as fewer than the limit were sent in the stretch before. Whoever takes one
 * keeps it, so that each waits only once, in the order of their asking.
 */
export function reserveSlot(
  sent: readonly number[],
  limit: LimitSettings,
  { now, latest }: { readonly now: number; readonly latest: number },
): Slot | undefined {
  const stretch = limit.per + safetyMargin(limit);
  const counting = sent.filter((at) => at > now - stretch && at < now + maxAhead(stretch, sent.length));
  const before = counting.at(-limit.count);
  const at = before === undefined ? now : Math.max(now, before + stretch);
  return at < latest ? { at, sent: [...counting, at].sort((a, b) => a - b) } : undefined;
}

/** Requests are not all equally long on their way: two that leave a stretch apart may arrive closer. */
const safetyMargin = ({ per }: LimitSettings): number => Math.min(per / 20, 100_000);

/** No turn is further ahead than all that were taken together; a later one is from before the clock was set back. */
const maxAhead = (stretch: number, turns: number): number => stretch * (turns + 1);
