import type { Method } from "../model/endpoint.js";
import type { RetrySettings } from "./endpoint-settings.js";
import type { Exchanged } from "./exchange.js";

/** Whether it may go better the next time, and asking again can do no harm. */
export function isRetried(exchanged: Exchanged, method: Method): boolean {
  // A post that got no answer may have been carried out.
  if (exchanged.kind === "network") return method !== "post";
  return exchanged.kind === "status" && passing.has(exchanged.status);
}

/** Statuses of a service that is overloaded or out of order for now. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** How long to wait before an attempt: anything up to a bound that doubles with each, so that many do not come at once. */
export function pauseBefore(attempt: number, { base, max }: RetrySettings, random: number): number {
  return random * Math.min(max, base * 2 ** (attempt - 2));
}

/** Microseconds that a `Retry-After` asks for: seconds or a date; undefined: it is neither. */
export function retryAfter(text: string, now: number): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1e6;
  if (!/^[A-Z][a-z]{2,8},? /.test(trimmed)) return undefined;
  // The oldest of the three ways to write it does not say that it is GMT, which it always is.
  const at = Date.parse(trimmed.endsWith(" GMT") ? trimmed : `${trimmed} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at * 1000 - now);
}
