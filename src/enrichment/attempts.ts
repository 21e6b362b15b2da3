import type { Fetch } from "../model/endpoint.js";
import type { Deadline, Timing } from "./deadline.js";
import { settingsOf } from "./endpoint-settings.js";
import type { Exchange, Exchanged } from "./exchange.js";
import { isRetried, pauseBefore, retryAfter } from "./pause.js";

export interface Attempting extends Timing {
  readonly exchange: Exchange;
  readonly random: () => number;
  /** Microseconds since 1970. */
  readonly wall: () => number;
  readonly deadline: Deadline;
  /** When the next request may be sent, in microseconds since 1970; undefined: not in time. */
  readonly nextTurn: () => Promise<number | undefined>;
}

/** A request, what came of it, and how many microseconds that took. */
export interface Attempt {
  readonly exchanged: Exchanged;
  readonly took: number;
}

/** Asks until there is an answer, or asking again makes no sense, or there is no time for it. */
export async function attemptUntilAnswered(
  asked: Fetch,
  firstTurn: number,
  attempting: Attempting,
): Promise<readonly Attempt[]> {
  const { method, retry } = settingsOf(asked.endpoint);
  const { deadline, sleep, random, wall, nextTurn } = attempting;
  const attempts: Attempt[] = [];
  for (let turn: number | undefined = firstTurn; turn !== undefined; turn = await nextTurn()) {
    if (turn > wall()) await sleep(turn - wall(), deadline.signal);
    const attempt = await attemptOnce(asked, attempting);
    attempts.push(attempt);
    if (attempts.length >= retry.attempts || !isRetried(attempt.exchanged, method)) break;
    const wanted = askedPause(attempt.exchanged, wall());
    const pause = Math.max(wanted, pauseBefore(attempts.length + 1, retry, random()));
    if (pause >= deadline.left()) break;
    await sleep(pause, deadline.signal);
  }
  return attempts;
}

/** Whatever the exchange does, it ends in time. */
async function attemptOnce(
  { endpoint, params }: Fetch,
  { exchange, deadline, now }: Attempting,
): Promise<Attempt> {
  const startedAt = now();
  const exchanged = await deadline.inTime(exchange({ endpoint, params, signal: deadline.signal }));
  return { exchanged: exchanged ?? { kind: "timeout" }, took: now() - startedAt };
}

function askedPause(exchanged: Exchanged, now: number): number {
  if (exchanged.kind !== "status" || exchanged.retryAfter === undefined) return 0;
  return retryAfter(exchanged.retryAfter, now) ?? 0;
}
