import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";
import { destinationsOf, uniqueFetches } from "../definition/fetches.js";
import { matchesGlob } from "../definition/tool-match.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { evaluate } from "../evaluate/evaluate.js";
import type { PolicyNeeds, ReadNeed } from "../evaluate/policy/policy-facts.js";
import { policyFacts } from "../evaluate/policy/policy-facts.js";
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

export interface Reevaluation {
  readonly guarded: Guarded;
  /** Of the context, the facts and the time that are recorded, and nothing else. */
  readonly scope: Scope;
}

/**
 * Asks a definition what a record was asked; or tells why the record does not hold all that takes. It may be
 * another definition than the one that the record was `made` with.
 */
export function reevaluate(
  { record, text }: Pick<LogLine, "text"> & { readonly record: DecisionRecord },
  ready: ReplayableDefinition,
  made: ReplayableDefinition | UnavailableDefinition = ready,
): Reevaluation | { readonly why: string } {
  const { loaded, prepared } = ready;
  const { context, facts, workflow_id: workflow } = record;
  if (context === undefined) return { why: "its inputs were not logged" };
  if (mayBeMasked(record, loaded) && text.includes(quotedMaskMarker) && readsMaskedValues(prepared, record)) {
    return { why: "it read masked values" };
  }
  const missing = describeMissingFacts(ready, record, made);
  if (missing !== undefined) return { why: missing };
  const system = recordedSystem(record);
  const seen = ready === made ? context : withoutUnfetched(context, made, ready);
  const scope: Scope = { context: seen, facts, system, input: undefined };
  return { guarded: guard(loaded, evaluate(prepared, scope), { workflow, facts, context: seen }), scope };
}

/** Without what was fetched then and would not be now. */
function withoutUnfetched(
  context: JsonObject,
  made: ReplayableDefinition | UnavailableDefinition,
  { loaded }: ReplayableDefinition,
): JsonObject {
  if ("missing" in made) return context;
  const now = uniqueFetches(loaded.definition).flatMap(destinationsOf);
  const then = uniqueFetches(made.loaded.definition).flatMap(destinationsOf);
  return then.filter((at) => !now.includes(at)).reduce((left, at) => removeAtPath(left, at), context);
}

const quotedMaskMarker = JSON.stringify(maskMarker);

/** What looks masked may as well have been given so; only the definition that it was made with can tell. */
const mayBeMasked = (
  { definition_hash: hash }: DecisionRecord,
  { definition, definition_hash }: LoadedDefinition,
): boolean => hash !== definition_hash || (definition.logging?.mask ?? []).length > 0;

/**
 * Which facts a definition needs that a record does not hold; undefined: none. Only another definition than
 * the one that the record was `made` with can need more, or need them counted in another way.
 */
export function describeMissingFacts(
  ready: ReplayableDefinition,
  record: DecisionRecord,
  made: ReplayableDefinition | UnavailableDefinition,
): string | undefined {
  if (ready === made) return undefined;
  const { loaded, prepared } = ready;
  const then = "missing" in made ? undefined : made.prepared.needs;
  const missing = [
    ...(loaded.definition_hash === record.definition_hash
      ? []
      : missingPolicyFacts(prepared.needs, record, then)),
    ...missingGuardrailFacts(loaded, record),
    ...missingFetches(loaded, record),
  ];
  return missing.length === 0 ? undefined : `it holds no facts on ${missing.join(", ")}`;
}

function missingPolicyFacts(
  needs: PolicyNeeds | undefined,
  { facts, context, session_id: session }: DecisionRecord,
  then: PolicyNeeds | undefined,
): readonly string[] {
  if (needs === undefined) return [];
  const { succeeded = {}, calls = {}, uses = {}, read = {} } = policyFacts(facts);
  const limited = needs.uses.filter(({ most }) => most !== undefined).map(({ override }) => override);
  const unknownUses = missingKeys(uses, limited);
  // Without a session nothing is found out, then as now.
  if (session === undefined) return unknownUses;
  const isCounted = ({ policy, per }: PolicyNeeds["calls"][number]): boolean =>
    Object.hasOwn(calls, policy) && then?.calls.find((each) => each.policy === policy)?.per === per;
  // Whether something was read before matters only to what writes.
  const written = needs.reads.filter(({ write_tools }) => matchesAnyTool(write_tools, context?.["tool"]));
  const isRead = (need: ReadNeed): boolean =>
    Object.hasOwn(read, need.policy) && (then?.reads ?? []).some((each) => isSameReading(each, need));
  return [
    ...missingKeys(succeeded, needs.requires),
    ...needs.calls.filter((need) => !isCounted(need)).map(({ policy }) => policy),
    ...written.filter((need) => !isRead(need)).map(({ policy }) => policy),
    ...unknownUses,
  ];
}

const matchesAnyTool = (tools: readonly string[], tool: Json | undefined): boolean =>
  typeof tool === "string" && tools.some((each) => matchesGlob(each, tool));

const isSameReading = (a: ReadNeed, b: ReadNeed): boolean =>
  a.policy === b.policy &&
  a.path.text === b.path.text &&
  JSON.stringify(a.read_tools) === JSON.stringify(b.read_tools);

const missingKeys = (known: object, names: readonly string[]): readonly string[] =>
  names.filter((name) => !Object.hasOwn(known, name));

/** Data that it would have fetched in another way, or not at all, are not known. */
function missingFetches({ definition }: LoadedDefinition, { facts }: DecisionRecord): readonly string[] {
  const known = isObject(facts["fetched"]) ? facts["fetched"] : {};
  const missing = uniqueFetches(definition).filter(({ key }) => !Object.hasOwn(known, key));
  return [...new Set(missing.map(({ endpoint }) => `the data of \`${endpoint}\``))];
}

function missingGuardrailFacts(loaded: LoadedDefinition, { facts }: DecisionRecord): readonly string[] {
  const isWatched = guardrailsOf(loaded).some(({ type }) => type === "distribution_drift");
  const isNeeded = isWatched && loaded.definition.type === "weighted";
  return isNeeded && !Object.hasOwn(facts, "distribution") ? ["the distribution"] : [];
}

/** Whether an answer depends on values of a record that were masked. */
export function readsMaskedValues(prepared: Prepared, { context = {}, facts }: DecisionRecord): boolean {
  // Of the facts only what other decisions have set is made of the context.
  if (containsMasked(facts["set_params"] ?? null)) return true;
  const influences = influencesFor(prepared);
  // A key of that name is what `context` then stands for.
  if (influences === "all" || Object.hasOwn(context, "context")) return containsMasked(context);
  const { way, values } = influences;
  return (
    (way !== undefined && isMaskedAt(context, way)) || values.some((path) => leadsToMasked(context, path))
  );
}

interface Influences {
  /** Where the input is found: it cannot be where anything on the way is masked. */
  readonly way: string | undefined;
  /** Whatever of these is masked, at any depth, may have made the difference. */
  readonly values: readonly string[];
}

const influencesByDefinition = new WeakMap<Prepared, Influences | "all">();

function influencesFor(prepared: Prepared): Influences | "all" {
  let influences = influencesByDefinition.get(prepared);
  if (influences === undefined) {
    influences = findInfluences(prepared);
    influencesByDefinition.set(prepared, influences);
  }
  return influences;
}

/** A roll depends on the whole input, a schema looks at the whole context. */
function findInfluences(prepared: Prepared): Influences | "all" {
  const { definition, input, conditionReads: asks } = prepared;
  if (definition.type === "gate" && definition.context_schema !== undefined) return "all";
  const path = input?.tree?.kind === "path" ? input.tree.segments.join(".") : undefined;
  const isWhole = definition.type === "weighted" || path === undefined;
  const asked = isWhole ? (input?.reads ?? (definition.type === "weighted" ? ["context"] : [])) : [];
  const values = [...asks, ...asked].flatMap((each) => contextPaths(each, prepared));
  if (values.some((each) => each === "" || each === "context")) return "all";
  const [way] = path === undefined ? [] : contextPaths("input", prepared);
  return { way, values };
}

/** Whether a masked value stands on the way, or at its end. */
function isMaskedAt(context: JsonObject, path: string): boolean {
  return valueAt(context, path) === maskMarker;
}

/** What is masked hides all that is under it, and what holds something masked is not as it was. */
function leadsToMasked(context: JsonObject, path: string): boolean {
  const end = valueAt(context, path);
  return end !== undefined && containsMasked(end);
}

/** Where a path leads; no further than to what is masked. */
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
