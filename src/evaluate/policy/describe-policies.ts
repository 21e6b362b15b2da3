import type { LineageCondition, OverrideApplication, PolicyEvaluation } from "../../model/lineage.js";
import type { PolicyDetail } from "../../model/result.js";
import type { BaseVerdict, PreparedBase } from "./base-policy.js";
import type { Deliberation } from "./deliberation.js";
import type { Applied } from "./flips.js";
import type { OverrideVerdict, PreparedOverride } from "./override-policy.js";
import type { Consulted, PreparedPolicies } from "./policy.js";

/** What each policy and each override had to say, in the order in which they are asked. */
export function describeConsulted(
  { bases, overrides }: PreparedPolicies,
  consulted: Consulted,
): Readonly<Record<string, PolicyDetail>> {
  const details: Record<string, PolicyDetail> = {};
  for (const base of bases) details[base.identity.name] = baseDetail(base, consulted);
  for (const each of overrides) details[each.identity.name] = overrideDetail(each, consulted);
  return details;
}

function baseDetail({ identity }: PreparedBase, { verdicts, leftOut, flips }: Consulted): PolicyDetail {
  const { name, version } = identity;
  const verdict = verdicts.find((each) => each.identity === identity);
  if (verdict === undefined) {
    return { version, result: true, left_out: leftOut.get(name) ?? "", conditions: [] };
  }
  const flip = flips.applied.find(({ flipped }) => flipped.includes(name));
  return {
    version,
    result: verdict.allows,
    conditions: verdict.conditions,
    ...(verdict.reason !== undefined && { reason: verdict.reason }),
    ...(flip !== undefined && { overridden_by: flip.override.identity.name }),
  };
}

function overrideDetail(override: PreparedOverride, { flips }: Consulted): PolicyDetail {
  const { version } = override.identity;
  const verdict = flips.verdictOf(override);
  const conditions = verdict === undefined ? [] : whenOf(override, verdict);
  const applied = flips.applied.find((each) => each.override === override);
  if (applied !== undefined) {
    return { version, result: true, conditions, reason: applied.reason, overrides: applied.flipped };
  }
  const why = verdict === undefined || verdict.applies ? notNeeded : verdict.leftOut;
  return { version, result: false, left_out: why, conditions };
}

const notNeeded = "there was nothing for it to override";

/** Its condition, where it came to that. */
function whenOf({ policy }: PreparedOverride, verdict: OverrideVerdict): PolicyDetail["conditions"] {
  if (policy.when === undefined) return [];
  const condition = { name: "when", expression: policy.when, result: verdict.applies };
  if (verdict.applies || verdict.error === undefined) return [condition];
  return [{ ...condition, error: verdict.error }];
}

/** What the lineage of the decision is made of. */
export function lineagePartsOf(
  { bases, overrides }: PreparedPolicies,
  { verdicts, flips }: Consulted,
): Pick<Deliberation, "conditions" | "policies" | "overrides" | "calls"> {
  const asked = overrides.flatMap((override) => {
    const verdict = flips.verdictOf(override);
    return verdict === undefined ? [] : whenOf(override, verdict).map((each) => ({ override, each }));
  });
  return {
    conditions: [
      ...verdicts.flatMap((verdict) => conditionsOf(verdict, bases)),
      ...asked.map(({ override, each }) => ({
        name: override.identity.name,
        expression: each.expression,
        result: each.result,
        inputs_used: override.inputs,
      })),
    ],
    policies: verdicts.length === 0 ? [noPolicy] : verdicts.map((each) => evaluationOf(each, flips.applied)),
    overrides: flips.applied.map(applicationOf),
    calls: verdicts.flatMap(({ identity, withinCalls }) =>
      withinCalls === undefined ? [] : [{ policy: identity.name, limited: withinCalls }],
    ),
  };
}

/** As the specification has it where there is nothing to ask. */
const noPolicy: PolicyEvaluation = Object.freeze({
  name: "none",
  version: "0.0.0",
  hash: "",
  base_decision: "allow",
  denial_reason: null,
  override: null,
});

function conditionsOf(verdict: BaseVerdict, bases: readonly PreparedBase[]): readonly LineageCondition[] {
  const inputs = bases.find(({ identity }) => identity === verdict.identity)?.inputs;
  return verdict.conditions.map(({ name, expression, result }) => ({
    name,
    expression,
    result,
    inputs_used: inputs?.get(name) ?? [],
  }));
}

function evaluationOf(
  { identity, allows, reason }: BaseVerdict,
  applied: readonly Applied[],
): PolicyEvaluation {
  const flip = applied.find(({ flipped }) => flipped.includes(identity.name));
  return {
    ...identity,
    base_decision: allows ? "allow" : "deny",
    denial_reason: allows ? null : (reason ?? null),
    override: flip?.override.identity.name ?? null,
  };
}

function applicationOf({ override, reason, flipped }: Applied): OverrideApplication {
  const { policy, identity, action } = override;
  return {
    ...identity,
    overrides: flipped,
    condition: policy.when ?? null,
    action,
    reason,
    expires_at: policy.expires_at ?? null,
  };
}
