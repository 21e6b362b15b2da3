import { admitFetch, admitRetry } from "./admission.js";
import type { Environment } from "./auth.js";
import { applyVerdict } from "./circuit-breaker.js";
import { ConcurrencyLimit } from "./concurrency.js";
import type { Timing } from "./deadline.js";
import { Deadline } from "./deadline.js";
import { defaultTimeout, settingsOf } from "./endpoint-settings.js";
import type { Refusal } from "./endpoint-state.js";
import { stateKey, EndpointStates } from "./endpoint-state.js";
import type { Exchange, ExchangeOutcome } from "./exchange.js";
import { lazyExchange } from "./exchange.js";
import type { FailedExchange } from "./fetch-failure.js";
import { fetchFailure, refusalFailure, fetchVerdict } from "./fetch-failure.js";
import type { CachedResponse } from "./response-cache.js";
import { responseKey, isFresh, ResponseCache } from "./response-cache.js";
import type { Attempt } from "./retry.js";
import { requestWithRetries } from "./retry.js";
import { stopwatch, systemClock } from "../clock.js";
import { deepFreeze } from "../digest/freeze-json.js";
import type { Fetch, Fetched, Fetcher, LastFetch } from "../model/endpoint.js";
import type { Shelf } from "../model/store.js";
import { microsecondsOf } from "../record/timestamp.js";

export interface FetcherOptions extends Timing {
  readonly exchange: Exchange;
  readonly shelves: { readonly breakers: Shelf; readonly responses: Shelf };
  /** From 0 to 1. */
  readonly random: () => number;
  /** The time of day, as records have it. */
  readonly clock: () => string;
  /** Hears that the network is asked; what it gives hears that that is over. */
  readonly onAsking?: ((endpoint: string) => () => void) | undefined;
  /** Hears of what went wrong without touching an answer. */
  readonly onTrouble?: ((message: string) => void) | undefined;
}

/** What came of a fetch, with the status where the endpoint answered with a bad one. */
export type FetchOutcome = Fetched & { readonly status?: number };

export interface EndpointFetcher extends Fetcher {
  fetch(fetch: Fetch): Promise<FetchOutcome>;
}

/** Fetches with all that an endpoint is configured to: kept answers, circuit breaker, rate limit and retries. */
export function createFetcher(options: FetcherOptions): EndpointFetcher {
  const { onTrouble = () => undefined } = options;
  const wall = (): number => microsecondsOf(options.clock());
  const crowds = new Map<string, ConcurrencyLimit>();
  const world = {
    ...options,
    wall,
    crowdOf({ name, endpoint }: Fetch): ConcurrencyLimit {
      const key = stateKey(name, endpoint);
      const crowd = crowds.get(key) ?? new ConcurrencyLimit(maxConcurrentFetches);
      crowds.set(key, crowd);
      return crowd;
    },
    answers: new ResponseCache(options.shelves.responses, onTrouble),
    states: new EndpointStates(options.shelves.breakers, { wall, onTrouble }),
  };
  /** Fetches that are under way; who wants the same meanwhile waits for them. */
  const flights = new Map<string, Promise<FetchOutcome>>();
  return {
    fetch(asked) {
      const key = responseKey(asked);
      if (key === undefined) return fetchLimited(asked, undefined, world);
      const flight = `${key} ${asked.dryRun ? "dry" : ""}`;
      const under =
        flights.get(flight) ?? fetchCached(asked, key, world).finally(() => flights.delete(flight));
      flights.set(flight, under);
      return under;
    },
  };
}

/** So many fetches of one process ask an endpoint at the same time. */
const maxConcurrentFetches = 16;

interface FetcherContext extends FetcherOptions {
  readonly crowdOf: (asked: Fetch) => ConcurrencyLimit;
  readonly wall: () => number;
  readonly answers: ResponseCache;
  readonly states: EndpointStates;
}

async function fetchCached(asked: Fetch, key: string, world: FetcherContext): Promise<FetchOutcome> {
  const now = world.wall();
  const answer = await world.answers.get(key, now);
  if (answer !== undefined && isFresh(answer, asked, now)) return { ok: true, ...answer, from: "cache" };
  return fetchLimited(asked, { key, stale: answer }, world);
}

interface CacheSlot {
  readonly key: string;
  readonly stale: CachedResponse | undefined;
}

async function fetchLimited(
  asked: Fetch,
  keeping: CacheSlot | undefined,
  world: FetcherContext,
): Promise<FetchOutcome> {
  return world.crowdOf(asked).run(() => fetchInTime(asked, keeping, world));
}

/** Its time begins when it is let in: a batch must not fail for its own length. */
async function fetchInTime(
  asked: Fetch,
  keeping: CacheSlot | undefined,
  world: FetcherContext,
): Promise<FetchOutcome> {
  const deadline = new Deadline(settingsOf(asked.endpoint).timeout, world);
  try {
    const permit = await world.states.admit(admitFetch, asked, deadline);
    if (!("at" in permit)) return refusedOutcome(asked, permit, keeping?.stale);
    if (isSkippedInDryRun(asked)) return skipped;
    const attempts = await sendRequests(asked, permit.at, { world, deadline });
    return await conclude(asked, attempts, { world, key: keeping?.key, probe: permit.probe });
  } finally {
    deadline.cancel();
  }
}

/** A dry run may not change anything at the other side either. */
const isSkippedInDryRun = ({ endpoint, dryRun }: Fetch): boolean =>
  dryRun && settingsOf(endpoint).method !== "get";

const skipped: FetchOutcome = { ok: false, left_out: true };

function refusedOutcome(asked: Fetch, refusal: Refusal, stale: CachedResponse | undefined): FetchOutcome {
  const error = refusalFailure(asked.endpoint, refusal);
  if (error.code !== "circuit_open") return isSkippedInDryRun(asked) ? skipped : { ok: false, error };
  return stale === undefined ? { ok: false, error } : { ok: true, ...stale, from: "stale_cache" };
}

async function sendRequests(
  asked: Fetch,
  firstTurn: number,
  { world, deadline }: { readonly world: FetcherContext; readonly deadline: Deadline },
): Promise<readonly Attempt[]> {
  const anotherTurn = async (): Promise<number | undefined> => {
    const permit = await world.states.admit(admitRetry, asked, deadline);
    return "at" in permit ? permit.at : undefined;
  };
  const over = world.onAsking?.(asked.name);
  try {
    return await requestWithRetries(asked, firstTurn, { ...world, deadline, nextSlot: anotherTurn });
  } finally {
    over?.();
  }
}

interface ConclusionOptions {
  readonly world: FetcherContext;
  readonly key: string | undefined;
  readonly probe: number | undefined;
}

/** Lets other processes know how it went, and gives what came of it. */
async function conclude(
  asked: Fetch,
  attempts: readonly Attempt[],
  { world, key, probe }: ConclusionOptions,
): Promise<FetchOutcome> {
  const at = world.clock();
  const outcome = toOutcome(asked, attempts, at);
  const { timeout, breaker: limits } = settingsOf(asked.endpoint);
  const verdict = fetchVerdict(attempts, timeout);
  const last: LastFetch = {
    at,
    milliseconds: Math.round((attempts.at(-1)?.took ?? 0) / 1000),
    ...("error" in outcome && { error: outcome.error }),
  };
  const told = world.states.update(asked, (state, now) => ({
    ...applyVerdict(state, { verdict, probe }, { limits, now }),
    last,
  }));
  const isKept = outcome.ok && key !== undefined && !asked.dryRun;
  const kept = isKept ? world.answers.put(key, asked, { data: outcome.data, fetched_at: at }) : undefined;
  const patience = new Deadline(maxWriteWait, world);
  await patience.race(Promise.all([told, kept]));
  patience.cancel();
  return outcome;
}

/** Whoever keeps the store locked for longer is not waited for; it is told all the same. */
const maxWriteWait = 1e6;

function toOutcome({ endpoint }: Fetch, attempts: readonly Attempt[], at: string): FetchOutcome {
  const exchanged = attempts.map((attempt) => attempt.exchanged);
  const last = exchanged.at(-1);
  if (last?.kind === "answer")
    return { ok: true, data: deepFreeze(last.data), from: "endpoint", fetched_at: at };
  const error = fetchFailure(exchanged.filter(isFailed), endpoint.timeout ?? defaultTimeout);
  return { ok: false, error, ...(last?.kind === "status" && { status: last.status }) };
}

const isFailed = (exchanged: ExchangeOutcome): exchanged is FailedExchange => exchanged.kind !== "answer";

export type NetworkFetcherOptions = Pick<FetcherOptions, "shelves" | "onAsking" | "onTrouble"> & {
  /** Holds the secrets that endpoints name. */
  readonly env: Environment;
};

/** A fetcher that asks the network. */
export function createNetworkFetcher({ env, ...options }: NetworkFetcherOptions): EndpointFetcher {
  return createFetcher({
    ...options,
    exchange: lazyExchange({ env }),
    now: () => stopwatch() * 1000,
    sleep,
    random: Math.random,
    clock: systemClock,
  });
}

/** No timer can be set for longer. */
const maxTimerDelay = 2 ** 31 - 1;

function sleep(microseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(Math.ceil(microseconds / 1000), maxTimerDelay));
    signal?.addEventListener("abort", wake);
    if (signal?.aborted) wake();
  });
}
