import { contradictionText } from "./contradiction.js";
import type { Box } from "./box.js";
import { everything } from "./box.js";
import type { WorkLimit } from "./formula.js";
import { product, regionOf } from "./formula.js";
import type { PolicyModel, PolicyModelRule } from "./model-decision.js";
import type { Analysing } from "./rule-regions.js";
import { limited, possibleBoxes } from "./rule-regions.js";

/**
 * Analyses a `policy` decision: overrides whose condition is never true, policies that always deny because their
 * conditions cannot all hold, and policies that contradict each other, so that no call passes both.
 */
export function analyzePolicies(model: PolicyModel, analysing: Analysing): void {
  const { policies, overrides } = model;
  const { found } = analysing;
  for (const { label, conditions } of policies)
    for (const reason of conditions.flatMap(({ reasons }) => reasons)) found.skip(label, reason);
  for (const { label, reasons } of overrides) for (const reason of reasons) found.skip(label, reason);
  limited(analysing, "policies", (limit) => {
    for (const override of overrides) {
      const region = regionOf(override.formula, "true", found.space, limit);
      if (isPossible(region, analysing, limit)) continue;
      const reason = contradictionText(override, found.space, limit);
      found.addUnreachable({ rule: override.label, reason, path: override.path });
    }
    const passing = policies.map((each) =>
      reportPolicy(each, isOverridden(each.label, model), analysing, limit),
    );
    reportContradictions(model, passing, analysing, limit);
  });
}

const isPossible = (boxes: readonly Box[], { found: { space } }: Analysing, limit: WorkLimit): boolean =>
  possibleBoxes(boxes, [], { space, limit }).length > 0;

const isOverridden = (name: string, { overrides }: PolicyModel): boolean =>
  overrides.some(({ policy }) => policy.overrides.includes(name));

/**
 * Returns the calls that pass a policy; undefined if there are none, which is reported unless overrides decide which
 * calls pass.
 */
function reportPolicy(
  { label, conditions }: PolicyModelRule,
  hasOverride: boolean,
  analysing: Analysing,
  limit: WorkLimit,
): readonly Box[] | undefined {
  const { found } = analysing;
  let passing: readonly Box[] = [everything];
  for (const condition of conditions) {
    const region = regionOf(condition.formula, "true", found.space, limit);
    if (!isPossible(region, analysing, limit)) {
      if (hasOverride) return undefined;
      const reason = `it always denies: ${contradictionText(condition, found.space, limit)}`;
      found.addUnreachable({ rule: label, reason, path: condition.path });
      return undefined;
    }
    const both = product(passing, region, limit);
    if (!isPossible(both, analysing, limit)) {
      if (hasOverride) return undefined;
      const reason = `it always denies: \`${condition.text}\` contradicts the conditions before it`;
      found.addUnreachable({ rule: label, reason, path: condition.path });
      return undefined;
    }
    passing = both;
  }
  return conditions.length === 0 ? undefined : passing;
}

/** Finds two policies that no call passes together. Policies that are not always in effect are left out. */
function reportContradictions(
  model: PolicyModel,
  passing: readonly (readonly Box[] | undefined)[],
  analysing: Analysing,
  limit: WorkLimit,
): void {
  const { policies } = model;
  const isAlwaysInEffect = ({ policy: { effective_from, expires_at, name } }: PolicyModelRule): boolean =>
    effective_from === undefined && expires_at === undefined && !isOverridden(name, model);
  for (const [index, policy] of policies.entries()) {
    if (!isAlwaysInEffect(policy)) continue;
    const before = policies.slice(0, index).findIndex((other, at) => {
      const [a, b] = [passing[at], passing[index]];
      if (a === undefined || b === undefined || !isAlwaysInEffect(other)) return false;
      return !isPossible(product(a, b, limit), analysing, limit);
    });
    const other = policies[before];
    if (other === undefined) continue;
    const reason = `no call passes both it and \`${other.label}\`: their conditions contradict each other`;
    analysing.found.addUnreachable({ rule: policy.label, reason, path: policy.path });
  }
}
