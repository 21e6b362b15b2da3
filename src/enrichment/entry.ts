import { admit } from "./breaker.js";
import type { EndpointSettings } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { takeTurn } from "./limiter.js";

/** Whether a fetch may begin: when its first request may be sent, or why none may. */
export type Entry =
  | { readonly at: number; readonly probe?: number }
  | { readonly openUntil: number }
  | { readonly rateLimited: true };

export interface Moment {
  /** In microseconds since 1970. */
  readonly now: number;
  /** From then on it is too late. */
  readonly latest: number;
}

/** What the circuit says, then what the rate limit says; whoever is refused leaves the state as it is. */
export function enter(
  state: EndpointState,
  settings: EndpointSettings,
  moment: Moment,
): { readonly entry: Entry; readonly state: EndpointState } {
  const admitted = admit(state, settings.breaker, moment.now);
  if ("openUntil" in admitted) return { entry: admitted, state };
  const turned = nextTurn(admitted.state, settings, moment);
  if ("rateLimited" in turned.entry) return { entry: turned.entry, state };
  const { probe } = admitted;
  return { entry: { ...turned.entry, ...(probe !== undefined && { probe }) }, state: turned.state };
}

/** What the rate limit alone says, to a fetch that asks again. */
export function nextTurn(
  state: EndpointState,
  { limit }: EndpointSettings,
  moment: Moment,
): { readonly entry: Exclude<Entry, { readonly openUntil: number }>; readonly state: EndpointState } {
  if (limit === undefined) return { entry: { at: moment.now }, state };
  const turn = takeTurn(state.sent ?? [], limit, moment);
  return turn === undefined
    ? { entry: { rateLimited: true }, state }
    : { entry: { at: turn.at }, state: { ...state, sent: turn.sent } };
}
