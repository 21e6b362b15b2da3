import type { Endpoint } from "../model/endpoint.js";
import type { EndpointCheck } from "../model/endpoint-status.js";
import { defaultTimeout, settingsOf } from "./endpoint-settings.js";
import type { Exchange, Exchanged } from "./exchange.js";
import { fetchFailure } from "./fetch-failure.js";

/**
 * Whether an endpoint answers: asked once, without params, whatever its circuit says. It may well find fault
 * with that; what counts is that somebody is there who takes our word for who we are.
 */
export async function reachEndpoint(
  endpoint: Endpoint,
  { exchange, stopwatch }: { readonly exchange: Exchange; readonly stopwatch: () => number },
): Promise<EndpointCheck> {
  const { method, timeout } = settingsOf(endpoint);
  if (method !== "get") return { ok: null, not_asked: `\`${method}\` might change something` };
  const startedAt = stopwatch();
  const signal = AbortSignal.timeout(Math.min(Math.ceil(timeout / 1000), longestTimer));
  const exchanged = await exchange({ endpoint, params: {}, signal });
  const milliseconds = Math.round((stopwatch() - startedAt) * 1000) / 1000;
  return { ...verdictOn(exchanged, endpoint), milliseconds };
}

/** No timer can be set for longer. */
const longestTimer = 2 ** 31 - 1;

function verdictOn(
  exchanged: Exchanged,
  { timeout = defaultTimeout }: Endpoint,
): Pick<Extract<EndpointCheck, { readonly ok: boolean }>, "ok" | "status" | "error"> {
  if (exchanged.kind === "answer") return { ok: true };
  const error = fetchFailure([exchanged], timeout).message;
  if (exchanged.kind !== "status") return { ok: false, error };
  const { status } = exchanged;
  return isReachable(status) ? { ok: true, status } : { ok: false, status, error };
}

const refusals: ReadonlySet<number> = new Set([401, 403, 407]);

/** Redirects are not followed, so one that sends us elsewhere is of no use. */
const isReachable = (status: number): boolean => status >= 400 && status < 500 && !refusals.has(status);
