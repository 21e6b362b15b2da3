import type { JsonObject } from "../model/json.js";
import type { ExplainedCondition } from "../record/explain.js";
import type {
  PolicyRecord,
  ExplainedCall,
  ExplainedOverride,
  ExplainedPolicy,
  SkippedPolicy,
} from "../record/explain-call.js";
import { maskMarker } from "../record/mask.js";
import type { Branch } from "./tree.js";
import { readValueTexts } from "./record-text.js";

/** What each policy that was in effect said, and which override flipped it. */
export function policiesBranch({ lineage }: PolicyRecord, { policies }: ExplainedCall): Branch {
  if (policies.length === 0) {
    const sentence = lineage.policies.length === 0 ? "not recorded" : "none was in effect";
    return { name: "policies", colour: "dim", sentence };
  }
  const told = new Set<string>();
  const under = policies.map((policy) => {
    const { override } = policy;
    const isTold = override !== undefined && told.has(override.name);
    if (override !== undefined) told.add(override.name);
    return policyBranch(policy, isTold);
  });
  return { name: "policies", colour: "dim", under };
}

function policyBranch(policy: ExplainedPolicy, isOverrideTold: boolean): Branch {
  const { name, version, allows, reason, conditions, override } = policy;
  return {
    mark: allows ? "✓" : "✗",
    name: `${name} ${version} ${allows ? "allows" : "denies"}`,
    ...(reason !== undefined && { sentence: reason }),
    under: [
      ...conditions.map(conditionBranch),
      ...(override === undefined ? [] : [overrideBranch(override, isOverrideTold)]),
    ],
  };
}

function conditionBranch(condition: ExplainedCondition): Branch {
  const { label, condition: expression, result, error } = condition;
  return {
    mark: error !== undefined ? "!" : result ? "✓" : "✗",
    name: label,
    sentence: expression,
    under: readValueTexts(condition).map((value) => ({ value })),
  };
}

function overrideBranch(override: ExplainedOverride, isTold: boolean): Branch {
  const { name, version = "", action, reason, expires_at: expires, conditions, set } = override;
  const title = `overridden by ${[name, version].join(" ").trimEnd()}${action === undefined ? "" : ` (${action})`}`;
  if (isTold) return { mark: "✓", name: title, colour: "yellow", sentence: "as above" };
  return {
    mark: "✓",
    name: title,
    colour: "yellow",
    ...(reason !== undefined && { sentence: reason }),
    under: [
      ...conditions.map(conditionBranch),
      ...Object.entries(set).map(([param, value]) => ({ value: `sets ${valueText(param, value)}` })),
      ...(expires === undefined
        ? []
        : [{ sentence: expires === null ? "never expires" : `expires on ${expires}` }]),
    ],
  };
}

/** What had no say, and why. */
export const leftOutBranch = ({ name, version, why, conditions }: SkippedPolicy): Branch => ({
  mark: "–",
  name: `${name} ${version}`,
  sentence: why,
  under: conditions.map(conditionBranch),
});

export const valueText = (name: string, value: JsonObject[string]): string =>
  `${name} = ${value === maskMarker ? maskMarker : JSON.stringify(value)}`;
