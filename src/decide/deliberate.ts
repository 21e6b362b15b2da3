import { bind, bindCaller, bindFeedback } from "./bind.js";
import { describe, freezeResult } from "./describe.js";
import type { Enriched, FetchWorld } from "./enrich.js";
import { enrich, withFetchWarnings, needsFetching } from "./enrich.js";
import type { Answer, EvaluationRequest } from "./evaluate-cached.js";
import { evaluateCached } from "./evaluate-cached.js";
import type { Clock, System } from "./gather.js";
import { gather, needsFacts, noFacts } from "./gather.js";
import { maskFailure, maskResult } from "./mask.js";
import type { Counting } from "./record.js";
import { countCall } from "./record.js";
import type { DecisionRequest } from "./request.js";
import type { Library } from "../definition/library.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { prepareLazily } from "../evaluate/prepare-lazily.js";
import { guard } from "../guard/guard.js";
import { buildLineage } from "../lineage/build-lineage.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Lineage } from "../model/lineage.js";
import type { Result } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { scoredHash, deterministicHash, valuesReadJson } from "../record/deterministic-hash.js";
import type { RecordDraft, Records } from "../record/records.js";

/** All that a decision needs from outside. */
export interface World extends FetchWorld {
  readonly definitions: Pick<Library, "find">;
  readonly clock: Clock;
  /** A new id for a record of this time. */
  readonly newId: (timestamp: string) => string;
  /** Undefined: nothing is remembered. */
  readonly records?: Records | undefined;
}

/** What was fetched for a request, by definition: whoever looks again does not fetch again. */
export type EnrichedOnce = Map<LoadedDefinition, Enriched>;

/** A decision that is made but not yet remembered. */
export interface Deliberated {
  readonly result: Result;
  /** The answer with all its values; the result shows the masked ones as masked. */
  readonly evaluated: Evaluated;
  /** With what is to grow with it. Undefined where nothing is to be remembered. */
  readonly draft: RecordDraft | undefined;
  readonly answered: Answer;
  readonly lineal: Lineal;
}

/** What the lineage is made of: as much as may be shown. */
interface Lineal {
  readonly prepared: Prepared;
  readonly shown: Scope;
  readonly evaluated: Evaluated;
}

/** What belongs to one call that several decisions are asked about. */
export interface Shared {
  readonly enriched?: EnrichedOnce;
  readonly at?: string;
  /** What the decisions before have set. */
  readonly setParams?: JsonObject;
  /** The caller cannot change the params. */
  readonly fixedParams?: boolean;
}

/** Makes a decision: everything but remembering it. */
export async function deliberate(
  request: DecisionRequest,
  loaded: LoadedDefinition,
  world: World,
  shared: Shared = {},
): Promise<Deliberated> {
  const known = preparedOnce(loaded);
  const prepared = known instanceof Promise ? await known : known;
  const given = bind(request.context);
  const feedback = request.feedback === undefined ? undefined : bindFeedback(request.feedback);
  const at = shared.at ?? world.clock();
  const system = systemOf(request, at, world.newId(at));
  const { dry_run: dryRun = false, strict = false, no_cache: noCache = false } = request;
  const asIs = { context: given, facts: noFacts, system, input: undefined };
  const enriched = needsFetching(loaded)
    ? await enrichOnce(loaded, asIs, { world, dryRun, anew: noCache, strict, known: shared.enriched })
    : undefined;
  const context = enriched?.context ?? given;
  const bare = enriched === undefined ? asIs : { ...asIs, context };
  const facts = needsFacts({ loaded, prepared, shared, request })
    ? await gather({ loaded, prepared, scope: bare, request, shared, enriched, world })
    : noFacts;
  const scope = facts === noFacts ? bare : { ...bare, facts };

  const records = dryRun ? undefined : world.records;
  const isLogged = records !== undefined && loaded.definition.logging?.log_decision !== false;
  const recordId = isLogged ? system.request_id : undefined;
  const answered = await answerOf(
    { loaded, prepared, scope, strict, at, recordId },
    noCache ? undefined : records,
    enriched,
  );

  const answeredWith = withWarnings(answered.evaluated, enriched);
  const guarded = guard(loaded, answeredWith, { context, workflow: request.workflow_id, facts });
  const { scope: shown, evaluated } = maskResult(prepared, scope, guarded.evaluated);
  const hash =
    evaluated.outcome?.type === "scored"
      ? scoredHash(shown.context, evaluated.outcome)
      : deterministicHash(loaded, valuesReadJson(prepared, shown), evaluated);
  const { cached, cacheKey, cachedFrom } = answered;
  const isPolicy = loaded.definition.type === "policy";
  const lineal = { prepared, shown, evaluated };
  const { counts, limits } = isLogged
    ? growing(guarded.evaluated, request, loaded, { at, needs: prepared.needs })
    : nothingGrows;
  // What may still be refused is nobody's precedent.
  const sureId = limits.length === 0 ? recordId : undefined;
  const lineage = isLogged || isPolicy ? await lineageFor(lineal, sureId, world) : undefined;
  const circumstances = { recordId, dryRun, cached, at, hash, feedback, scope: shown, lineage, guarded };
  const result = freezeResult(describe(loaded, evaluated, circumstances));
  const made = { result, evaluated: guarded.evaluated, answered, lineal };
  if (lineage === undefined || !isLogged) return { ...made, draft: undefined };
  const about = {
    lineage,
    provenance: request,
    context: shown.context,
    facts: shown.facts,
    feedback,
    cacheKey,
    cachedFrom,
  };
  return { ...made, draft: { result, metadata: about, loaded, counts, limits } };
}

function systemOf({ caller }: DecisionRequest, at: string, id: string): System {
  const known = { request_time: at, request_id: id };
  if (caller === undefined) return known;
  return { ...known, authenticated_caller: bindCaller(caller) };
}

async function enrichOnce(
  loaded: LoadedDefinition,
  scope: Scope,
  { known, ...circumstances }: Parameters<typeof enrich>[2] & { readonly known: EnrichedOnce | undefined },
): Promise<Enriched> {
  const enriched = known?.get(loaded) ?? (await enrich(loaded, scope, circumstances));
  known?.set(loaded, enriched);
  return enriched;
}

const withWarnings = (evaluated: Evaluated, enriched: Enriched | undefined): Evaluated =>
  enriched === undefined || enriched.warnings.length === 0
    ? evaluated
    : { ...evaluated, warnings: [...new Set([...enriched.warnings, ...evaluated.warnings])] };

/** What it rested on, and who came before. */
async function lineageFor(
  { prepared, shown, evaluated }: Lineal,
  recordId: string | undefined,
  { records }: World,
): Promise<Lineage> {
  const lineage = buildLineage(prepared, shown, evaluated);
  if (lineage.entities.length === 0 || records === undefined) return lineage;
  const { id: decisionId } = prepared.definition;
  const { selected_labels: labels, selected_targets: targets } = evaluated;
  const decided = { decisionId, recordId, lineage, labels, targets };
  const { findPrecedents } = await import("./find-precedents.js");
  return { ...lineage, precedents: await findPrecedents(decided, records) };
}

/** What fails must tell no masked value either. */
async function answerOf(
  question: EvaluationRequest,
  records: Records | undefined,
  enriched: Enriched | undefined,
): Promise<Answer> {
  try {
    return await evaluateCached(question, records);
  } catch (error) {
    const failure = maskFailure(error, question.prepared, question.scope);
    throw enriched === undefined ? failure : withFetchWarnings(failure, enriched);
  }
}

const nothingGrows: Counting = { counts: [], limits: [] };

function growing(
  { outcome }: Evaluated,
  { session_id: session }: DecisionRequest,
  { definition }: LoadedDefinition,
  { at, needs }: { readonly at: string; readonly needs: Prepared["needs"] },
): Counting {
  if (outcome?.type !== "policy" || !outcome.allowed) return nothingGrows;
  return countCall(outcome, { decisionId: definition.id, session, at, needs });
}

const preparations = new WeakMap<object, Prepared>();

/** Without waiting where it is known already: a batch makes thousands of decisions with one definition. */
export function preparedOnce({ definition }: LoadedDefinition): Prepared | Promise<Prepared> {
  return preparations.get(definition) ?? prepareAnew(definition);
}

async function prepareAnew(definition: LoadedDefinition["definition"]): Promise<Prepared> {
  const prepared = await prepareLazily(definition);
  preparations.set(definition, prepared);
  return prepared;
}
