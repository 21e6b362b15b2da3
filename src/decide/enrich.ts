import { readsMasked } from "../definition/definition-reads.js";
import type { DeclaredFetch } from "../definition/fetches.js";
import { destinationsOf, uniqueFetches } from "../definition/fetches.js";
import { deepFreeze, maxDepth } from "../digest/freeze-json.js";
import { DecisionError } from "../errors.js";
import type { LenientDocumentTemplate } from "../expression/document-template.js";
import { compileLenientDocument } from "../expression/document-template.js";
import { isObject } from "../expression/equal.js";
import { setAtPath, removeAtPath, pathsOverlap } from "../expression/path.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import type { Endpoints, Fetched, Fetcher } from "../model/endpoint.js";
import type { JsonObject, Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";

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

interface EnrichOptions {
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
  { world, dryRun, anew, strict }: EnrichOptions,
): Promise<Enriched> {
  const { definition } = loaded;
  const endpoints = loaded.environment["endpoints"] as unknown as Endpoints;
  const rounds = fetchRounds(definition);
  const warnings: string[] = [];
  let context = dropSuppliedData(rounds.flat(), scope.context, warnings);
  const fetched: Record<string, JsonObject> = {};
  const fetcher = await world.fetcher?.();
  const hasFailed = ({ key }: DeclaredFetch): boolean => fetched[key]?.["ok"] === false;
  for (const round of rounds) {
    const seen = { ...scope, context };
    const filled = round.map((fetch) => ({ fetch, ...fillParams(fetch, seen) }));
    if (strict) assertComplete(definition, filled);
    const answers = await Promise.all(
      filled.map(async ({ fetch, params, missing }) => {
        const isVain = missing.length > 0 && fetch.after.some(hasFailed);
        if (isVain) return { fetch, answer: notSent(missing) };
        if (missing.length > 0) warnings.push(`\`${fetch.endpoint}\` is asked though ${missing.join(", ")}`);
        return { fetch, answer: await fetchOnce(fetch, params, { endpoints, fetcher, dryRun, anew }) };
      }),
    );
    for (const { fetch, answer } of answers) {
      const mapped = mapAnswer(fetch, answer);
      fetched[fetch.key] = factOf(fetch, mapped.answer);
      for (const { at, value } of mapped.values) context = setAtPath(context, at, value);
      warnings.push(...mapped.warnings);
      if (fetch.required) assertFetched(definition, fetch, mapped.answer);
    }
  }
  return { context: deepFreeze(context), fetched: deepFreeze(fetched), warnings };
}

function dropSuppliedData(
  fetches: readonly PreparedFetch[],
  given: JsonObject,
  warnings: string[],
): JsonObject {
  let context = given;
  for (const at of fetches.flatMap(destinationsOf)) {
    const left = removeAtPath(context, at);
    if (left !== context) warnings.push(`the context held \`${at}\`, which is fetched: it was left out`);
    context = left;
  }
  return context;
}

/** A failure that also tells of data that did not come: they may well be why. */
export function withFetchWarnings(error: unknown, { warnings }: Enriched): unknown {
  if (!(error instanceof DecisionError) || warnings.length === 0) return error;
  const { code, message, hint, details } = error;
  return new DecisionError(code, `${message} (${warnings.join("; ")})`, { hint, details, cause: error });
}

interface Filled {
  readonly params: JsonObject;
  /** Why some of them have no value. */
  readonly missing: readonly string[];
}

function fillParams({ template }: PreparedFetch, scope: Scope): Filled {
  const missing: string[] = [];
  return { params: template.fill(scope, (why) => missing.push(why)), missing };
}

function assertComplete(
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
const notSent = (missing: readonly string[]): Fetched => ({
  ok: false,
  error: { code: "fetch_refused", message: `it was not asked, as ${missing.join(", ")}` },
});

async function fetchOnce(
  { endpoint: name, cached }: PreparedFetch,
  params: JsonObject,
  {
    endpoints,
    fetcher,
    dryRun,
    anew,
  }: Omit<EnrichOptions, "world" | "strict"> & {
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
function factOf({ endpoint, into }: DeclaredFetch, answer: Fetched): JsonObject {
  const about = { endpoint, ...(into !== undefined && { into }) };
  if (answer.ok) return { ...about, ok: true, from: answer.from, fetched_at: answer.fetched_at };
  return "left_out" in answer
    ? { ...about, ok: false, left_out: true }
    : { ...about, ok: false, error: { ...answer.error } };
}

/** A gate says itself what it lacks; of the others there is no answer. */
function assertFetched(definition: Definition, { endpoint }: DeclaredFetch, answer: Fetched): void {
  if (answer.ok || "left_out" in answer || definition.type === "gate") return;
  const { code, message } = answer.error;
  throw new DecisionError(code, `\`${definition.id}\` needs data of \`${endpoint}\`: ${message}`, {
    hint: `see how it is with \`agent-33 decision endpoints --check\``,
    details: { decision_id: definition.id, endpoint },
  });
}

interface PreparedFetch extends DeclaredFetch {
  readonly template: LenientDocumentTemplate;
  /** Those whose data its params read. */
  readonly after: readonly DeclaredFetch[];
  /** Whether its answer may be kept: the context is, and nothing of it, nor of its params, is masked. */
  readonly cached: boolean;
}

const preparedRounds = new WeakMap<Definition, readonly (readonly PreparedFetch[])[]>();

/** Which fetches go together: each comes after those whose data its params read. */
function fetchRounds(definition: Definition): readonly (readonly PreparedFetch[])[] {
  let rounds = preparedRounds.get(definition);
  if (rounds === undefined) {
    rounds = orderFetches(uniqueFetches(definition).map((fetch) => prepareFetch(fetch, definition)));
    preparedRounds.set(definition, rounds);
  }
  return rounds;
}

function prepareFetch(fetch: DeclaredFetch, definition: Definition): PreparedFetch {
  const template = compileLenientDocument(fetch.params ?? {});
  const masks = definition.logging?.mask ?? [];
  const touched = [...template.reads, ...destinationsOf(fetch)];
  const isTold = definition.logging?.include_inputs !== false;
  return {
    ...fetch,
    template,
    after: [],
    cached: isTold && !touched.some((path) => readsMasked(path, masks)),
  };
}

function orderFetches(fetches: readonly PreparedFetch[]): readonly (readonly PreparedFetch[])[] {
  const rounds: PreparedFetch[][] = [];
  const roundOf = new Map<PreparedFetch, number>();
  for (const fetch of fetches) {
    const reads = fetch.template.reads.map((path) => path.replace(/^context\./, ""));
    const after = [...roundOf].filter(([other]) =>
      destinationsOf(other).some((at) => reads.some((path) => path === "context" || pathsOverlap(path, at))),
    );
    const round = Math.max(0, ...after.map(([, number]) => number + 1));
    const prepared = { ...fetch, after: after.map(([other]) => other) };
    roundOf.set(prepared, round);
    (rounds[round] ??= []).push(prepared);
  }
  return rounds;
}

interface MappedAnswer {
  /** A failure where the data have nothing of what is wanted. */
  readonly answer: Fetched;
  /** What goes where in the context. */
  readonly values: readonly { readonly at: string; readonly value: Json }[];
  readonly warnings: readonly string[];
}

/** What of an answer goes into the context, and what is to be said about it. */
function mapAnswer({ endpoint, into, mapping }: DeclaredFetch, answer: Fetched): MappedAnswer {
  if (!answer.ok) return failedAnswer(endpoint, answer);
  if (answer.data === null) return failedAnswer(endpoint, emptyAnswer);
  const stale = answer.from === "stale_cache" ? [staleness(endpoint, answer.fetched_at)] : [];
  if (mapping === undefined) {
    const values = into === undefined ? [] : [{ at: into, value: answer.data }];
    return values.every(isShallowEnough)
      ? { answer, values, warnings: stale }
      : failedAnswer(endpoint, tooDeep);
  }
  const found = Object.entries(mapping).map(([from, to]) => ({
    from,
    at: into === undefined ? to : `${into}.${to}`,
    value: valueAt(answer.data, from),
  }));
  const values = found.flatMap(({ at, value }) => (value === undefined ? [] : [{ at, value }]));
  const missing = found.filter(({ value }) => value === undefined).map(({ from }) => `\`${from}\``);
  if (values.length === 0) {
    const message = `its answer has no ${missing.join(", ")}`;
    return failedAnswer(endpoint, { ok: false, error: { code: "request_failed", message } });
  }
  if (!values.every(isShallowEnough)) return failedAnswer(endpoint, tooDeep);
  const lacking = missing.length === 0 ? [] : [`the answer of \`${endpoint}\` has no ${missing.join(", ")}`];
  return { answer, values, warnings: [...stale, ...lacking] };
}

/** No content, or null: there is nothing that anybody could go by. */
const emptyAnswer: Failed = {
  ok: false,
  error: { code: "request_failed", message: "its answer is empty" },
};

const tooDeep: Failed = {
  ok: false,
  error: { code: "request_failed", message: "its answer is nested too deeply" },
};

/** A context with it in can be taken like any other. */
function isShallowEnough({ at, value }: { readonly at: string; readonly value: Json }): boolean {
  return isShallow(value, maxDepth - at.split(".").length);
}

const isShallow = (value: Json, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((each: Json) => isShallow(each, levels - 1)));

type Failed = Exclude<Fetched, { readonly ok: true }>;

const failedAnswer = (endpoint: string, answer: Failed): MappedAnswer => ({
  answer,
  values: [],
  warnings: [failureText(endpoint, answer)],
});

function failureText(endpoint: string, answer: Failed): string {
  if ("left_out" in answer) return `\`${endpoint}\` was not asked, as a dry run only reads`;
  return `no data came from \`${endpoint}\`: ${answer.error.message}`;
}

const staleness = (endpoint: string, at: string): string =>
  `the data of \`${endpoint}\` are from ${at}: its circuit is open`;

/** Own properties and list items only. */
function valueAt(data: Json, path: string): Json | undefined {
  let value: Json | undefined = data;
  for (const step of path.split(".")) {
    if (Array.isArray(value))
      value = /^(?:0|[1-9]\d*)$/.test(step) ? (value as Json[])[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
