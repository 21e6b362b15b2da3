import type { Method } from "../model/endpoint.js";
import type { Deadline, Timing } from "./deadline.js";
import type { PreparedFetch, RetrySettings } from "./endpoint-settings.js";
import type { Exchange, ExchangeOutcome } from "./exchange.js";

interface RetryOptions extends Timing {
  readonly exchange: Exchange;
  readonly random: () => number;
  /** The wall clock, in microseconds since 1970. */
  readonly wall: () => number;
  readonly deadline: Deadline;
  /** Returns when the next request may be sent, in microseconds since 1970. Undefined: not in time. */
  readonly nextSlot: () => Promise<number | undefined>;
}

/** One request of a fetch. */
export interface Attempt {
  readonly outcome: ExchangeOutcome;
  /** In microseconds. */
  readonly took: number;
}

/** Sends requests until one succeeds, a retry makes no sense, or the time is up. */
export async function requestWithRetries(
  fetch: PreparedFetch,
  firstSlot: number,
  options: RetryOptions,
): Promise<readonly Attempt[]> {
  const { method, retry } = fetch.settings;
  const { deadline, sleep, random, wall, nextSlot } = options;
  const attempts: Attempt[] = [];
  for (let slot: number | undefined = firstSlot; slot !== undefined; slot = await nextSlot()) {
    if (slot > wall()) await sleep(slot - wall(), deadline.signal);
    const attempt = await requestOnce(fetch, options);
    attempts.push(attempt);
    if (attempts.length >= retry.attempts || !isRetryable(attempt.outcome, method)) break;
    const requested = requestedPause(attempt.outcome, wall());
    const pause = Math.max(requested, backoffBefore(attempts.length + 1, retry, random()));
    if (pause >= deadline.left()) break;
    await sleep(pause, deadline.signal);
  }
  return attempts;
}

/** Ends at the deadline, whether or not the exchange reacts to its signal. */
async function requestOnce(
  { endpoint, params }: PreparedFetch,
  { exchange, deadline, now }: RetryOptions,
): Promise<Attempt> {
  const startedAt = now();
  const outcome = await deadline.race(exchange({ endpoint, params, signal: deadline.signal }));
  return { outcome: outcome ?? { kind: "timeout" }, took: now() - startedAt };
}

function requestedPause(outcome: ExchangeOutcome, now: number): number {
  if (outcome.kind !== "status" || outcome.retryAfter === undefined) return 0;
  return parseRetryAfter(outcome.retryAfter, now) ?? 0;
}

/** Reports whether a retry may succeed and is safe. */
export function isRetryable(outcome: ExchangeOutcome, method: Method): boolean {
  // A POST without a response may have been carried out.
  if (outcome.kind === "network") return method !== "post";
  return outcome.kind === "status" && retryableStatuses.has(outcome.status);
}

/** Statuses of a service that is overloaded or temporarily unavailable. */
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns the pause before an attempt: exponential backoff with full jitter, so that clients spread out. */
export function backoffBefore(attempt: number, { base, max }: RetrySettings, random: number): number {
  return random * Math.min(max, base * 2 ** (attempt - 2));
}

/** Parses a `Retry-After` header (seconds or a date) to microseconds. Undefined: it is neither. */
export function parseRetryAfter(text: string, now: number): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1e6;
  if (!/^[A-Z][a-z]{2,8},? /.test(trimmed)) return undefined;
  // asctime, the oldest of the three date formats, leaves out that it is GMT.
  const at = Date.parse(trimmed.endsWith(" GMT") ? trimmed : `${trimmed} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at * 1000 - now);
}
