import { secretVariables } from "./auth.js";
import { admitThroughCircuit } from "./circuit-breaker.js";
import { settingsOf, defaultTimeout } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { parseState, stateKey } from "./endpoint-state.js";
import type { Exchange, ExchangeOutcome } from "./exchange.js";
import { fetchFailure } from "./fetch-failure.js";
import type { LocatedEndpoint } from "../definition/definition-file.js";
import { looksLikeSecret } from "../definition/checks/check-endpoints.js";
import type {
  Endpoint,
  Circuit,
  EndpointStatus,
  LastFetch,
  EndpointCheck,
  EndpointReset,
} from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import { microsecondsOf, formatTimestamp } from "../record/timestamp.js";
import { isNumber, isText, optional, hasShape } from "../record/well-formed.js";

export interface UsedEndpoint extends LocatedEndpoint {
  /** The ids of the decisions that fetch from it. */
  readonly used_by: readonly string[];
}

export interface StatusOptions {
  readonly shelves: { readonly breakers: Shelf; readonly responses: Shelf };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In microseconds since 1970. */
  readonly now: number;
}

/** How endpoints are doing, as far as the store knows. */
export async function endpointStatuses(
  declared: readonly UsedEndpoint[],
  { shelves, env, now }: StatusOptions,
): Promise<readonly EndpointStatus[]> {
  const kept = await fetchTimes(shelves.responses, now);
  return Promise.all(
    declared.map(async ({ name, endpoint, used_by, file, line }) => {
      const key = stateKey(name, endpoint);
      const state = parseState((await shelves.breakers.get(key))?.value);
      const { rate_limit } = endpoint;
      return {
        name,
        method: settingsOf(endpoint).method,
        url: endpoint.url,
        circuit: circuitStatus(state, endpoint, now),
        cache: cacheStatus(endpoint, kept.get(key) ?? [], now),
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

/** An open circuit whose time is over lets the next one try. */
function circuitStatus(state: EndpointState, endpoint: Endpoint, now: number): Circuit {
  const { circuit, failures } = state;
  if (circuit !== "OPEN") return { state: circuit, failures };
  const admission = admitThroughCircuit(state, settingsOf(endpoint).breaker, now);
  if (!("openUntil" in admission)) return { state: "HALF_OPEN", failures };
  return { state: "OPEN", failures, open_until: formatTimestamp(admission.openUntil) };
}

/** What is damaged tells nothing. */
function lastFetch({ last }: EndpointState): LastFetch | null {
  return isLastFetch(last) ? last : null;
}

const isLastFetch = hasShape<LastFetch>({
  at: isText,
  milliseconds: isNumber,
  error: optional(hasShape({ code: isText, message: isText })),
});

function cacheStatus(endpoint: Endpoint, times: readonly number[], now: number): EndpointStatus["cache"] {
  const { lifetime = 0 } = settingsOf(endpoint);
  const fresh = times.filter((at) => at <= now && now < at + lifetime).length;
  return { ...endpoint.cache, fresh, stale: times.length - fresh };
}

/** When the answers were given that are kept, by what they belong to. */
async function fetchTimes(responses: Shelf, now: number): Promise<ReadonlyMap<string, readonly number[]>> {
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

/** As who asks sees it: what is empty is no secret. */
const isSet = (value: string | undefined): boolean => typeof value === "string" && value.trim() !== "";

/**
 * Whether an endpoint answers: asked once, without params, whatever its circuit says. It may well find fault
 * with that; what counts is that somebody is there who takes our word for who we are.
 */
export async function checkEndpoint(
  endpoint: Endpoint,
  { exchange, stopwatch }: { readonly exchange: Exchange; readonly stopwatch: () => number },
): Promise<EndpointCheck> {
  const { method, timeout } = settingsOf(endpoint);
  if (method !== "get") return { ok: null, not_asked: `\`${method}\` might change something` };
  const startedAt = stopwatch();
  const signal = AbortSignal.timeout(Math.min(Math.ceil(timeout / 1000), maxTimerDelay));
  const exchanged = await exchange({ endpoint, params: {}, signal });
  const milliseconds = Math.round((stopwatch() - startedAt) * 1000) / 1000;
  return { ...checkVerdict(exchanged, endpoint), milliseconds };
}

/** No timer can be set for longer. */
const maxTimerDelay = 2 ** 31 - 1;

function checkVerdict(
  exchanged: ExchangeOutcome,
  { timeout = defaultTimeout }: Endpoint,
): Pick<Extract<EndpointCheck, { readonly ok: boolean }>, "ok" | "status" | "error"> {
  if (exchanged.kind === "answer") return { ok: true };
  const error = fetchFailure([exchanged], timeout).message;
  if (exchanged.kind !== "status") return { ok: false, error };
  const { status } = exchanged;
  return isReachable(status) ? { ok: true, status } : { ok: false, status, error };
}

const authenticationStatuses: ReadonlySet<number> = new Set([401, 403, 407]);

/** Redirects are not followed, so one that sends us elsewhere is of no use. */
const isReachable = (status: number): boolean =>
  status >= 400 && status < 500 && !authenticationStatuses.has(status);

interface ResetOptions {
  readonly shelves: { readonly breakers: Shelf; readonly responses: Shelf };
  /** Kept answers too. */
  readonly answers: boolean;
}

/** Closes its circuit and forgets its failures; where nothing is known of it, nothing is written. */
export async function resetEndpoint(
  declared: Pick<LocatedEndpoint, "name" | "endpoint">,
  { shelves, answers }: ResetOptions,
): Promise<EndpointReset> {
  const { circuit, failures } = await closeEndpointCircuit(declared, shelves.breakers);
  const reset = { name: declared.name, circuit_was: circuit, failures_were: failures };
  return answers
    ? { ...reset, answers_removed: await removeCachedResponses(declared.name, shelves.responses) }
    : reset;
}

async function closeEndpointCircuit(
  { name, endpoint }: Pick<LocatedEndpoint, "name" | "endpoint">,
  breakers: Shelf,
): Promise<EndpointState> {
  const key = stateKey(name, endpoint);
  const known = await breakers.get(key);
  let was = parseState(known?.value);
  if (known !== undefined) {
    await breakers.update(key, (entry) => {
      if (entry === undefined) return undefined;
      was = parseState(entry.value);
      return { ...entry, value: closedState(was) as unknown as Json };
    });
  }
  return was;
}

/** Also those that it gave as it was configured before. */
async function removeCachedResponses(name: string, responses: Shelf): Promise<number> {
  const isOurs = ({ group = "" }: ShelfEntry): boolean => group.startsWith(`${name} `);
  for await (const entry of responses.entries()) if (isOurs(entry)) return responses.remove(isOurs);
  return 0;
}

/** What was sent still counts for its rate limit. */
function closedState({ sent, last }: EndpointState): EndpointState {
  return {
    circuit: "CLOSED",
    failures: 0,
    successes: 0,
    ...(sent !== undefined && { sent }),
    ...(last !== undefined && { last }),
  };
}
