import { readsMasked } from "../definition/definition-reads.js";
import { masksOf } from "../definition/loaded-definition.js";
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
import type { Bound } from "./bind.js";
import type { ReadyDefinition } from "./find.js";
import type { CallState, World } from "./request.js";

/** A scope whose context holds the fetched data. */
export interface Enriched {
  readonly scope: Bound["scope"];
  /** Recorded among the facts, by the name of each fetch; undefined where the definition fetches nothing. */
  readonly fetched: JsonObject | undefined;
  readonly warnings: readonly string[];
}

/** Fetches that run at the same time. */
export type FetchRound = readonly PreparedFetch[];

const noWarnings: readonly string[] = Object.freeze([]);

/**
 * Fetches data from endpoints into the context. Values that the caller supplies in the same places are
 * dropped: data that could not be fetched is missing, never taken from the caller.
 */
export async function enrich(
  definition: ReadyDefinition,
  bound: Bound,
  world: Pick<World, "fetcher">,
  call: CallState,
): Promise<Enriched> {
  const { loaded } = definition;
  const earlier = call.enriched?.get(loaded);
  // A retry has a new record id and time, and the same data.
  if (earlier !== undefined) {
    return { ...earlier, scope: { ...bound.scope, context: earlier.scope.context } };
  }
  const enriched = await fetchAll(definition, bound, world);
  call.enriched?.set(loaded, enriched);
  return enriched;
}

/** Whether the definition fetches anything. */
export const needsData = ({ fetchRounds }: ReadyDefinition): boolean => fetchRounds.length > 0;

/** The scope of a definition that fetches nothing. */
export const withoutData = ({ scope }: Bound): Enriched => ({
  scope,
  fetched: undefined,
  warnings: noWarnings,
});

async function fetchAll(
  { loaded, fetchRounds }: ReadyDefinition,
  { scope, dryRun, strict, noCache, org }: Bound,
  world: Pick<World, "fetcher">,
): Promise<Enriched> {
  const { definition } = loaded;
  const endpoints = loaded.environment["endpoints"] as unknown as Endpoints;
  const warnings: string[] = [];
  let context = dropSuppliedData(fetchRounds.flat(), scope.context, warnings);
  const fetched: Record<string, JsonObject> = {};
  const fetcher = await world.fetcher?.();
  const hasFailed = ({ key }: DeclaredFetch): boolean => fetched[key]?.["ok"] === false;
  for (const round of fetchRounds) {
    const current = { ...scope, context };
    const filled = round.map((fetch) => ({ fetch, ...fillParams(fetch, current) }));
    if (strict) assertComplete(definition, filled);
    const answers = await Promise.all(
      filled.map(async ({ fetch, params, missing }) => {
        const dependsOnFailure = missing.length > 0 && fetch.after.some(hasFailed);
        if (dependsOnFailure) return { fetch, answer: notSent(missing) };
        if (missing.length > 0) {
          warnings.push(`the request to \`${fetch.endpoint}\` is incomplete: ${missing.join(", ")}`);
        }
        const options = { endpoints, fetcher, dryRun, noCache, org };
        return { fetch, answer: await fetchOnce(fetch, params, options) };
      }),
    );
    for (const { fetch, answer } of answers) {
      const mapped = mapAnswer(fetch, answer);
      fetched[fetch.key] = fetchFact(fetch, mapped.answer);
      for (const { at, value } of mapped.values) context = setAtPath(context, at, value);
      warnings.push(...mapped.warnings);
      if (fetch.required) assertFetched(definition, fetch, mapped.answer);
    }
  }
  return { scope: { ...scope, context: deepFreeze(context) }, fetched: deepFreeze(fetched), warnings };
}

function dropSuppliedData(
  fetches: readonly PreparedFetch[],
  supplied: JsonObject,
  warnings: string[],
): JsonObject {
  let context = supplied;
  for (const at of fetches.flatMap(destinationsOf)) {
    const rest = removeAtPath(context, at);
    if (rest !== context) warnings.push(`ignored \`${at}\` in the context: it is fetched from an endpoint`);
    context = rest;
  }
  return context;
}

/** Adds the fetch warnings to an error: missing data is often its cause. */
export function withFetchWarnings(error: unknown, warnings: readonly string[]): unknown {
  if (!(error instanceof DecisionError) || warnings.length === 0) return error;
  const { code, message, hint, details } = error;
  return new DecisionError(code, `${message} (${warnings.join("; ")})`, { hint, details, cause: error });
}

interface Filled {
  readonly params: JsonObject;
  /** Why some params have no value. */
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
  const incomplete = filled.find(({ missing }) => missing.length > 0);
  if (incomplete === undefined) return;
  const { fetch, missing } = incomplete;
  throw new DecisionError(
    "condition_errored",
    `\`${id}\`: the request to \`${fetch.endpoint}\` is incomplete: ${missing.join(", ")}`,
    {
      hint: "supply the missing values, or guard the template with exists(…) or get(…)",
      details: { decision_id: id },
    },
  );
}

/** A fetch whose params depend on a failed fetch is not sent. */
const notSent = (missing: readonly string[]): Fetched => ({
  ok: false,
  error: { code: "fetch_refused", message: `the request was not sent: ${missing.join(", ")}` },
});

async function fetchOnce(
  { endpoint: name, into, cached }: PreparedFetch,
  params: JsonObject,
  {
    endpoints,
    fetcher,
    dryRun,
    noCache,
    org,
  }: Pick<Bound, "dryRun" | "noCache" | "org"> & {
    readonly endpoints: Endpoints;
    readonly fetcher: Fetcher | undefined;
  },
): Promise<Fetched> {
  const endpoint = endpoints[name];
  if (endpoint === undefined || fetcher === undefined) {
    return { ok: false, error: { code: "fetch_refused", message: "no fetcher is configured" } };
  }
  const owner = org === undefined ? {} : { org };
  const place = into === undefined ? {} : { into };
  return fetcher.fetch({ name, endpoint, params, cached: cached && !noCache, dryRun, ...place, ...owner });
}

/** The recorded fact: source and time of the data. The data itself is in the context. */
function fetchFact({ endpoint, into }: DeclaredFetch, answer: Fetched): JsonObject {
  const about = { endpoint, ...(into !== undefined && { into }) };
  if (answer.ok) return { ...about, ok: true, from: answer.from, fetched_at: answer.fetched_at };
  return "left_out" in answer
    ? { ...about, ok: false, left_out: true }
    : { ...about, ok: false, error: { ...answer.error } };
}

/** Required data that could not be fetched is an error, except for gates: they answer YELLOW. */
function assertFetched(definition: Definition, { endpoint }: DeclaredFetch, answer: Fetched): void {
  if (answer.ok || "left_out" in answer || definition.type === "gate") return;
  const { code, message } = answer.error;
  throw new DecisionError(code, `\`${definition.id}\` requires data from \`${endpoint}\`: ${message}`, {
    hint: "check the endpoint with `agent-33 decision endpoints --check`",
    details: { decision_id: definition.id, endpoint },
  });
}

/** A fetch with its compiled params. */
interface PreparedFetch extends DeclaredFetch {
  readonly template: LenientDocumentTemplate;
  /** The fetches whose data its params read. */
  readonly after: readonly DeclaredFetch[];
  /** Whether the answer may be cached: inputs are recorded, and neither params nor data are masked. */
  readonly cached: boolean;
}

/** Orders the fetches of a definition into rounds: a fetch runs after those whose data its params read. */
export function planFetches(loaded: LoadedDefinition): readonly FetchRound[] {
  // A definition with fetches carries its endpoints in its environment.
  if (!("endpoints" in loaded.environment)) return [];
  return orderFetches(uniqueFetches(loaded.definition).map((fetch) => prepareFetch(fetch, loaded)));
}

function prepareFetch(fetch: DeclaredFetch, loaded: LoadedDefinition): PreparedFetch {
  const template = compileLenientDocument(fetch.params ?? {});
  const masks = masksOf(loaded);
  const touched = [...template.reads, ...destinationsOf(fetch)];
  const isRecorded = loaded.definition.logging?.include_inputs !== false;
  return {
    ...fetch,
    template,
    after: [],
    cached: isRecorded && !touched.some((path) => readsMasked(path, masks)),
  };
}

function orderFetches(fetches: readonly PreparedFetch[]): readonly FetchRound[] {
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
  /** A failure where the data has none of the mapped fields. */
  readonly answer: Fetched;
  /** The values to set in the context. */
  readonly values: readonly { readonly at: string; readonly value: Json }[];
  readonly warnings: readonly string[];
}

/** Maps an answer to values of the context. */
function mapAnswer({ endpoint, into, mapping }: DeclaredFetch, answer: Fetched): MappedAnswer {
  if (!answer.ok) return failedAnswer(endpoint, answer);
  if (answer.data === null) return failedAnswer(endpoint, emptyAnswer);
  const warnings = dataWarnings(endpoint, answer);
  if (mapping === undefined) {
    const values = into === undefined ? [] : [{ at: into, value: answer.data }];
    return values.every(isShallowEnough) ? { answer, values, warnings } : failedAnswer(endpoint, tooDeep);
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
  const incomplete =
    missing.length === 0 ? [] : [`the answer of \`${endpoint}\` has no ${missing.join(", ")}`];
  return { answer, values, warnings: [...warnings, ...incomplete] };
}

function dataWarnings(endpoint: string, answer: Fetched & { readonly ok: true }): readonly string[] {
  const { from, fetched_at, integers_as_text: count = 0 } = answer;
  return [
    ...(from === "stale_cache" ? [staleness(endpoint, fetched_at)] : []),
    ...(count === 0 ? [] : [roundedIntegers(endpoint, count)]),
  ];
}

const roundedIntegers = (endpoint: string, count: number): string =>
  count === 1
    ? `an integer in the answer of \`${endpoint}\` is used as text, because a number cannot represent it exactly`
    : `${count} integers in the answer of \`${endpoint}\` are used as text, because numbers cannot represent them exactly`;

/** No content, or null. */
const emptyAnswer: Failed = {
  ok: false,
  error: { code: "request_failed", message: "its answer is empty" },
};

const tooDeep: Failed = {
  ok: false,
  error: { code: "request_failed", message: "its answer is nested too deeply" },
};

/** Whether the context stays within the maximum depth. */
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
  if ("left_out" in answer) return `\`${endpoint}\` was not called: a dry run sends GET requests only`;
  return `no data from \`${endpoint}\`: ${answer.error.message}`;
}

const staleness = (endpoint: string, at: string): string =>
  `using cached data of \`${endpoint}\` from ${at}: its circuit is open`;

/** Reads own properties and list items only. */
function valueAt(data: Json, path: string): Json | undefined {
  let value: Json | undefined = data;
  for (const step of path.split(".")) {
    if (Array.isArray(value))
      value = /^(?:0|[1-9]\d*)$/.test(step) ? (value as Json[])[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
