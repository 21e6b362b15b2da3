import type { LineageCondition, OverrideApplication, PolicyEvaluation } from "../../model/lineage.js";
import type { PolicyDetail } from "../../model/result.js";
import type { BaseVerdict } from "./base-policy.js";
import type { Deliberation } from "./deliberation.js";
import type { Applied, Flips } from "./flips.js";
import { notNeeded } from "./not-needed.js";
import type { OverrideVerdict, PreparedOverride } from "./override-policy.js";
import type { Consulted, PreparedPolicies } from "./policy.js";

/** What each policy and each override had to say, in the order in which they are asked. */
export function describeConsulted(
  { overrides }: PreparedPolicies,
  { asked, flips }: Consulted,
): Readonly<Record<string, PolicyDetail>> {
  const details: Record<string, PolicyDetail> = {};
  for (const each of asked) {
    const { name, version } = each.identity;
    details[name] =
      "leftOut" in each
        ? { version, result: true, left_out: each.leftOut, conditions: [] }
        : baseDetail(each, flips);
  }
  for (const each of overrides) details[each.identity.name] = overrideDetail(each, flips);
  return details;
}

function baseDetail({ identity, allows, conditions, reason }: BaseVerdict, flips: Flips): PolicyDetail {
  const flip = allows ? undefined : flips.overrideOf(identity.name);
  const detail: { -readonly [Key in keyof PolicyDetail]: PolicyDetail[Key] } = {
    version: identity.version,
    result: allows,
    conditions,
  };
  if (reason !== undefined) detail.reason = reason;
  if (flip !== undefined) detail.overridden_by = flip;
  return detail;
}

function overrideDetail(override: PreparedOverride, flips: Flips): PolicyDetail {
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

/** Its condition, where it came to that. */
function whenOf({ policy }: PreparedOverride, verdict: OverrideVerdict): PolicyDetail["conditions"] {
  const result = verdict.applies ? true : verdict.held;
  if (policy.when === undefined || result === undefined) return [];
  const condition = { name: "when", expression: policy.when, result };
  if (verdict.applies || result || verdict.error === undefined) return [condition];
  return [{ ...condition, error: verdict.error }];
}

/** What the lineage of the decision is made of. */
export function lineagePartsOf(
  { overrides }: PreparedPolicies,
  { verdicts, flips }: Consulted,
): Pick<Deliberation, "conditions" | "policies" | "overrides" | "calls"> {
  const conditions: LineageCondition[] = [];
  for (const { lineage } of verdicts) conditions.push(...lineage);
  for (const override of overrides) conditions.push(...askedOf(override, flips.verdictOf(override)));
  return {
    conditions,
    policies: verdicts.length === 0 ? [noPolicy] : verdicts.map((each) => evaluationOf(each, flips)),
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

function askedOf(
  override: PreparedOverride,
  verdict: OverrideVerdict | undefined,
): readonly LineageCondition[] {
  if (verdict === undefined) return [];
  return whenOf(override, verdict).map(({ expression, result }) => ({
    name: override.identity.name,
    expression,
    result,
    inputs_used: override.inputs,
  }));
}

function evaluationOf(verdict: BaseVerdict, flips: Flips): PolicyEvaluation {
  const { name, version, hash } = verdict.identity;
  if (verdict.allows)
    return { name, version, hash, base_decision: "allow", denial_reason: null, override: null };
  const override = flips.overrideOf(name) ?? null;
  return { name, version, hash, base_decision: "deny", denial_reason: verdict.reason, override };
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
