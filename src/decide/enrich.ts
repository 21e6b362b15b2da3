import type { WrittenFetch } from "../definition/fetches.js";
import { destinationsOf, fetchesOf } from "../definition/fetches.js";
import { readsMasked } from "../definition/mask-pointers.js";
import { deepFreeze } from "../digest/freeze.js";
import { DecisionError } from "../errors.js";
import type { LenientTemplate } from "../expression/document.js";
import { compileLenient } from "../expression/document.js";
import { overlaps, putAt, removeAt } from "../expression/put-at.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import type { Endpoints, Fetched, Fetcher } from "../model/endpoint.js";
import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { mapAnswer } from "./map-answer.js";

/** The context with what was fetched in it, and what is to be remembered of the fetching. */
export interface Enriched {
  readonly context: JsonObject;
  /** Among the facts, by what the fetches are called. */
  readonly fetched: JsonObject;
  readonly warnings: readonly string[];
}

export interface FetchWorld {
  /** Undefined: nothing can be fetched. */
  readonly fetcher?: (() => Promise<Fetcher>) | undefined;
}

interface Circumstances {
  readonly world: FetchWorld;
  readonly dryRun: boolean;
  /** Whether answers that were kept will not do. */
  readonly anew: boolean;
}

/** Whether a definition fetches anything: then it is told from where. */
export const needsFetching = ({ environment }: LoadedDefinition): boolean => "endpoints" in environment;

/**
 * Fetches what a definition wants to know. What the caller has put where it goes does not count: data that
 * did not come is missing, and never what somebody says it is.
 */
export async function enrich(
  loaded: LoadedDefinition,
  scope: Scope,
  { world, dryRun, anew }: Circumstances,
): Promise<Enriched> {
  const { definition } = loaded;
  const endpoints = loaded.environment["endpoints"] as unknown as Endpoints;
  const rounds = roundsOf(definition);
  const warnings: string[] = [];
  let context = withoutGiven(rounds.flat(), scope.context, warnings);
  const fetched: Record<string, JsonObject> = {};
  const fetcher = await world.fetcher?.();
  for (const round of rounds) {
    const seen = { ...scope, context };
    const answers = await Promise.all(
      round.map(async (fetch) => ({
        fetch,
        answer: await ask(fetch, seen, { endpoints, fetcher, dryRun, anew }),
      })),
    );
    for (const { fetch, answer } of answers) {
      const mapped = mapAnswer(fetch, answer);
      fetched[fetch.key] = factOf(fetch, mapped.answer);
      for (const { at, value } of mapped.values) context = putAt(context, at, value);
      warnings.push(...mapped.warnings);
      if (fetch.required) refuseWithout(definition, fetch, mapped.answer);
    }
  }
  return { context: deepFreeze(context), fetched: deepFreeze(fetched), warnings };
}

interface PreparedFetch extends WrittenFetch {
  readonly template: LenientTemplate;
  /** Whether its answer may be kept: nothing of it, nor of its params, is masked. */
  readonly cached: boolean;
}

const known = new WeakMap<Definition, readonly (readonly PreparedFetch[])[]>();

/** Which fetches go together: each comes after those whose data its params read. */
function roundsOf(definition: Definition): readonly (readonly PreparedFetch[])[] {
  let rounds = known.get(definition);
  if (rounds === undefined) {
    rounds = inRounds(fetchesOf(definition).map((fetch) => prepareFetch(fetch, definition)));
    known.set(definition, rounds);
  }
  return rounds;
}

function prepareFetch(fetch: WrittenFetch, definition: Definition): PreparedFetch {
  const template = compileLenient(fetch.params ?? {});
  const masks = definition.logging?.mask ?? [];
  const touched = [...template.reads, ...destinationsOf(fetch)];
  return { ...fetch, template, cached: !touched.some((path) => readsMasked(path, masks)) };
}

function inRounds(fetches: readonly PreparedFetch[]): readonly (readonly PreparedFetch[])[] {
  const rounds: PreparedFetch[][] = [];
  const roundOf = new Map<PreparedFetch, number>();
  for (const fetch of fetches) {
    const reads = fetch.template.reads.map((path) => path.replace(/^context\./, ""));
    const after = [...roundOf].filter(([other]) =>
      destinationsOf(other).some((at) => reads.some((path) => path === "context" || overlaps(path, at))),
    );
    const round = Math.max(0, ...after.map(([, number]) => number + 1));
    roundOf.set(fetch, round);
    (rounds[round] ??= []).push(fetch);
  }
  return rounds;
}

function withoutGiven(fetches: readonly PreparedFetch[], given: JsonObject, warnings: string[]): JsonObject {
  let context = given;
  for (const at of fetches.flatMap(destinationsOf)) {
    const left = removeAt(context, at);
    if (left !== context) warnings.push(`the context held \`${at}\`, which is fetched: it was left out`);
    context = left;
  }
  return context;
}

async function ask(
  { endpoint: name, template, cached }: PreparedFetch,
  scope: Scope,
  {
    endpoints,
    fetcher,
    dryRun,
    anew,
  }: Omit<Circumstances, "world"> & {
    readonly endpoints: Endpoints;
    readonly fetcher: Fetcher | undefined;
  },
): Promise<Fetched> {
  const endpoint = endpoints[name];
  if (endpoint === undefined || fetcher === undefined) {
    return { ok: false, error: { code: "fetch_refused", message: "nothing can be fetched here" } };
  }
  return fetcher.fetch({ name, endpoint, params: template.fill(scope), cached: cached && !anew, dryRun });
}

/** What is remembered: where the data came from and when, not the data, which are in the context. */
function factOf({ endpoint, into }: WrittenFetch, answer: Fetched): JsonObject {
  const about = { endpoint, ...(into !== undefined && { into }) };
  if (answer.ok) return { ...about, ok: true, from: answer.from, fetched_at: answer.fetched_at };
  return "left_out" in answer
    ? { ...about, ok: false, left_out: true }
    : { ...about, ok: false, error: { ...answer.error } };
}

/** A gate says itself what it lacks; of the others there is no answer. */
function refuseWithout(definition: Definition, { endpoint }: WrittenFetch, answer: Fetched): void {
  if (answer.ok || "left_out" in answer || definition.type === "gate") return;
  const { code, message } = answer.error;
  throw new DecisionError(code, `\`${definition.id}\` needs data of \`${endpoint}\`: ${message}`, {
    hint: `see how it is with \`agent-33 decision endpoints --check\``,
    details: { decision_id: definition.id, endpoint },
  });
}
