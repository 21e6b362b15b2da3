import type { BaseVerdict, PolicyIdentity, PreparedBasePolicy } from "./base-policy.js";
import { prepareBasePolicy } from "./base-policy.js";
import type { PreparedOverride } from "./override-policy.js";
import { AppliedOverrides, prepareOverride } from "./override-policy.js";
import type { ParamsChange } from "./policy-facts.js";
import { largerAmounts } from "../limits.js";
import { needsOf, paramsSetBy, policyFacts } from "./policy-facts.js";
import { mergeParams } from "./policy-outcome.js";
import { toPolicyResult } from "./policy-result.js";
import { readsParam } from "../../definition/definition-reads.js";
import { destinationsOf } from "../../definition/fetches.js";
import { toolsOf } from "../../definition/tool-match.js";
import { compileDocument } from "../../expression/document-template.js";
import { Failure } from "../../expression/failure.js";
import { parseInstant } from "../../expression/instant.js";
import type { Template } from "../../expression/template.js";
import type { ForeignOverride, Policy, PolicyDefinition } from "../../model/definition.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import type { PreparedType } from "../evaluate.js";
import { readsWithInput, prepareShadowCheck } from "../evaluate.js";

/** The compiled policies of a decision, in the order of their priority. */
export interface PreparedPolicies {
  readonly definition: PolicyDefinition;
  readonly bases: readonly PreparedBasePolicy[];
  readonly overrides: readonly PreparedOverride[];
  /** True if any of them has `effective_from` or `expires_at`. */
  readonly isTimed: boolean;
  readonly input: Template | undefined;
  /** The paths that the params of fetches read. */
  readonly fetchReads: readonly string[];
  /** Pointers to the fetched data. */
  readonly fetched: readonly string[];
}

/** The verdicts of all policies on a call. */
export interface PolicyVerdicts {
  readonly tool: string;
  readonly params: JsonObject[string] | undefined;
  readonly verdicts: readonly BaseVerdict[];
  /** For each base policy the verdict, or the reason why it was not in effect. */
  readonly all: readonly (BaseVerdict | LeftOut)[];
  readonly leftOut: readonly LeftOut[];
  readonly appliedOverrides: AppliedOverrides;
}

export interface LeftOut {
  readonly identity: PolicyIdentity;
  readonly leftOut: string;
}

/** `policy`: all policies in effect must allow the call; an override can lift the denials that it names. */
export function preparePolicy(
  definition: PolicyDefinition,
  input: Template | undefined,
  masks: readonly string[] = definition.logging?.mask ?? [],
  foreign: readonly ForeignOverride[] = [],
): PreparedType {
  const policies = definition.policies ?? [];
  const prepared: PreparedPolicies = {
    definition,
    bases: byPriority(
      policies.flatMap((each) => (each.overrides === undefined ? prepareBasePolicy(each, masks) : [])),
    ),
    overrides: byPriority([
      ...policies.flatMap((each) => (each.overrides === undefined ? [] : prepareOverride(each))),
      ...foreign.map(({ override, ...place }) => prepareOverride(override, place)),
    ]),
    isTimed: [...policies, ...foreign.map(({ override }) => override)].some(
      (each) => each.effective_from !== undefined || each.expires_at !== undefined,
    ),
    input,
    fetchReads: fetchReads(definition),
    fetched: fetchedData(definition),
  };
  const paths = [...prepared.bases, ...prepared.overrides].flatMap(({ reads }) => reads);
  const needs = needsOf(
    policies,
    prepared.bases.flatMap(({ limits }) => limits),
    foreign,
  );
  const rejectShadowing = prepareShadowCheck([...(input?.reads ?? []), ...paths]);
  return {
    reads: readsWithInput(input, needs === undefined ? paths : [...paths, "facts"]),
    conditionReads: paths,
    inputsByCondition: new Map(),
    inputsRead: ({ outcome }) =>
      outcome?.type === "policy" ? outcome.conditions.map(({ inputs_used }) => inputs_used) : [],
    ...(needs !== undefined && { needs }),
    evaluate(scope) {
      rejectShadowing(scope.context);
      const value = input === undefined ? scope.context : input.evaluate(scope);
      const result = toPolicyResult(prepared, evaluatePolicies(prepared, withInput(scope, value)));
      if (!(value instanceof Failure)) return { ...result, input_value: value };
      const problem = `the input could not be evaluated: ${value.message}`;
      const { warnings, errors } = result;
      return { ...result, input_value: null, warnings: [problem, ...warnings], errors: [problem, ...errors] };
    },
  };
}

/** `input` cannot be used there: data is fetched before it is evaluated. */
const fetchReads = ({ enrich = [] }: PolicyDefinition): readonly string[] =>
  enrich.flatMap(({ params = {} }) => compileDocument(params).reads);

const fetchedData = ({ enrich = [] }: PolicyDefinition): readonly string[] =>
  ["facts", ...enrich.flatMap(destinationsOf)].map((path) => `/${path.replaceAll(".", "/")}`);

const withInput = (scope: Scope, value: Json | Failure): Scope => ({
  ...scope,
  input: value instanceof Failure ? undefined : value,
});

/** Highest priority first; equal ones in the order of the file. */
function byPriority<Prepared extends { readonly policy: Policy }>(
  prepared: readonly Prepared[],
): readonly Prepared[] {
  return prepared.toSorted((a, b) => (b.policy.priority ?? 0) - (a.policy.priority ?? 0));
}

function evaluatePolicies(prepared: PreparedPolicies, scope: Scope): PolicyVerdicts {
  const { definition, bases, overrides, isTimed } = prepared;
  const { context, system } = scope;
  const tool = typeof context["tool"] === "string" ? context["tool"] : toolsOf(definition).join(", ");
  const time = system["request_time"];
  const at = isTimed && typeof time === "string" ? parseInstant(time) : undefined;
  const appliedOverrides = new AppliedOverrides(overrides, { tool, scope, at });
  const requested = bases.map((base) => {
    // If the time is unknown, a policy is in effect and an override is not.
    const leftOut = at === undefined ? undefined : base.window(at);
    const { identity } = base;
    const verdict: BaseVerdict | LeftOut =
      leftOut === undefined ? base.evaluate(tool, scope) : { identity, leftOut };
    return { base, verdict };
  });
  for (const { verdict } of requested)
    if (!("leftOut" in verdict) && !verdict.allows) appliedOverrides.applyTo(verdict);
  const changed = changedCall(prepared, scope, appliedOverrides);
  const all = requested.map(({ base, verdict }) =>
    changed === undefined ? verdict : recheck(base, verdict, { tool, changed, appliedOverrides }),
  );
  const verdicts = all.filter((each): each is BaseVerdict => !("leftOut" in each));
  const leftOut = all.filter((each): each is LeftOut => "leftOut" in each);
  return { tool, params: context["params"], verdicts, all, leftOut, appliedOverrides };
}

/** A call with the params that overrides changed. */
interface ChangedCall {
  readonly scope: Scope;
  /** The overrides that set params, in words. */
  readonly setters: string;
  readonly changedBy: readonly string[];
  /** Whether data was fetched with one of the original params. */
  readonly isFetchedFor: boolean;
  /** Pointers to the fetched data. */
  readonly fetched: readonly string[];
  /** Whether policies that an override flipped are checked too; they are not in records of earlier versions. */
  readonly checksOverridden: boolean;
}

/** Returns the call that the params set by this and by other decisions make; undefined if none is set. */
function changedCall(
  { definition, input, fetchReads, fetched }: PreparedPolicies,
  scope: Scope,
  { applied, params }: AppliedOverrides,
): ChangedCall | undefined {
  const { recheck: known } = policyFacts(scope.facts);
  if (known === undefined) return undefined;
  const own = applied.filter(({ override }) => override.action === "modify_params");
  const changes: readonly ParamsChange[] = [
    ...known.changes.filter(({ decision }) => decision !== definition.id),
    {
      decision: definition.id,
      overrides: own.map(({ override }) => override.identity.name),
      set_params: params,
    },
  ];
  const set = paramsSetBy(changes);
  if (Object.keys(set).length === 0) return undefined;
  const { context, facts } = scope;
  const changedScope: Scope = {
    ...scope,
    context: { ...context, params: mergeParams(context["params"] ?? null, set) },
    // Without facts about the changed path, `read_before_write` denies.
    facts: { ...facts, read: known.read ?? {} },
  };
  return {
    scope: withInput(changedScope, input === undefined ? changedScope.context : input.evaluate(changedScope)),
    setters: changes.flatMap((each) => settersOf(each, definition.id)).join(" and "),
    changedBy: changes.flatMap(({ overrides }) => overrides),
    isFetchedFor: Object.keys(set).some((param) => fetchReads.some((path) => readsParam(path, param))),
    fetched,
    checksOverridden: known.overridden === true,
  };
}

const settersOf = ({ decision, overrides }: ParamsChange, own: string): readonly string[] =>
  overrides.map((name) => (decision === own ? `\`${name}\`` : `\`${name}\` of \`${decision}\``));

interface RecheckOptions {
  readonly tool: string;
  readonly changed: ChangedCall;
  readonly appliedOverrides: AppliedOverrides;
}

/**
 * A policy that allowed the call as requested must allow it with the changed params too. One that an override flipped
 * must allow the changed params, or an override must flip its denial of them.
 */
function recheck(
  base: PreparedBasePolicy,
  requested: BaseVerdict | LeftOut,
  { tool, changed: call, appliedOverrides }: RecheckOptions,
): BaseVerdict | LeftOut {
  if ("leftOut" in requested) return requested;
  const { scope, setters, changedBy, isFetchedFor, fetched, checksOverridden } = call;
  const changed = base.evaluate(tool, scope);
  const { name } = base.identity;
  const passed = { ...requested, counted: largerAmounts(requested.counted, changed.counted) };
  if (changed.allows && !isFetchedFor) return passed;
  if (!requested.allows) {
    if (!checksOverridden || appliedOverrides.overrideOf(name) === undefined) return passed;
    const denial = changed.allows ? requested : changed;
    if (appliedOverrides.applyToChanged(denial, scope, isFetchedFor ? fetched : [])) return passed;
  }
  const why = changed.allows ? "data was fetched for the original params" : changed.reason;
  const reason = `the params set by ${setters} do not pass \`${name}\`: ${why}`;
  return { ...changed, allows: false, reason, changedBy };
}
