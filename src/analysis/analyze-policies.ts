import { contradictionText } from "./contradiction.js";
import type { Box } from "./box.js";
import { everything } from "./box.js";
import type { WorkLimit } from "./formula.js";
import { product, regionOf } from "./formula.js";
import type { ModelCondition, PolicyModel, PolicyModelRule } from "./model-decision.js";
import type { Analysing } from "./rule-regions.js";
import { limited, limitedParts, possibleBoxes } from "./rule-regions.js";
import type { Path } from "../definition/yaml-source.js";

/**
 * Analyses a `policy` decision: overrides whose condition is never true, policies that always deny because their
 * conditions cannot all hold, and policies that contradict each other, so that no call passes both. The condition `false`
 * is deliberate: it denies every call, or switches an override off. `foreign` are the policies that overrides of other
 * decisions name.
 */
export function analyzePolicies(model: PolicyModel, analysing: Analysing, foreign: readonly string[]): void {
  const { policies, overrides } = model;
  const { found } = analysing;
  const overridden = new Set([...foreign, ...overrides.flatMap(({ policy }) => policy.overrides)]);
  const limitEach = limitedParts(analysing);
  for (const override of overrides) {
    for (const reason of override.reasons) found.skip(override.label, reason);
    limitEach(override.label, (limit) => {
      const region = regionOf(override.formula, "true", found.space, limit);
      if (isDeliberate(override) || isPossible(region, analysing, limit)) return;
      const reason = contradictionText(override, found.space, limit);
      found.addUnreachable({ rule: override.label, reason, path: override.path, isNeverTrue: true });
    });
  }
  const passing = policies.map((policy) => {
    for (const reason of policy.conditions.flatMap(({ reasons }) => reasons))
      found.skip(policy.label, reason);
    return limitEach(policy.label, (limit) => {
      const { calls, denial } = passingCalls(policy, analysing, limit);
      if (denial !== undefined && !overridden.has(policy.label))
        found.addUnreachable({ rule: policy.label, ...denial, isNeverTrue: false });
      return calls;
    });
  });
  limited(analysing, "policies", (limit) =>
    reportContradictions({ policies, passing, overridden }, analysing, limit),
  );
}

const isDeliberate = ({ text }: ModelCondition): boolean => text.trim() === "false";

const isPossible = (boxes: readonly Box[], { found: { space } }: Analysing, limit: WorkLimit): boolean =>
  possibleBoxes(boxes, [], { space, limit }).length > 0;

/** The calls that pass a policy; undefined if there are none or if it passes all, and why it denies all. */
interface Passing {
  readonly calls?: readonly Box[];
  readonly denial?: { readonly reason: string; readonly path: Path };
}

function passingCalls({ conditions }: PolicyModelRule, analysing: Analysing, limit: WorkLimit): Passing {
  const { space } = analysing.found;
  let passing: readonly Box[] = [everything];
  for (const condition of conditions) {
    const { path, text } = condition;
    const region = regionOf(condition.formula, "true", space, limit);
    if (isDeliberate(condition)) return {};
    if (!isPossible(region, analysing, limit)) {
      const reason = `it always denies: ${contradictionText(condition, space, limit)}`;
      return { denial: { reason, path } };
    }
    const both = product(passing, region, limit);
    if (!isPossible(both, analysing, limit)) {
      const reason = `it always denies: \`${text}\` contradicts the conditions before it`;
      return { denial: { reason, path } };
    }
    passing = both;
  }
  return conditions.length === 0 ? {} : { calls: passing };
}

interface PassingPolicies {
  readonly policies: readonly PolicyModelRule[];
  /** The calls that pass each of them. */
  readonly passing: readonly (readonly Box[] | undefined)[];
  readonly overridden: ReadonlySet<string>;
}

/** Finds two policies that no call passes together. Policies that are not always in effect are left out. */
function reportContradictions(
  { policies, passing, overridden }: PassingPolicies,
  analysing: Analysing,
  limit: WorkLimit,
): void {
  const isAlwaysInEffect = ({ policy: { effective_from, expires_at, name } }: PolicyModelRule): boolean =>
    effective_from === undefined && expires_at === undefined && !overridden.has(name);
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
    analysing.found.addUnreachable({ rule: policy.label, reason, path: policy.path, isNeverTrue: false });
  }
}
