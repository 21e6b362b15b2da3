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

/** The policies of a decision, each in the order in which they are asked. */
export interface PreparedPolicies {
  readonly definition: PolicyDefinition;
  readonly bases: readonly PreparedBasePolicy[];
  readonly overrides: readonly PreparedOverride[];
  /** Whether any of them has a window. */
  readonly isTimed: boolean;
}

/** What came of asking them. */
export interface PolicyVerdicts {
  readonly tool: string;
  readonly params: JsonObject[string] | undefined;
  readonly verdicts: readonly BaseVerdict[];
  /** All base policies in their order: the verdict of each, or why it was not in effect. */
  readonly all: readonly (BaseVerdict | LeftOut)[];
  readonly leftOut: readonly LeftOut[];
  readonly flips: AppliedOverrides;
}

export interface LeftOut {
  readonly identity: PolicyIdentity;
  readonly leftOut: string;
}

/** `policy`: all policies in effect must allow the call; an override may flip the denials that it names. */
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
  const refuseShadow = prepareShadowCheck([...(input?.reads ?? []), ...paths]);
  return {
    reads: readsWithInput(input, needs === undefined ? paths : [...paths, "facts"]),
    conditionReads: paths,
    ...(needs !== undefined && { needs }),
    evaluate(scope) {
      refuseShadow(scope.context);
      const value = input === undefined ? scope.context : input.evaluate(scope);
      const seen = { ...scope, input: value instanceof Failure ? undefined : value };
      const judged = toPolicyResult(prepared, evaluatePolicies(prepared, seen));
      if (!(value instanceof Failure)) return { ...judged, input_value: value };
      const problem = `the input could not be evaluated: ${value.message}`;
      const { warnings, errors } = judged;
      return { ...judged, input_value: null, warnings: [problem, ...warnings], errors: [problem, ...errors] };
    },
  };
}

/** Higher first; of equals, the first in the file. */
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
  const flips = new AppliedOverrides(overrides, scope, at);
  const asked = bases.map((base): BaseVerdict | LeftOut => {
    // Where the time is not known, a policy is in effect and an override is not.
    const outside = at === undefined ? undefined : base.window(at);
    return outside === undefined ? base.evaluate(tool, scope) : { identity: base.identity, leftOut: outside };
  });
  const verdicts = asked.filter((each): each is BaseVerdict => !("leftOut" in each));
  const leftOut = asked.filter((each): each is LeftOut => "leftOut" in each);
  for (const { allows, identity } of verdicts) if (!allows) flips.applyTo(identity.name);
  return { tool, params: context["params"], verdicts, all: asked, leftOut, flips };
}
