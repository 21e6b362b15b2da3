import { seemsSecret } from "../definition/written-secrets.js";
import type { PlacedEndpoint } from "../definition/declared-endpoints.js";
import type { Endpoint } from "../model/endpoint.js";
import type { Circuit, EndpointStatus, LastFetch } from "../model/endpoint-status.js";
import type { Shelf } from "../model/store.js";
import { microsecondsOf, timestampOf } from "../record/moment.js";
import { isNumber, isText, maybe, shaped } from "../record/shape.js";
import { variablesOf } from "./auth.js";
import { admit } from "./breaker.js";
import { settingsOf } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { stateIn, stateKey } from "./endpoint-state.js";

export interface UsedEndpoint extends PlacedEndpoint {
  /** The ids of the decisions that fetch from it. */
  readonly used_by: readonly string[];
}

export interface StatusWorld {
  readonly shelves: { readonly breakers: Shelf; readonly responses: Shelf };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In microseconds since 1970. */
  readonly now: number;
}

/** How endpoints are doing, as far as the store knows. */
export async function endpointStatuses(
  declared: readonly UsedEndpoint[],
  { shelves, env, now }: StatusWorld,
): Promise<readonly EndpointStatus[]> {
  const kept = await fetchTimes(shelves.responses, now);
  return Promise.all(
    declared.map(async ({ name, endpoint, used_by, file, line }) => {
      const key = stateKey(name, endpoint);
      const state = stateIn((await shelves.breakers.get(key))?.value);
      const { rate_limit } = endpoint;
      return {
        name,
        method: settingsOf(endpoint).method,
        url: endpoint.url,
        circuit: circuitOf(state, endpoint, now),
        cache: cacheOf(endpoint, kept.get(key) ?? [], now),
        ...(rate_limit !== undefined && { rate_limit }),
        needs: variablesOf(endpoint.auth).map((variable) => ({
          variable: seemsSecret(variable) ? "(looks like a secret)" : variable,
          set: isSet(env[variable]),
        })),
        last: lastOf(state),
        used_by,
        file,
        line,
      };
    }),
  );
}

/** An open circuit whose time is over lets the next one try. */
function circuitOf(state: EndpointState, endpoint: Endpoint, now: number): Circuit {
  const { circuit, failures } = state;
  if (circuit !== "OPEN") return { state: circuit, failures };
  const admission = admit(state, settingsOf(endpoint).breaker, now);
  if (!("openUntil" in admission)) return { state: "HALF_OPEN", failures };
  return { state: "OPEN", failures, open_until: timestampOf(admission.openUntil) };
}

/** What is damaged tells nothing. */
function lastOf({ last }: EndpointState): LastFetch | null {
  return isLast(last) ? last : null;
}

const isLast = shaped<LastFetch>({
  at: isText,
  milliseconds: isNumber,
  error: maybe(shaped({ code: isText, message: isText })),
});

function cacheOf(endpoint: Endpoint, times: readonly number[], now: number): EndpointStatus["cache"] {
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
