import type { BaseVerdict, PolicyIdentity, PreparedBasePolicy } from "./base-policy.js";
import { prepareBasePolicy } from "./base-policy.js";
import type { PreparedOverride } from "./override-policy.js";
import { AppliedOverrides, prepareOverride } from "./override-policy.js";
import { needsOf } from "./policy-facts.js";
import { toPolicyResult } from "./policy-result.js";
import { toolsOf } from "../../definition/tool-match.js";
import { Failure } from "../../expression/failure.js";
import { parseInstant } from "../../expression/instant.js";
import type { Template } from "../../expression/template.js";
import type { Policy, PolicyDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
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
export function preparePolicy(definition: PolicyDefinition, input: Template | undefined): PreparedType {
  const policies = definition.policies ?? [];
  const prepared: PreparedPolicies = {
    definition,
    bases: byPriority(
      policies.flatMap((each) => (each.overrides === undefined ? prepareBasePolicy(each) : [])),
    ),
    overrides: byPriority(
      policies.flatMap((each) => (each.overrides === undefined ? [] : prepareOverride(each))),
    ),
    isTimed: policies.some((each) => each.effective_from !== undefined || each.expires_at !== undefined),
  };
  const paths = [...prepared.bases, ...prepared.overrides].flatMap(({ reads }) => reads);
  const needs = needsOf(policies);
  const rejectShadowing = prepareShadowCheck([...(input?.reads ?? []), ...paths]);
  return {
    reads: readsWithInput(input, needs === undefined ? paths : [...paths, "facts"]),
    conditionReads: paths,
    readsByCondition: new Map(),
    ...(needs !== undefined && { needs }),
    evaluate(scope) {
      rejectShadowing(scope.context);
      const value = input === undefined ? scope.context : input.evaluate(scope);
      const withInput = { ...scope, input: value instanceof Failure ? undefined : value };
      const result = toPolicyResult(prepared, evaluatePolicies(prepared, withInput));
      if (!(value instanceof Failure)) return { ...result, input_value: value };
      const problem = `the input could not be evaluated: ${value.message}`;
      const { warnings, errors } = result;
      return { ...result, input_value: null, warnings: [problem, ...warnings], errors: [problem, ...errors] };
    },
  };
}

/** Highest priority first; equal ones in the order of the file. */
function byPriority<Prepared extends { readonly policy: Policy }>(
  prepared: readonly Prepared[],
): readonly Prepared[] {
  return prepared.toSorted((a, b) => (b.policy.priority ?? 0) - (a.policy.priority ?? 0));
}

function evaluatePolicies(
  { definition, bases, overrides, isTimed }: PreparedPolicies,
  scope: Scope,
): PolicyVerdicts {
  const { context, system } = scope;
  const tool = typeof context["tool"] === "string" ? context["tool"] : toolsOf(definition).join(", ");
  const time = system["request_time"];
  const at = isTimed && typeof time === "string" ? parseInstant(time) : undefined;
  const appliedOverrides = new AppliedOverrides(overrides, scope, at);
  const all = bases.map((base): BaseVerdict | LeftOut => {
    // If the time is unknown, a policy is in effect and an override is not.
    const outside = at === undefined ? undefined : base.window(at);
    return outside === undefined ? base.evaluate(tool, scope) : { identity: base.identity, leftOut: outside };
  });
  const verdicts = all.filter((each): each is BaseVerdict => !("leftOut" in each));
  const leftOut = all.filter((each): each is LeftOut => "leftOut" in each);
  for (const { allows, identity } of verdicts) if (!allows) appliedOverrides.applyTo(identity.name);
  return { tool, params: context["params"], verdicts, all, leftOut, appliedOverrides };
}
