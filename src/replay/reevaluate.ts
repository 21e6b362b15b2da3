import { destinationsOf } from "../definition/fetches.js";
import { matchesGlob } from "../definition/tool-match.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { evaluate } from "../evaluate/evaluate.js";
import type { PreparedLimit } from "../evaluate/limits.js";
import type { PolicyNeeds, ReadNeed } from "../evaluate/policy/policy-facts.js";
import { paramsSetBy, policyFacts } from "../evaluate/policy/policy-facts.js";
import { isObject } from "../expression/equal.js";
import { removeAtPath } from "../expression/path.js";
import type { Guarded } from "../guard/guard.js";
import { guard, guardrailsOf } from "../guard/guard.js";
import { contextPaths } from "../lineage/build-lineage.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { JsonObject, Json } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { Scope } from "../model/scope.js";
import type { LogLine } from "../model/store.js";
import { maskMarker } from "../record/mask.js";
import { recordedSystem } from "../record/recorded-values.js";
import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";

export interface Reevaluation {
  readonly guarded: Guarded;
  /** The recorded context, facts and time, and nothing else. */
  readonly scope: Scope;
}

/**
 * Evaluates the recorded context of a decision with `definition`, which may differ from the one that the
 * record was `madeWith`; or says what the record lacks for it.
 */
export function reevaluate(
  { record, text }: Pick<LogLine, "text"> & { readonly record: DecisionRecord },
  definition: ReplayableDefinition,
  madeWith: ReplayableDefinition | UnavailableDefinition = definition,
): Reevaluation | { readonly notReplayable: string } {
  const { prepared } = definition;
  if (record.context === undefined) return { notReplayable: "its inputs were not logged" };
  if (
    mayBeMasked(record, definition) &&
    text.includes(quotedMaskMarker) &&
    readsMaskedValues(prepared, record)
  ) {
    return { notReplayable: "it read masked values" };
  }
  const missing = describeMissingFacts(definition, record, madeWith);
  if (missing !== undefined) return { notReplayable: missing };
  const context =
    definition === madeWith ? record.context : withoutOldFetches(record.context, madeWith, definition);
  const facts = definition === madeWith ? record.facts : withRecheck(record.facts);
  const scope: Scope = { context, facts, system: recordedSystem(record), input: undefined };
  return { guarded: evaluateScope(definition, scope, record.workflow_id), scope };
}

/** Evaluates and guards an answer as when it was recorded. */
export function evaluateScope(
  { loaded, prepared }: Pick<ReplayableDefinition, "loaded" | "prepared">,
  scope: Scope,
  workflow: string | undefined,
): Guarded {
  const { context, facts } = scope;
  return guard(loaded, evaluate(prepared, scope), { workflow, facts, context });
}

/** Another definition may change params where the old one did not; they are then checked again. */
function withRecheck(facts: JsonObject): JsonObject {
  const { read } = facts;
  const { recheck } = policyFacts(facts);
  const checked = recheck ?? { changes: [], ...(read !== undefined && { read }) };
  return { ...facts, recheck: { ...checked, overridden: true } as unknown as Json };
}

/** Removes the data that the old definition fetched and the new one does not. */
function withoutOldFetches(
  context: JsonObject,
  madeWith: ReplayableDefinition | UnavailableDefinition,
  { fetches }: ReplayableDefinition,
): JsonObject {
  if ("unavailable" in madeWith) return context;
  const newPaths = fetches.flatMap(destinationsOf);
  const oldPaths = madeWith.fetches.flatMap(destinationsOf);
  return oldPaths
    .filter((path) => !newPaths.includes(path))
    .reduce((rest, path) => removeAtPath(rest, path), context);
}

const quotedMaskMarker = JSON.stringify(maskMarker);

/** A caller may supply the mask marker as a value; only the definition that the record was made with can tell. */
const mayBeMasked = (record: DecisionRecord, { loaded, prepared }: ReplayableDefinition): boolean =>
  record.definition_hash !== loaded.definition_hash ||
  record.environment_hash !== loaded.environment_hash ||
  prepared.masks.length > 0;

/**
 * Names the facts that a definition needs and a record does not have; undefined: none. Only a definition other
 * than the one that the record was `madeWith` can need more facts, or facts counted differently.
 */
export function describeMissingFacts(
  definition: ReplayableDefinition,
  record: DecisionRecord,
  madeWith: ReplayableDefinition | UnavailableDefinition,
): string | undefined {
  if (definition === madeWith) return undefined;
  const { loaded, prepared } = definition;
  const oldNeeds = "unavailable" in madeWith ? undefined : madeWith.prepared.needs;
  const missing = [
    ...(loaded.definition_hash === record.definition_hash
      ? []
      : missingPolicyFacts(prepared.needs, record, oldNeeds)),
    ...missingVotes(prepared, record),
    ...missingGuardrailFacts(loaded, record),
    ...missingFetches(definition, record),
  ];
  return missing.length === 0 ? undefined : `it has no facts about ${missing.join(", ")}`;
}

function missingPolicyFacts(
  needs: PolicyNeeds | undefined,
  { type, facts, context, session_id: session }: DecisionRecord,
  oldNeeds: PolicyNeeds | undefined,
): readonly string[] {
  if (needs === undefined) return [];
  const { succeeded = {}, calls = {}, sums = {}, uses = {}, read = {} } = policyFacts(facts);
  const limited = needs.uses.filter(({ most }) => most !== undefined).map(({ override }) => override);
  const isCounted = (limit: PreparedLimit): boolean =>
    Object.hasOwn(limit.name === "max_calls" ? calls : sums, limit.owner) &&
    (oldNeeds?.limits ?? []).some((each) => isSameLimit(each, limit));
  // Without a session, caller or organisation nothing is counted, and the limit denies.
  const caller = isObject(facts["authenticated_caller"]) ? facts["authenticated_caller"] : undefined;
  const isKnown = {
    session: session !== undefined,
    caller: caller !== undefined,
    org: type === "gate" || caller?.["org_id"] !== undefined,
  };
  const unknownCounts = needs.limits.filter((limit) => isKnown[limit.per] && !isCounted(limit));
  const unknown = [...unknownCounts.map(({ owner }) => owner), ...missingKeys(uses, limited)];
  // Without a session no other facts are gathered.
  if (session === undefined) return unknown;
  // Only tools that write depend on earlier reads.
  const written = needs.reads.filter(({ write_tools }) => matchesAnyTool(write_tools, context?.["tool"]));
  const isRead = (need: ReadNeed): boolean =>
    Object.hasOwn(read, need.policy) && (oldNeeds?.reads ?? []).some((each) => isSameReading(each, need));
  return [
    ...missingKeys(succeeded, needs.requires),
    ...written.filter((need) => !isRead(need)).map(({ policy }) => policy),
    ...unknown,
  ];
}

const isSameLimit = (a: PreparedLimit, b: PreparedLimit): boolean =>
  a.name === b.name && a.owner === b.owner && a.per === b.per && a.window === b.window && a.of === b.of;

const matchesAnyTool = (tools: readonly string[], tool: Json | undefined): boolean =>
  typeof tool === "string" && tools.some((each) => matchesGlob(each, tool));

const isSameReading = (a: ReadNeed, b: ReadNeed): boolean =>
  a.policy === b.policy &&
  a.path.text === b.path.text &&
  JSON.stringify(a.read_tools) === JSON.stringify(b.read_tools);

const missingKeys = (facts: object, names: readonly string[]): readonly string[] =>
  names.filter((name) => !Object.hasOwn(facts, name));

/** Data that the record's definition fetched differently, or not at all, is not in the record. */
function missingFetches({ fetches }: ReplayableDefinition, { facts }: DecisionRecord): readonly string[] {
  const fetched = isObject(facts["fetched"]) ? facts["fetched"] : {};
  const missing = fetches.filter(({ key }) => !Object.hasOwn(fetched, key));
  return [...new Set(missing.map(({ endpoint }) => `the data of \`${endpoint}\``))];
}

/** Another definition may ask custom evaluators that have not voted. */
function missingVotes({ customEvaluators = [] }: Prepared, { facts }: DecisionRecord): readonly string[] {
  const votes = isObject(facts["votes"]) ? facts["votes"] : {};
  return missingKeys(votes, customEvaluators).map((name) => `the vote of \`${name}\``);
}

function missingGuardrailFacts(loaded: LoadedDefinition, { facts }: DecisionRecord): readonly string[] {
  const isWatched = guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");
  const isNeeded = isWatched && loaded.definition.type === "weighted";
  return isNeeded && !Object.hasOwn(facts, "distribution") ? ["the distribution"] : [];
}

/** Whether the answer depends on values of a record that were masked. */
export function readsMaskedValues(prepared: Prepared, record: DecisionRecord): boolean {
  const { context = {}, facts } = record;
  // The only facts derived from the context are the params that other decisions have set.
  const changes = policyFacts(facts).recheck?.changes.filter(
    ({ decision }) => decision !== record.decision_id,
  );
  if (containsMasked([facts["set_params"] ?? null, paramsSetBy(changes ?? [])])) return true;
  const influences = findInfluences(prepared);
  // A top-level key `context` shadows the context as a whole.
  if (influences === "all" || Object.hasOwn(context, "context")) return containsMasked(context);
  const { inputPath, valuePaths } = influences;
  if (inputPath !== undefined && valueAt(context, inputPath) === maskMarker) return true;
  return valuePaths.some((path) => {
    const value = valueAt(context, path);
    return value !== undefined && containsMasked(value);
  });
}

/** The parts of the context that an answer depends on. */
interface Influences {
  /** The path of the input: a masked value on that path hides it. */
  readonly inputPath: string | undefined;
  /** Paths whose whole values count: anything masked below them may have changed the answer. */
  readonly valuePaths: readonly string[];
}

/** A roll depends on the whole input, a schema on the whole context. */
function findInfluences(prepared: Prepared): Influences | "all" {
  const { definition, input, conditionReads } = prepared;
  if (definition.type === "gate" && definition.context_schema !== undefined) return "all";
  const path = input?.tree?.kind === "path" ? input.tree.segments.join(".") : undefined;
  const isWholeInput = definition.type === "weighted" || path === undefined;
  const inputReads = isWholeInput
    ? (input?.reads ?? (definition.type === "weighted" ? ["context"] : []))
    : [];
  const valuePaths = [...conditionReads, ...inputReads].flatMap((each) => contextPaths(each, prepared));
  if (valuePaths.some((each) => each === "" || each === "context")) return "all";
  const [inputPath] = path === undefined ? [] : contextPaths("input", prepared);
  return { inputPath, valuePaths };
}

/** Returns the value at a path; the mask marker where a value on the path is masked. */
function valueAt(context: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = context;
  for (const step of path.split(".")) {
    if (value === maskMarker) return maskMarker;
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as JsonObject)[step];
  }
  return value;
}

function containsMasked(value: Json): boolean {
  if (typeof value !== "object" || value === null) return value === maskMarker;
  return Object.values(value).some(containsMasked);
}
