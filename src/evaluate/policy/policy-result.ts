import type { BaseVerdict, Denial } from "./base-policy.js";
import type { DetailedPolicyOutcome } from "./policy-outcome.js";
import { mergeParams, nothingToOverride } from "./policy-outcome.js";
import type {
  AppliedOverrides,
  AppliedOverride,
  OverrideVerdict,
  PreparedOverride,
} from "./override-policy.js";
import type { PolicyVerdicts, LeftOut, PreparedPolicies } from "./policy.js";
import type { LineageCondition, OverrideApplication, PolicyEvaluation } from "../../model/lineage.js";
import type { PolicyOutcome, PolicyDetail } from "../../model/result.js";
import type { EvaluatedWithErrors } from "../evaluate.js";

/** What is made of all that the policies said. */
export function toPolicyResult(
  prepared: PreparedPolicies,
  consulted: PolicyVerdicts,
): Omit<EvaluatedWithErrors, "input_value"> {
  const { verdicts, flips } = consulted;
  const standing = verdicts.filter(
    (each): each is Denial => !each.allows && flips.overrideOf(each.identity.name) === undefined,
  );
  const outcome = outcomeOf(consulted, standing);
  const problems = evaluationErrors(consulted, prepared);
  const idle = verdicts.length === 0 ? consulted.leftOut.map(describeLeftOut) : [];
  const warned = flips.applied
    .filter(({ override }) => outcome.allowed && override.action === "allow_with_warning")
    .map(({ override, reason }) => `\`${override.identity.name}\`: ${reason}`);
  return {
    selected_targets: [],
    selected_labels: [outcome.outcome],
    evaluation_details: describeVerdicts(prepared, consulted),
    rules_total: undefined,
    because: becauseOf(outcome, standing, flips),
    failed_conditions: failedConditions(verdicts),
    warnings: [...problems.map(({ text, consequence }) => text + consequence), ...idle, ...warned],
    errors: problems.map(({ text }) => text),
    outcome: {
      type: "policy",
      ...outcome,
      ...lineagePartsOf(prepared, consulted),
      set_params: outcome.allowed ? flips.params : {},
    },
  };
}

function outcomeOf(consulted: PolicyVerdicts, standing: readonly Denial[]): PolicyOutcome {
  const { tool, params = null, flips, verdicts } = consulted;
  const [denial] = standing;
  const reason = denial?.reason ?? flips.conflict;
  if (reason !== undefined) return { tool, allowed: false, outcome: "denied", reason, params };
  const [exception] = flips.applied;
  if (exception !== undefined) {
    const changed = mergeParams(params, flips.params);
    return {
      tool,
      allowed: true,
      outcome: "allowed_by_exception",
      reason: exception.reason,
      params: changed,
    };
  }
  return { tool, allowed: true, outcome: "allowed", reason: allowedBy(verdicts), params };
}

function allowedBy(verdicts: readonly BaseVerdict[]): string {
  const [first] = verdicts;
  if (first === undefined) return "No policy constraints";
  const stated = verdicts.find(({ reason }) => reason !== undefined)?.reason;
  return stated ?? `Allowed by ${first.identity.name} v${first.identity.version}`;
}

function becauseOf(
  { outcome, reason }: PolicyOutcome,
  standing: readonly Denial[],
  { applied, conflict }: AppliedOverrides,
): readonly string[] {
  switch (outcome) {
    case "allowed":
      return [reason];
    case "allowed_by_exception":
      return [...new Set(applied.map((each) => each.reason))];
    case "denied":
      return [...new Set([...standing.map((each) => each.reason), ...(conflict ? [conflict] : [])])];
  }
}

const describeLeftOut = ({ identity, leftOut }: LeftOut): string =>
  `\`${identity.name}\` has no say: ${leftOut}`;

/** In one pass: most of the time there is little to find. */
function failedConditions(verdicts: readonly BaseVerdict[]): readonly string[] {
  const failed = new Set<string>();
  for (const { allows, conditions } of verdicts) {
    if (allows) continue;
    for (const { result, expression } of conditions) if (!result) failed.add(expression);
  }
  return [...failed];
}

interface EvaluationError {
  readonly text: string;
  readonly consequence: string;
}

/** What could not be evaluated: of a policy it denies, of an override it is as if it were not there. */
function evaluationErrors(
  { verdicts, flips }: PolicyVerdicts,
  { overrides }: PreparedPolicies,
): readonly EvaluationError[] {
  const problems: EvaluationError[] = [];
  for (const { allows, identity, conditions } of verdicts) {
    if (allows) continue;
    for (const { name, error } of conditions) {
      if (error === undefined) continue;
      const text = `\`${name}\` of \`${identity.name}\` could not be evaluated: ${error}`;
      problems.push({ text, consequence: " (so it denies)" });
    }
  }
  for (const override of overrides) {
    const verdict = flips.verdictOf(override);
    if (verdict === undefined || verdict.applies || verdict.error === undefined) continue;
    const text = `\`${override.identity.name}\` could not be evaluated: ${verdict.error}`;
    problems.push({ text, consequence: " (so it was not applied)" });
  }
  return problems;
}

/** What each policy and each override had to say, in the order in which they are asked. */
function describeVerdicts(
  { overrides }: PreparedPolicies,
  { all: asked, flips }: PolicyVerdicts,
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

function baseDetail(
  { identity, allows, conditions, reason }: BaseVerdict,
  flips: AppliedOverrides,
): PolicyDetail {
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

function overrideDetail(override: PreparedOverride, flips: AppliedOverrides): PolicyDetail {
  const { version } = override.identity;
  const verdict = flips.verdictOf(override);
  const conditions = verdict === undefined ? [] : whenOf(override, verdict);
  const applied = flips.applied.find((each) => each.override === override);
  if (applied !== undefined) {
    return { version, result: true, conditions, reason: applied.reason, overrides: applied.flipped };
  }
  const why = verdict === undefined || verdict.applies ? nothingToOverride : verdict.leftOut;
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
function lineagePartsOf(
  { overrides }: PreparedPolicies,
  { verdicts, flips }: PolicyVerdicts,
): Pick<DetailedPolicyOutcome, "conditions" | "policies" | "overrides" | "calls"> {
  const conditions: LineageCondition[] = [];
  for (const { lineage } of verdicts) conditions.push(...lineage);
  for (const override of overrides)
    conditions.push(...lineageConditionsOf(override, flips.verdictOf(override)));
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

function lineageConditionsOf(
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

function evaluationOf(verdict: BaseVerdict, flips: AppliedOverrides): PolicyEvaluation {
  const { name, version, hash } = verdict.identity;
  if (verdict.allows)
    return { name, version, hash, base_decision: "allow", denial_reason: null, override: null };
  const override = flips.overrideOf(name) ?? null;
  return { name, version, hash, base_decision: "deny", denial_reason: verdict.reason, override };
}

function applicationOf({ override, reason, flipped }: AppliedOverride): OverrideApplication {
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
