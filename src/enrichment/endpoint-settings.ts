import { InvalidConfigurationError } from "../errors.js";
import type { Endpoint, Method } from "../model/endpoint.js";
import { parseDuration } from "../record/timestamp.js";

/** What an endpoint is configured to, with all defaults; durations are in microseconds. */
export interface EndpointSettings {
  readonly method: Method;
  readonly timeout: number;
  readonly retry: RetrySettings;
  /** Undefined: answers are not kept. */
  readonly lifetime: number | undefined;
  readonly limit: LimitSettings | undefined;
  readonly breaker: BreakerLimits;
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

export interface BreakerLimits {
  readonly failureThreshold: number;
  readonly openFor: number;
  readonly successThreshold: number;
  /** Who tries whether it answers again is given up then. */
  readonly probeFor: number;
}

export const defaultTimeout = "5s";

const known = new WeakMap<Endpoint, EndpointSettings>();

export function settingsOf(endpoint: Endpoint): EndpointSettings {
  const settings = known.get(endpoint) ?? parseSettings(endpoint);
  known.set(endpoint, settings);
  return settings;
}

function parseSettings({
  method = "get",
  timeout = defaultTimeout,
  cache,
  retry,
  rate_limit: limit,
  circuit_breaker: breaker = {},
}: Endpoint): EndpointSettings {
  return {
    method,
    timeout: parseDurationSetting(timeout),
    retry: {
      attempts: retry === undefined ? 1 : (retry.attempts ?? 3),
      base: parseDurationSetting(retry?.base ?? "100ms"),
      max: parseDurationSetting(retry?.max ?? "2s"),
    },
    lifetime: cache && parseDurationSetting(cache.ttl),
    limit: limit && { count: limit.count, per: parseDurationSetting(limit.per) },
    breaker: {
      failureThreshold: breaker.failure_threshold ?? 5,
      openFor: parseDurationSetting(breaker.timeout ?? "60s"),
      successThreshold: breaker.success_threshold ?? 2,
      probeFor: parseDurationSetting(timeout),
    },
  };
}

function parseDurationSetting(text: string): number {
  const microseconds = parseDuration(text);
  if (microseconds !== undefined) return microseconds;
  throw new InvalidConfigurationError(`\`${text}\` is not a duration`, {
    hint: "write it as in 500ms, 5s or 1h",
  });
}
