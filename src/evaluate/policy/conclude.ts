import type { PolicyOutcome } from "../../model/result.js";
import type { Judged } from "../evaluated.js";
import type { BaseVerdict, Denial } from "./base-policy.js";
import { describeConsulted, lineagePartsOf } from "./describe-policies.js";
import type { Flips } from "./flips.js";
import type { Consulted, LeftOut, PreparedPolicies } from "./policy.js";
import { withParams } from "./with-params.js";

/** What is made of all that the policies said. */
export function conclude(prepared: PreparedPolicies, consulted: Consulted): Omit<Judged, "input_value"> {
  const { verdicts, flips } = consulted;
  const standing = verdicts.filter(
    (each): each is Denial => !each.allows && flips.overrideOf(each.identity.name) === undefined,
  );
  const outcome = outcomeOf(consulted, standing);
  const problems = problemsOf(consulted, prepared);
  const idle = verdicts.length === 0 ? consulted.leftOut.map(withoutSay) : [];
  const warned = flips.applied
    .filter(({ override }) => outcome.allowed && override.action === "allow_with_warning")
    .map(({ override, reason }) => `\`${override.identity.name}\`: ${reason}`);
  return {
    selected_targets: [],
    selected_labels: [outcome.outcome],
    evaluation_details: describeConsulted(prepared, consulted),
    rules_total: undefined,
    because: becauseOf(outcome, standing, flips),
    failed_conditions: failedIn(verdicts),
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

function outcomeOf(consulted: Consulted, standing: readonly Denial[]): PolicyOutcome {
  const { tool, params = null, flips, verdicts } = consulted;
  const [denial] = standing;
  const reason = denial?.reason ?? flips.conflict;
  if (reason !== undefined) return { tool, allowed: false, outcome: "denied", reason, params };
  const [exception] = flips.applied;
  if (exception !== undefined) {
    const changed = withParams(params, flips.params);
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
  { applied, conflict }: Flips,
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

const withoutSay = ({ identity, leftOut }: LeftOut): string => `\`${identity.name}\` has no say: ${leftOut}`;

/** In one pass: most of the time there is little to find. */
function failedIn(verdicts: readonly BaseVerdict[]): readonly string[] {
  const failed = new Set<string>();
  for (const { allows, conditions } of verdicts) {
    if (allows) continue;
    for (const { result, expression } of conditions) if (!result) failed.add(expression);
  }
  return [...failed];
}

interface Unanswered {
  readonly text: string;
  readonly consequence: string;
}

/** What could not be evaluated: of a policy it denies, of an override it is as if it were not there. */
function problemsOf({ verdicts, flips }: Consulted, { overrides }: PreparedPolicies): readonly Unanswered[] {
  const problems: Unanswered[] = [];
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
