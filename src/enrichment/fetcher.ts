import { deepFreeze } from "../digest/freeze.js";
import type { Fetch, Fetched, Fetcher } from "../model/endpoint.js";
import type { LastFetch } from "../model/endpoint-status.js";
import type { Shelf } from "../model/store.js";
import { microsecondsOf } from "../record/moment.js";
import type { Attempt } from "./attempts.js";
import { attemptUntilAnswered } from "./attempts.js";
import { settle } from "./breaker.js";
import { Crowd } from "./crowd.js";
import type { Timing } from "./deadline.js";
import { Deadline } from "./deadline.js";
import { defaultTimeout, settingsOf } from "./endpoint-settings.js";
import { stateKey } from "./endpoint-state.js";
import { enter, nextTurn } from "./entry.js";
import type { Exchange, Exchanged } from "./exchange.js";
import type { Failed } from "./fetch-failure.js";
import { fetchFailure, refusalOf, verdictOf } from "./fetch-failure.js";
import type { KeptAnswer } from "./kept-answers.js";
import { answerKey, isFresh, KeptAnswers } from "./kept-answers.js";
import type { Refusal } from "./shared-states.js";
import { SharedStates } from "./shared-states.js";

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

export interface OpenedFetcher extends Fetcher {
  fetch(fetch: Fetch): Promise<FetchOutcome>;
}

/** Fetches with all that an endpoint is configured to: kept answers, circuit breaker, rate limit and retries. */
export function openFetcher(options: FetcherOptions): OpenedFetcher {
  const { onTrouble = () => undefined } = options;
  const wall = (): number => microsecondsOf(options.clock());
  const crowds = new Map<string, Crowd>();
  const world = {
    ...options,
    wall,
    crowdOf({ name, endpoint }: Fetch): Crowd {
      const key = stateKey(name, endpoint);
      const crowd = crowds.get(key) ?? new Crowd(mostAtOnce);
      crowds.set(key, crowd);
      return crowd;
    },
    answers: new KeptAnswers(options.shelves.responses, onTrouble),
    states: new SharedStates(options.shelves.breakers, { wall, onTrouble }),
  };
  /** Fetches that are under way; who wants the same meanwhile waits for them. */
  const flights = new Map<string, Promise<FetchOutcome>>();
  return {
    fetch(asked) {
      const key = answerKey(asked);
      if (key === undefined) return fetchAnew(asked, undefined, world);
      const flight = `${key} ${asked.dryRun ? "dry" : ""}`;
      const under = flights.get(flight) ?? fetchKept(asked, key, world).finally(() => flights.delete(flight));
      flights.set(flight, under);
      return under;
    },
  };
}

/** So many fetches of one process ask an endpoint at the same time. */
const mostAtOnce = 16;

interface FetcherWorld extends FetcherOptions {
  readonly crowdOf: (asked: Fetch) => Crowd;
  readonly wall: () => number;
  readonly answers: KeptAnswers;
  readonly states: SharedStates;
}

async function fetchKept(asked: Fetch, key: string, world: FetcherWorld): Promise<FetchOutcome> {
  const now = world.wall();
  const answer = await world.answers.get(key, now);
  if (answer !== undefined && isFresh(answer, asked, now)) return { ok: true, ...answer, from: "cache" };
  return fetchAnew(asked, { key, stale: answer }, world);
}

interface Keeping {
  readonly key: string;
  readonly stale: KeptAnswer | undefined;
}

async function fetchAnew(
  asked: Fetch,
  keeping: Keeping | undefined,
  world: FetcherWorld,
): Promise<FetchOutcome> {
  return world.crowdOf(asked).enter(() => fetchInTime(asked, keeping, world));
}

/** Its time begins when it is let in: a batch must not fail for its own length. */
async function fetchInTime(
  asked: Fetch,
  keeping: Keeping | undefined,
  world: FetcherWorld,
): Promise<FetchOutcome> {
  const deadline = new Deadline(settingsOf(asked.endpoint).timeout, world);
  try {
    const permit = await world.states.take(enter, asked, deadline);
    if (!("at" in permit)) return refused(asked, permit, keeping?.stale);
    if (isLeftOut(asked)) return leftOut;
    const attempts = await ask(asked, permit.at, { world, deadline });
    return await conclude(asked, attempts, { world, key: keeping?.key, probe: permit.probe });
  } finally {
    deadline.keep();
  }
}

/** A dry run may not change anything at the other side either. */
const isLeftOut = ({ endpoint, dryRun }: Fetch): boolean => dryRun && settingsOf(endpoint).method !== "get";

const leftOut: FetchOutcome = { ok: false, left_out: true };

function refused(asked: Fetch, refusal: Refusal, stale: KeptAnswer | undefined): FetchOutcome {
  const error = refusalOf(asked.endpoint, refusal);
  if (error.code !== "circuit_open") return isLeftOut(asked) ? leftOut : { ok: false, error };
  return stale === undefined ? { ok: false, error } : { ok: true, ...stale, from: "stale_cache" };
}

async function ask(
  asked: Fetch,
  firstTurn: number,
  { world, deadline }: { readonly world: FetcherWorld; readonly deadline: Deadline },
): Promise<readonly Attempt[]> {
  const anotherTurn = async (): Promise<number | undefined> => {
    const permit = await world.states.take(nextTurn, asked, deadline);
    return "at" in permit ? permit.at : undefined;
  };
  const over = world.onAsking?.(asked.name);
  try {
    return await attemptUntilAnswered(asked, firstTurn, { ...world, deadline, nextTurn: anotherTurn });
  } finally {
    over?.();
  }
}

interface Concluding {
  readonly world: FetcherWorld;
  readonly key: string | undefined;
  readonly probe: number | undefined;
}

/** Lets other processes know how it went, and gives what came of it. */
async function conclude(
  asked: Fetch,
  attempts: readonly Attempt[],
  { world, key, probe }: Concluding,
): Promise<FetchOutcome> {
  const at = world.clock();
  const outcome = outcomeOf(asked, attempts, at);
  const { timeout, breaker: limits } = settingsOf(asked.endpoint);
  const verdict = verdictOf(attempts, timeout);
  const last: LastFetch = {
    at,
    milliseconds: Math.round((attempts.at(-1)?.took ?? 0) / 1000),
    ...("error" in outcome && { error: outcome.error }),
  };
  const told = world.states.tell(asked, (state, now) => ({
    ...settle(state, { verdict, probe }, { limits, now }),
    last,
  }));
  const isKept = outcome.ok && key !== undefined && !asked.dryRun;
  const kept = isKept ? world.answers.keep(key, asked, { data: outcome.data, fetched_at: at }) : undefined;
  const patience = new Deadline(longestTelling, world);
  await patience.inTime(Promise.all([told, kept]));
  patience.keep();
  return outcome;
}

/** Whoever keeps the store locked for longer is not waited for; it is told all the same. */
const longestTelling = 1e6;

function outcomeOf({ endpoint }: Fetch, attempts: readonly Attempt[], at: string): FetchOutcome {
  const exchanged = attempts.map((attempt) => attempt.exchanged);
  const last = exchanged.at(-1);
  if (last?.kind === "answer")
    return { ok: true, data: deepFreeze(last.data), from: "endpoint", fetched_at: at };
  const error = fetchFailure(exchanged.filter(isFailed), endpoint.timeout ?? defaultTimeout);
  return { ok: false, error, ...(last?.kind === "status" && { status: last.status }) };
}

const isFailed = (exchanged: Exchanged): exchanged is Failed => exchanged.kind !== "answer";
