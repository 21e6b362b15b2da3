import type { Deadline, Timing } from "./deadline.js";
import type { RetrySettings } from "./endpoint-settings.js";
import { settingsOf } from "./endpoint-settings.js";
import type { Exchange, ExchangeOutcome } from "./exchange.js";
import type { Fetch, Method } from "../model/endpoint.js";

interface AttemptOptions extends Timing {
  readonly exchange: Exchange;
  readonly random: () => number;
  /** Microseconds since 1970. */
  readonly wall: () => number;
  readonly deadline: Deadline;
  /** When the next request may be sent, in microseconds since 1970; undefined: not in time. */
  readonly nextSlot: () => Promise<number | undefined>;
}

/** A request, what came of it, and how many microseconds that took. */
export interface Attempt {
  readonly exchanged: ExchangeOutcome;
  readonly took: number;
}

/** Asks until there is an answer, or asking again makes no sense, or there is no time for it. */
export async function requestWithRetries(
  asked: Fetch,
  firstTurn: number,
  attempting: AttemptOptions,
): Promise<readonly Attempt[]> {
  const { method, retry } = settingsOf(asked.endpoint);
  const { deadline, sleep, random, wall, nextSlot: nextTurn } = attempting;
  const attempts: Attempt[] = [];
  for (let turn: number | undefined = firstTurn; turn !== undefined; turn = await nextTurn()) {
    if (turn > wall()) await sleep(turn - wall(), deadline.signal);
    const attempt = await requestOnce(asked, attempting);
    attempts.push(attempt);
    if (attempts.length >= retry.attempts || !isRetryable(attempt.exchanged, method)) break;
    const wanted = requestedPause(attempt.exchanged, wall());
    const pause = Math.max(wanted, backoffBefore(attempts.length + 1, retry, random()));
    if (pause >= deadline.left()) break;
    await sleep(pause, deadline.signal);
  }
  return attempts;
}

/** Whatever the exchange does, it ends in time. */
async function requestOnce(
  { endpoint, params }: Fetch,
  { exchange, deadline, now }: AttemptOptions,
): Promise<Attempt> {
  const startedAt = now();
  const exchanged = await deadline.race(exchange({ endpoint, params, signal: deadline.signal }));
  return { exchanged: exchanged ?? { kind: "timeout" }, took: now() - startedAt };
}

function requestedPause(exchanged: ExchangeOutcome, now: number): number {
  if (exchanged.kind !== "status" || exchanged.retryAfter === undefined) return 0;
  return parseRetryAfter(exchanged.retryAfter, now) ?? 0;
}

/** Whether it may go better the next time, and asking again can do no harm. */
export function isRetryable(exchanged: ExchangeOutcome, method: Method): boolean {
  // A post that got no answer may have been carried out.
  if (exchanged.kind === "network") return method !== "post";
  return exchanged.kind === "status" && retryableStatuses.has(exchanged.status);
}

/** Statuses of a service that is overloaded or out of order for now. */
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** How long to wait before an attempt: anything up to a bound that doubles with each, so that many do not come at once. */
export function backoffBefore(attempt: number, { base, max }: RetrySettings, random: number): number {
  return random * Math.min(max, base * 2 ** (attempt - 2));
}

/** Microseconds that a `Retry-After` asks for: seconds or a date; undefined: it is neither. */
export function parseRetryAfter(text: string, now: number): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1e6;
  if (!/^[A-Z][a-z]{2,8},? /.test(trimmed)) return undefined;
  // The oldest of the three ways to write it does not say that it is GMT, which it always is.
  const at = Date.parse(trimmed.endsWith(" GMT") ? trimmed : `${trimmed} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at * 1000 - now);
}
