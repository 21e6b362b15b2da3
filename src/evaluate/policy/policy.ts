import { Failure } from "../../expression/failure.js";
import { parseInstant } from "../../expression/instant.js";
import type { Template } from "../../expression/template.js";
import { toolsOf } from "../../definition/tool-match.js";
import type { Policy, PolicyDefinition } from "../../model/definition.js";
import type { JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import type { Judge } from "../evaluated.js";
import { readsWith } from "../reads.js";
import { shadowGuard } from "../shadowing.js";
import type { BaseVerdict, Identity, PreparedBase } from "./base-policy.js";
import { prepareBase } from "./base-policy.js";
import { Flips } from "./flips.js";
import { needsOf } from "./needs.js";
import type { PreparedOverride } from "./override-policy.js";
import { prepareOverride } from "./override-policy.js";
import { conclude } from "./conclude.js";

/** The policies of a decision, each in the order in which they are asked. */
export interface PreparedPolicies {
  readonly definition: PolicyDefinition;
  readonly bases: readonly PreparedBase[];
  readonly overrides: readonly PreparedOverride[];
  /** Whether any of them has a window. */
  readonly isTimed: boolean;
}

/** What came of asking them. */
export interface Consulted {
  readonly tool: string;
  readonly params: JsonObject[string] | undefined;
  readonly verdicts: readonly BaseVerdict[];
  /** All base policies in their order: the verdict of each, or why it was not in effect. */
  readonly asked: readonly (BaseVerdict | LeftOut)[];
  readonly leftOut: readonly LeftOut[];
  readonly flips: Flips;
}

export interface LeftOut {
  readonly identity: Identity;
  readonly leftOut: string;
}

/** `policy`: all policies in effect must allow the call; an override may flip the denials that it names. */
export function preparePolicy(definition: PolicyDefinition, input: Template | undefined): Judge {
  const policies = definition.policies ?? [];
  const prepared: PreparedPolicies = {
    definition,
    bases: byPriority(policies.flatMap((each) => (each.overrides === undefined ? prepareBase(each) : []))),
    overrides: byPriority(
      policies.flatMap((each) => (each.overrides === undefined ? [] : prepareOverride(each))),
    ),
    isTimed: policies.some((each) => each.effective_from !== undefined || each.expires_at !== undefined),
  };
  const paths = [...prepared.bases, ...prepared.overrides].flatMap(({ reads }) => reads);
  const needs = needsOf(policies);
  const refuseShadow = shadowGuard([...(input?.reads ?? []), ...paths]);
  return {
    reads: readsWith(input, needs === undefined ? paths : [...paths, "facts"]),
    asks: paths,
    ...(needs !== undefined && { needs }),
    judge(scope) {
      refuseShadow(scope.context);
      const value = input === undefined ? scope.context : input.evaluate(scope);
      const seen = { ...scope, input: value instanceof Failure ? undefined : value };
      const judged = conclude(prepared, consult(prepared, seen));
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

function consult({ definition, bases, overrides, isTimed }: PreparedPolicies, scope: Scope): Consulted {
  const { context, system } = scope;
  const tool = typeof context["tool"] === "string" ? context["tool"] : toolsOf(definition).join(", ");
  const time = system["request_time"];
  const at = isTimed && typeof time === "string" ? parseInstant(time) : undefined;
  const flips = new Flips(overrides, scope, at);
  const asked = bases.map((base): BaseVerdict | LeftOut => {
    // Where the time is not known, a policy is in effect and an override is not.
    const outside = at === undefined ? undefined : base.window(at);
    return outside === undefined ? base.judge(tool, scope) : { identity: base.identity, leftOut: outside };
  });
  const verdicts = asked.filter((each): each is BaseVerdict => !("leftOut" in each));
  const leftOut = asked.filter((each): each is LeftOut => "leftOut" in each);
  for (const { allows, identity } of verdicts) if (!allows) flips.flip(identity.name);
  return { tool, params: context["params"], verdicts, asked, leftOut, flips };
}
