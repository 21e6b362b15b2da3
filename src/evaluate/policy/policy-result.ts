import type { BaseVerdict, Denial, PolicyIdentity } from "./base-policy.js";
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

/** Creates the answer from the verdicts of the policies. */
export function toPolicyResult(
  prepared: PreparedPolicies,
  consulted: PolicyVerdicts,
): Omit<EvaluatedWithErrors, "input_value"> {
  const { verdicts, appliedOverrides } = consulted;
  const standing = verdicts.filter(
    (each): each is Denial => !each.allows && appliedOverrides.overrideOf(each.identity.name) === undefined,
  );
  const outcome = outcomeOf(consulted, standing);
  const problems = evaluationErrors(consulted, prepared);
  const unused = verdicts.length === 0 ? consulted.leftOut.map(describeLeftOut) : [];
  const warned = appliedOverrides.applied
    .filter(({ override }) => outcome.allowed && override.action === "allow_with_warning")
    .map(({ override, reason }) => `\`${override.identity.name}\`: ${reason}`);
  return {
    selected_targets: [],
    selected_labels: [outcome.outcome],
    evaluation_details: describeVerdicts(prepared, consulted),
    rules_total: undefined,
    because: becauseOf(outcome, standing, appliedOverrides),
    failed_conditions: failedConditions(verdicts),
    warnings: [...problems.map(({ text, consequence }) => text + consequence), ...unused, ...warned],
    errors: problems.map(({ text }) => text),
    outcome: {
      type: "policy",
      ...outcome,
      ...lineagePartsOf(prepared, consulted),
      set_params: outcome.allowed ? appliedOverrides.params : {},
    },
  };
}

function outcomeOf(consulted: PolicyVerdicts, standing: readonly Denial[]): PolicyOutcome {
  const { tool, params = null, appliedOverrides, verdicts } = consulted;
  const [denial] = standing;
  const reason = denial?.reason ?? appliedOverrides.conflict;
  if (reason !== undefined) return { tool, allowed: false, outcome: "denied", reason, params };
  const [exception] = appliedOverrides.applied;
  if (exception !== undefined) {
    const changed = mergeParams(params, appliedOverrides.params);
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
  return stated ?? `Allowed by ${policyVersionText(first.identity)}`;
}

/** A version is a semantic version or a commit hash. */
const policyVersionText = ({ name, version }: PolicyIdentity): string =>
  version.includes(".") ? `${name} v${version}` : `${name}@${version}`;

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
  `\`${identity.name}\` does not apply: ${leftOut}`;

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

/** Returns the errors: a policy with an error denies, an override with an error is not applied. */
function evaluationErrors(
  { verdicts, appliedOverrides }: PolicyVerdicts,
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
    const verdict = appliedOverrides.verdictOf(override);
    if (verdict === undefined || verdict.applies || verdict.error === undefined) continue;
    const text = `\`${override.identity.name}\` could not be evaluated: ${verdict.error}`;
    problems.push({ text, consequence: " (so it was not applied)" });
  }
  return problems;
}

/** Describes the verdict of each policy and each override, in the order of evaluation. */
function describeVerdicts(
  { overrides }: PreparedPolicies,
  { all, appliedOverrides }: PolicyVerdicts,
): Readonly<Record<string, PolicyDetail>> {
  const details: Record<string, PolicyDetail> = {};
  for (const each of all) {
    const { name, version } = each.identity;
    details[name] =
      "leftOut" in each
        ? { version, result: true, left_out: each.leftOut, conditions: [] }
        : baseDetail(each, appliedOverrides);
  }
  for (const each of overrides) details[each.identity.name] = overrideDetail(each, appliedOverrides);
  return details;
}

function baseDetail(verdict: BaseVerdict, appliedOverrides: AppliedOverrides): PolicyDetail {
  const { identity, allows, conditions, reason } = verdict;
  const flip = allows ? undefined : appliedOverrides.overrideOf(identity.name);
  const detail: { -readonly [Key in keyof PolicyDetail]: PolicyDetail[Key] } = {
    version: identity.version,
    result: allows,
    conditions,
  };
  if (reason !== undefined) detail.reason = reason;
  if (flip !== undefined) detail.overridden_by = flip;
  if (!allows && verdict.changedBy !== undefined) detail.changed_by = verdict.changedBy;
  return detail;
}

function overrideDetail(override: PreparedOverride, appliedOverrides: AppliedOverrides): PolicyDetail {
  const { version } = override.identity;
  const verdict = appliedOverrides.verdictOf(override);
  const conditions = verdict === undefined ? [] : whenOf(override, verdict);
  const applied = appliedOverrides.applied.find((each) => each.override === override);
  if (applied !== undefined) {
    return { version, result: true, conditions, reason: applied.reason, overrides: applied.flipped };
  }
  const why = verdict === undefined || verdict.applies ? nothingToOverride : verdict.leftOut;
  return { version, result: false, left_out: why, conditions };
}

/** Returns the condition of an override, if it was evaluated. */
function whenOf({ policy }: PreparedOverride, verdict: OverrideVerdict): PolicyDetail["conditions"] {
  const result = verdict.applies ? true : verdict.held;
  if (policy.when === undefined || result === undefined) return [];
  const condition = { name: "when", expression: policy.when, result };
  if (verdict.applies || result || verdict.error === undefined) return [condition];
  return [{ ...condition, error: verdict.error }];
}

/** Returns the parts of the outcome that are recorded in the lineage. */
function lineagePartsOf(
  { overrides }: PreparedPolicies,
  { verdicts, appliedOverrides }: PolicyVerdicts,
): Pick<DetailedPolicyOutcome, "conditions" | "policies" | "overrides" | "counted"> {
  const conditions: LineageCondition[] = [];
  for (const { lineage } of verdicts) conditions.push(...lineage);
  for (const override of overrides)
    conditions.push(...lineageConditionsOf(override, appliedOverrides.verdictOf(override)));
  return {
    conditions,
    policies:
      verdicts.length === 0 ? [noPolicy] : verdicts.map((each) => evaluationOf(each, appliedOverrides)),
    overrides: appliedOverrides.applied.map(applicationOf),
    counted: verdicts.flatMap(({ counted }) => counted),
  };
}

/** The entry that the specification prescribes if there is no policy. */
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
    policy: override.identity.name,
    name: override.identity.name,
    expression,
    result,
    inputs_used: override.inputs,
  }));
}

function evaluationOf(verdict: BaseVerdict, appliedOverrides: AppliedOverrides): PolicyEvaluation {
  const { name, version, hash } = verdict.identity;
  if (verdict.allows)
    return { name, version, hash, base_decision: "allow", denial_reason: null, override: null };
  const override = appliedOverrides.overrideOf(name) ?? null;
  return { name, version, hash, base_decision: "deny", denial_reason: verdict.reason, override };
}

function applicationOf({ override, reason, flipped }: AppliedOverride): OverrideApplication {
  const { policy, identity, action, decision } = override;
  return {
    ...identity,
    description: policy.description ?? null,
    ...(decision !== undefined && { decision }),
    overrides: flipped,
    condition: policy.when ?? null,
    action,
    reason,
    expires_at: policy.expires_at ?? null,
  };
}
