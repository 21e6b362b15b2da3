import type { WrittenFetch } from "../definition/fetches.js";
import { destinationsOf } from "../definition/fetches.js";
import { deepFreeze } from "../digest/freeze.js";
import { DecisionError } from "../errors.js";
import { putAt, removeAt } from "../expression/put-at.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import type { Endpoints, Fetched, Fetcher } from "../model/endpoint.js";
import type { JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { PreparedFetch } from "./fetch-rounds.js";
import { roundsOf } from "./fetch-rounds.js";
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
  /** Whether params without a value end the decision. */
  readonly strict: boolean;
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
  { world, dryRun, anew, strict }: Circumstances,
): Promise<Enriched> {
  const { definition } = loaded;
  const endpoints = loaded.environment["endpoints"] as unknown as Endpoints;
  const rounds = roundsOf(definition);
  const warnings: string[] = [];
  let context = withoutGiven(rounds.flat(), scope.context, warnings);
  const fetched: Record<string, JsonObject> = {};
  const fetcher = await world.fetcher?.();
  const hasFailed = ({ key }: WrittenFetch): boolean => fetched[key]?.["ok"] === false;
  for (const round of rounds) {
    const seen = { ...scope, context };
    const filled = round.map((fetch) => ({ fetch, ...fill(fetch, seen) }));
    if (strict) refuseMissing(definition, filled);
    const answers = await Promise.all(
      filled.map(async ({ fetch, params, missing }) => {
        const isVain = missing.length > 0 && fetch.after.some(hasFailed);
        if (isVain) return { fetch, answer: notAsked(missing) };
        if (missing.length > 0) warnings.push(`\`${fetch.endpoint}\` is asked though ${missing.join(", ")}`);
        return { fetch, answer: await ask(fetch, params, { endpoints, fetcher, dryRun, anew }) };
      }),
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

function withoutGiven(fetches: readonly PreparedFetch[], given: JsonObject, warnings: string[]): JsonObject {
  let context = given;
  for (const at of fetches.flatMap(destinationsOf)) {
    const left = removeAt(context, at);
    if (left !== context) warnings.push(`the context held \`${at}\`, which is fetched: it was left out`);
    context = left;
  }
  return context;
}

/** A failure that also tells of data that did not come: they may well be why. */
export function failureAfter(error: unknown, { warnings }: Enriched): unknown {
  if (!(error instanceof DecisionError) || warnings.length === 0) return error;
  const { code, message, hint, details } = error;
  return new DecisionError(code, `${message} (${warnings.join("; ")})`, { hint, details, cause: error });
}

interface Filled {
  readonly params: JsonObject;
  /** Why some of them have no value. */
  readonly missing: readonly string[];
}

function fill({ template }: PreparedFetch, scope: Scope): Filled {
  const missing: string[] = [];
  return { params: template.fill(scope, (why) => missing.push(why)), missing };
}

function refuseMissing(
  { id }: Definition,
  filled: readonly (Filled & { readonly fetch: PreparedFetch })[],
): void {
  const lacking = filled.find(({ missing }) => missing.length > 0);
  if (lacking === undefined) return;
  const { fetch, missing } = lacking;
  throw new DecisionError(
    "condition_errored",
    `\`${id}\`: \`${fetch.endpoint}\` cannot be asked: ${missing.join(", ")}`,
    {
      hint: "give the missing values, or ask for them with exists(…) or get(…)",
      details: { decision_id: id },
    },
  );
}

/** What is asked for data that did not come would be asked about nobody. */
const notAsked = (missing: readonly string[]): Fetched => ({
  ok: false,
  error: { code: "fetch_refused", message: `it was not asked, as ${missing.join(", ")}` },
});

async function ask(
  { endpoint: name, cached }: PreparedFetch,
  params: JsonObject,
  {
    endpoints,
    fetcher,
    dryRun,
    anew,
  }: Omit<Circumstances, "world" | "strict"> & {
    readonly endpoints: Endpoints;
    readonly fetcher: Fetcher | undefined;
  },
): Promise<Fetched> {
  const endpoint = endpoints[name];
  if (endpoint === undefined || fetcher === undefined) {
    return { ok: false, error: { code: "fetch_refused", message: "nothing can be fetched here" } };
  }
  return fetcher.fetch({ name, endpoint, params, cached: cached && !anew, dryRun });
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
