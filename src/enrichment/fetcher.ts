import { stopwatch, systemClock } from "../clock.js";
import { deepFreeze } from "../digest/freeze-json.js";
import type { CacheAdapter, Fetch, Fetched, FetchedData, Fetcher, LastFetch } from "../model/endpoint.js";
import type { Shelf } from "../model/store.js";
import { microsecondsOf } from "../record/timestamp.js";
import { admitFetch, admitRetry } from "./admission.js";
import type { Environment } from "./auth.js";
import { applyVerdict } from "./circuit-breaker.js";
import { ConcurrencyLimit } from "./concurrency.js";
import type { Timing } from "./deadline.js";
import { Deadline, maxTimerDelay } from "./deadline.js";
import type { PreparedFetch } from "./endpoint-settings.js";
import { defaultTimeout, prepareFetch } from "./endpoint-settings.js";
import type { Refusal } from "./endpoint-state.js";
import { EndpointStates } from "./endpoint-state.js";
import type { Exchange, ExchangeOutcome } from "./exchange.js";
import { lazyExchange } from "./exchange.js";
import type { FailedExchange } from "./fetch-failure.js";
import { fetchFailure, fetchVerdict, refusalFailure } from "./fetch-failure.js";
import type { CachedResponse } from "./response-cache.js";
import { isFresh, memoryShelf, ResponseCache, responseKey } from "./response-cache.js";
import type { Attempt } from "./retry.js";
import { requestWithRetries } from "./retry.js";

/** The outcome of a fetch, with the HTTP status of a failed response. */
export type FetchOutcome = Fetched & { readonly status?: number };

export interface EndpointFetcher extends Fetcher {
  fetch(fetch: Fetch): Promise<FetchOutcome>;
}

export type NetworkFetcherOptions = Pick<FetcherOptions, "shelves" | "onRequest" | "onWarning"> & {
  /** Contains the secrets that endpoints refer to by name. */
  readonly env: Environment;
};

/** Creates a fetcher that uses the network and the system clock. */
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

export interface FetcherOptions extends Timing {
  readonly exchange: Exchange;
  readonly shelves: { readonly breakers: Shelf; readonly responses: Shelf };
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** Returns the time of day as a timestamp. */
  readonly clock: () => string;
  /** Called before requests to an endpoint. The returned function is called after the last one. */
  readonly onRequest?: ((endpoint: string) => () => void) | undefined;
  /** Receives warnings about failures that do not change the outcome. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Fetches with response cache, circuit breaker, rate limit and retries, as each endpoint is configured. */
export function createFetcher(options: FetcherOptions): EndpointFetcher {
  const { onWarning = () => undefined } = options;
  const wall = (): number => microsecondsOf(options.clock());
  const limits = new Map<string, ConcurrencyLimit>();
  const context: FetcherContext = {
    ...options,
    wall,
    limitFor({ stateKey }) {
      const limit = limits.get(stateKey) ?? new ConcurrencyLimit(maxConcurrentFetches);
      limits.set(stateKey, limit);
      return limit;
    },
    caches: {
      store: new ResponseCache(options.shelves.responses, onWarning),
      memory: new ResponseCache(memoryShelf(), onWarning),
    },
    states: new EndpointStates(options.shelves.breakers, { wall, onWarning }),
  };
  /** Running fetches by key. The same fetch waits for the running one. */
  const running = new Map<string, Promise<FetchOutcome>>();
  return {
    async fetch(request) {
      const fetch = prepareFetch(request);
      const key = responseKey(fetch);
      if (key === undefined) return fetchLimited(fetch, undefined, context);
      const runningKey = `${key} ${fetch.dryRun ? "dry" : ""}`;
      const outcome =
        running.get(runningKey) ?? fetchCached(fetch, key, context).finally(() => running.delete(runningKey));
      running.set(runningKey, outcome);
      return outcome;
    },
  };
}

/** Concurrent fetches per endpoint and process. */
const maxConcurrentFetches = 16;

interface FetcherContext extends FetcherOptions {
  readonly limitFor: (fetch: PreparedFetch) => ConcurrencyLimit;
  readonly wall: () => number;
  readonly caches: Readonly<Record<CacheAdapter, ResponseCache>>;
  readonly states: EndpointStates;
}

async function fetchCached(
  fetch: PreparedFetch,
  key: string,
  context: FetcherContext,
): Promise<FetchOutcome> {
  const now = context.wall();
  const response = await cacheOf(fetch, context).get(key, now);
  if (response !== undefined && isFresh(response, fetch, now))
    return { ok: true, ...response, from: "cache" };
  return fetchLimited(fetch, { key, stale: response }, context);
}

const cacheOf = ({ endpoint }: PreparedFetch, { caches }: FetcherContext): ResponseCache =>
  caches[endpoint.cache?.adapter ?? "store"];

interface CacheSlot {
  readonly key: string;
  readonly stale: CachedResponse | undefined;
}

/** The time limit starts when the fetch is let in: a large batch must not time out because of its own size. */
async function fetchLimited(
  fetch: PreparedFetch,
  slot: CacheSlot | undefined,
  context: FetcherContext,
): Promise<FetchOutcome> {
  return context.limitFor(fetch).run(() => fetchInTime(fetch, slot, context));
}

async function fetchInTime(
  fetch: PreparedFetch,
  slot: CacheSlot | undefined,
  context: FetcherContext,
): Promise<FetchOutcome> {
  const deadline = new Deadline(fetch.settings.timeout, context);
  try {
    const permit = await context.states.admit(admitFetch, fetch, deadline);
    if (!("at" in permit)) return refusedOutcome(fetch, permit, slot?.stale);
    if (isSkippedInDryRun(fetch)) return skipped;
    const attempts = await sendRequests(fetch, permit.at, { context, deadline });
    return await conclude(fetch, attempts, { context, key: slot?.key, probe: permit.probe });
  } finally {
    deadline.cancel();
  }
}

/** A dry run must not change anything at the endpoint either. */
const isSkippedInDryRun = ({ settings, dryRun }: PreparedFetch): boolean =>
  dryRun && settings.method !== "get";

const skipped: FetchOutcome = { ok: false, left_out: true };

function refusedOutcome(
  fetch: PreparedFetch,
  refusal: Refusal,
  stale: CachedResponse | undefined,
): FetchOutcome {
  const error = refusalFailure(fetch.endpoint, refusal);
  if (error.code !== "circuit_open") return isSkippedInDryRun(fetch) ? skipped : { ok: false, error };
  return stale === undefined ? { ok: false, error } : { ok: true, ...stale, from: "stale_cache" };
}

async function sendRequests(
  fetch: PreparedFetch,
  firstSlot: number,
  { context, deadline }: { readonly context: FetcherContext; readonly deadline: Deadline },
): Promise<readonly Attempt[]> {
  const nextSlot = async (): Promise<number | undefined> => {
    const permit = await context.states.admit(admitRetry, fetch, deadline);
    return "at" in permit ? permit.at : undefined;
  };
  const onDone = context.onRequest?.(fetch.name);
  try {
    return await requestWithRetries(fetch, firstSlot, { ...context, deadline, nextSlot });
  } finally {
    onDone?.();
  }
}

interface ConclusionOptions {
  readonly context: FetcherContext;
  readonly key: string | undefined;
  readonly probe: number | undefined;
}

/** Writes the new state and the response to the store, and returns the outcome. */
async function conclude(
  fetch: PreparedFetch,
  attempts: readonly Attempt[],
  { context, key, probe }: ConclusionOptions,
): Promise<FetchOutcome> {
  const at = context.clock();
  const outcome = toOutcome(fetch, attempts, at);
  const { timeout, breaker: settings } = fetch.settings;
  const verdict = fetchVerdict(attempts, timeout);
  const last: LastFetch = {
    at,
    milliseconds: Math.round((attempts.at(-1)?.took ?? 0) / 1000),
    ...("error" in outcome && { error: outcome.error }),
  };
  const stateWritten = context.states.update(fetch, (state, now) => ({
    ...applyVerdict(state, { verdict, probe }, { settings, now }),
    last,
  }));
  const isCached = outcome.ok && key !== undefined && !fetch.dryRun;
  const responseWritten = isCached
    ? cacheOf(fetch, context).put(key, fetch, { ...dataOf(outcome), fetched_at: at })
    : undefined;
  const wait = new Deadline(maxWriteWait, context);
  await wait.race(Promise.all([stateWritten, responseWritten]));
  wait.cancel();
  return outcome;
}

/** A locked store does not delay the outcome any longer. The writes continue in the background. */
const maxWriteWait = 1e6;

function toOutcome({ endpoint }: PreparedFetch, attempts: readonly Attempt[], at: string): FetchOutcome {
  const outcomes = attempts.map(({ outcome }) => outcome);
  const last = outcomes.at(-1);
  if (last?.kind === "answer") {
    return { ok: true, ...deepFreeze(dataOf(last)), from: "endpoint", fetched_at: at };
  }
  const error = fetchFailure(outcomes.filter(isFailed), endpoint.timeout ?? defaultTimeout);
  return { ok: false, error, ...(last?.kind === "status" && { status: last.status }) };
}

const dataOf = ({ data, integers_as_text }: FetchedData): FetchedData =>
  integers_as_text === undefined ? { data } : { data, integers_as_text };

const isFailed = (outcome: ExchangeOutcome): outcome is FailedExchange => outcome.kind !== "answer";

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
