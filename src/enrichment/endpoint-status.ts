import type { LocatedEndpoint } from "../definition/definition-file.js";
import { looksLikeSecret } from "../definition/checks/check-endpoints.js";
import type {
  Circuit,
  Endpoint,
  EndpointCheck,
  EndpointReset,
  EndpointStatus,
  LastFetch,
} from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import { microsecondsOf, formatTimestamp } from "../record/timestamp.js";
import { hasShape, isNumber, isText, optional } from "../record/well-formed.js";
import { secretVariables } from "./auth.js";
import { admitThroughCircuit, closeCircuit } from "./circuit-breaker.js";
import { maxTimerDelay } from "./deadline.js";
import type { EndpointSettings } from "./endpoint-settings.js";
import { defaultTimeout, endpointSettings, stateKey } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { parseState } from "./endpoint-state.js";
import type { Exchange, ExchangeOutcome } from "./exchange.js";
import { fetchFailure } from "./fetch-failure.js";

export interface UsedEndpoint extends LocatedEndpoint {
  /** The ids of the decisions that fetch from it. */
  readonly used_by: readonly string[];
}

interface EndpointShelves {
  readonly breakers: Shelf;
  readonly responses: Shelf;
}

export interface StatusOptions {
  readonly shelves: EndpointShelves;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In microseconds since 1970. */
  readonly now: number;
}

/** Returns the status of endpoints from the state in the store. */
export async function endpointStatuses(
  endpoints: readonly UsedEndpoint[],
  { shelves, env, now }: StatusOptions,
): Promise<readonly EndpointStatus[]> {
  const cached = await responseTimes(shelves.responses, now);
  return Promise.all(
    endpoints.map(async ({ name, endpoint, used_by, file, line }) => {
      const key = stateKey(name, endpoint);
      const state = parseState((await shelves.breakers.get(key))?.value);
      const settings = endpointSettings(endpoint);
      const { rate_limit } = endpoint;
      return {
        name,
        method: settings.method,
        url: endpoint.url,
        circuit: circuitStatus(state, settings, now),
        cache: { ...endpoint.cache, ...countFresh(cached.get(key) ?? [], settings, now) },
        ...(rate_limit !== undefined && { rate_limit }),
        needs: secretVariables(endpoint.auth).map((variable) => ({
          variable: looksLikeSecret(variable) ? "(looks like a secret)" : variable,
          set: isSet(env[variable]),
        })),
        last: lastFetch(state),
        used_by,
        file,
        line,
      };
    }),
  );
}

/** An open circuit whose time is over is half open: it admits the next fetch as a probe. */
function circuitStatus(state: EndpointState, { breaker }: EndpointSettings, now: number): Circuit {
  const { circuit, failures } = state;
  if (circuit !== "OPEN") return { state: circuit, failures };
  const admission = admitThroughCircuit(state, breaker, now);
  if (!("openUntil" in admission)) return { state: "HALF_OPEN", failures };
  return { state: "OPEN", failures, open_until: formatTimestamp(admission.openUntil) };
}

/** Returns null where the stored value is damaged. */
function lastFetch({ last }: EndpointState): LastFetch | null {
  return isLastFetch(last) ? last : null;
}

const isLastFetch = hasShape<LastFetch>({
  at: isText,
  milliseconds: isNumber,
  error: optional(hasShape({ code: isText, message: isText })),
});

function countFresh(
  times: readonly number[],
  { lifetime = 0 }: EndpointSettings,
  now: number,
): { readonly fresh: number; readonly stale: number } {
  const fresh = times.filter((at) => at <= now && now < at + lifetime).length;
  return { fresh, stale: times.length - fresh };
}

/** Returns when the cached responses were fetched, by the state key of their endpoint. */
async function responseTimes(responses: Shelf, now: number): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>();
  for await (const { group = "", value, expires_at = Infinity } of responses.entries()) {
    if (now >= expires_at) continue;
    const { fetched_at: at } = value as { readonly fetched_at?: unknown };
    const others = times.get(group) ?? [];
    others.push(typeof at === "string" ? microsecondsOf(at) : Number.NaN);
    times.set(group, others);
  }
  return times;
}

/** An empty secret counts as missing, as it does for requests. */
const isSet = (value: string | undefined): boolean => typeof value === "string" && value.trim() !== "";

/**
 * Checks whether an endpoint responds: one request without params, whatever the state of its circuit. A client
 * error counts as a response, unless it is about authentication.
 */
export async function checkEndpoint(
  endpoint: Endpoint,
  { exchange, stopwatch }: { readonly exchange: Exchange; readonly stopwatch: () => number },
): Promise<EndpointCheck> {
  const { method, timeout } = endpointSettings(endpoint);
  if (method !== "get") return { ok: null, not_asked: `\`${method}\` may change data` };
  const startedAt = stopwatch();
  const signal = AbortSignal.timeout(Math.min(Math.ceil(timeout / 1000), maxTimerDelay));
  const outcome = await exchange({ endpoint, params: {}, signal });
  const milliseconds = Math.round((stopwatch() - startedAt) * 1000) / 1000;
  return { ...checkResult(outcome, endpoint), milliseconds };
}

function checkResult(
  outcome: ExchangeOutcome,
  { timeout = defaultTimeout }: Endpoint,
): Pick<Extract<EndpointCheck, { readonly ok: boolean }>, "ok" | "status" | "error"> {
  if (outcome.kind === "answer") return { ok: true };
  const error = fetchFailure([outcome], timeout).message;
  if (outcome.kind !== "status") return { ok: false, error };
  const { status } = outcome;
  return isReachable(status) ? { ok: true, status } : { ok: false, status, error };
}

const authenticationStatuses: ReadonlySet<number> = new Set([401, 403, 407]);

/** A redirect is a failure, because redirects are not followed. */
const isReachable = (status: number): boolean =>
  status >= 400 && status < 500 && !authenticationStatuses.has(status);

interface ResetOptions {
  readonly shelves: EndpointShelves;
  /** Also removes cached responses. */
  readonly removeResponses: boolean;
}

/** Closes the circuit of an endpoint and forgets its failures. Writes nothing where no state is stored. */
export async function resetEndpoint(
  endpoint: Pick<LocatedEndpoint, "name" | "endpoint">,
  { shelves, removeResponses }: ResetOptions,
): Promise<EndpointReset> {
  const { circuit, failures } = await resetState(endpoint, shelves.breakers);
  const reset = { name: endpoint.name, circuit_was: circuit, failures_were: failures };
  return removeResponses
    ? { ...reset, answers_removed: await removeCachedResponses(endpoint.name, shelves.responses) }
    : reset;
}

/** Returns the state before the reset. */
async function resetState(
  { name, endpoint }: Pick<LocatedEndpoint, "name" | "endpoint">,
  breakers: Shelf,
): Promise<EndpointState> {
  const key = stateKey(name, endpoint);
  const stored = await breakers.get(key);
  let before = parseState(stored?.value);
  if (stored !== undefined) {
    await breakers.update(key, (entry) => {
      if (entry === undefined) return undefined;
      before = parseState(entry.value);
      return { ...entry, value: closeCircuit(before) as unknown as Json };
    });
  }
  return before;
}

/** Also removes responses from before the endpoint was reconfigured. */
async function removeCachedResponses(name: string, responses: Shelf): Promise<number> {
  const isOfEndpoint = ({ group = "" }: ShelfEntry): boolean => group.startsWith(`${name} `);
  for await (const entry of responses.entries())
    if (isOfEndpoint(entry)) return responses.remove(isOfEndpoint);
  return 0;
}
