import { InvalidConfigurationError } from "../errors.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type {
  BreakerSettings as WrittenBreakerSettings,
  Endpoint,
  Fetch,
  Method,
} from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import { parseDuration } from "../definition/duration.js";

/** A fetch with everything derived from its endpoint. */
export interface PreparedFetch extends Fetch {
  readonly settings: EndpointSettings;
  readonly configuration: string;
  readonly stateKey: string;
}

export function prepareFetch(fetch: Fetch): PreparedFetch {
  const { name, endpoint } = fetch;
  const configuration = configurationDigest(endpoint);
  return {
    ...fetch,
    settings: endpointSettings(endpoint),
    configuration,
    stateKey: keyOf(name, configuration),
  };
}

/** The key of an endpoint's state in the store. A changed configuration starts with a new state. */
export const stateKey = (name: string, endpoint: Endpoint): string =>
  keyOf(name, configurationDigest(endpoint));

const keyOf = (name: string, configuration: string): string => `${name} ${configuration}`;

const configurationDigest = (endpoint: Endpoint): string =>
  sha256Hex(canonicalJson(endpoint as unknown as Json));

/** The settings of an endpoint with all defaults applied. Durations are in microseconds. */
export interface EndpointSettings {
  readonly method: Method;
  /** Limits the whole fetch, retries included. */
  readonly timeout: number;
  readonly retry: RetrySettings;
  /** How long a cached response is fresh. Undefined: responses are not cached. */
  readonly lifetime: number | undefined;
  readonly limit: LimitSettings | undefined;
  readonly breaker: BreakerSettings;
}

export interface RetrySettings {
  readonly attempts: number;
  readonly base: number;
  readonly max: number;
}

export interface LimitSettings {
  readonly count: number;
  readonly per: number;
}

export interface BreakerSettings {
  readonly failureThreshold: number;
  readonly openFor: number;
  readonly successThreshold: number;
  /** A probe without a result is given up after this time. */
  readonly probeFor: number;
}

export const defaultTimeout = "5s";

export function endpointSettings({
  method = "get",
  timeout = defaultTimeout,
  cache,
  retry,
  rate_limit: limit,
  circuit_breaker: breaker = {},
}: Endpoint): EndpointSettings {
  return {
    method,
    timeout: toMicroseconds(timeout),
    retry: {
      attempts: retry === undefined ? 1 : (retry.attempts ?? 3),
      base: toMicroseconds(retry?.base ?? "100ms"),
      max: toMicroseconds(retry?.max ?? "2s"),
    },
    lifetime: cache && toMicroseconds(cache.ttl),
    limit: limit && { count: limit.count, per: toMicroseconds(limit.per) },
    breaker: breakerSettings(breaker, timeout),
  };
}

/** Applies the defaults of a circuit breaker. `probeFor` is how long a probe may take. */
export const breakerSettings = (
  { failure_threshold = 5, timeout = "60s", success_threshold = 2 }: WrittenBreakerSettings,
  probeFor: string,
): BreakerSettings => ({
  failureThreshold: failure_threshold,
  openFor: toMicroseconds(timeout),
  successThreshold: success_threshold,
  probeFor: toMicroseconds(probeFor),
});

function toMicroseconds(text: string): number {
  const microseconds = parseDuration(text);
  if (microseconds !== undefined) return microseconds;
  throw new InvalidConfigurationError(`\`${text}\` is not a duration`, {
    hint: "write it like 500ms, 5s or 1h",
  });
}
