import { contradictionText } from "./contradiction.js";
import type { Box } from "./box.js";
import { everything } from "./box.js";
import { complementOf, domainsOf, findUncovered } from "./cover.js";
import type { Confirm, Findings } from "./findings.js";
import type { Formula } from "./formula.js";
import { regionOf, WorkLimit } from "./formula.js";
import type { ModelCondition } from "./model-decision.js";
import { splitIntervals } from "./region-text.js";
import type { Space } from "./space.js";

/** A condition with the name of its rule. */
export type LabelledCondition = ModelCondition & { readonly label: string };

/** A rule with the regions in which its condition is true, and in which it cannot be evaluated. */
export interface RuleRegion<Rule extends LabelledCondition = LabelledCondition> {
  readonly rule: Rule;
  readonly matched: readonly Box[];
  readonly errored: readonly Box[];
}

/** An analysis of one decision: its findings, and the limit of each search. */
export interface Analysing {
  readonly found: Findings;
  readonly newLimit: () => WorkLimit;
}

/** Runs a search with a limit of its own, and says so if the limit is reached. */
export function limited(
  { found, newLimit }: Analysing,
  what: string,
  search: (limit: WorkLimit) => void,
): void {
  const limit = newLimit();
  const isDone = limit.within(() => {
    search(limit);
    return true;
  });
  if (isDone === undefined) found.skip(what, "finding all of them takes too many steps");
}

/** One part may take this share of the steps that are left. */
const partShare = 0.25;

/** Returns a function that runs searches about single rules, which share a limit; it reports those that reach theirs. */
export function limitedParts({
  found,
  newLimit,
}: Analysing): <T>(label: string, search: (limit: WorkLimit) => T) => T | undefined {
  const whole = newLimit();
  return (label, search) => {
    const limit = new WorkLimit(Math.ceil(whole.left * partShare), { whole });
    const result = limit.within(() => ({ value: search(limit) }));
    if (result === undefined) found.skip(label, "analysing its condition takes too many steps");
    return result?.value;
  };
}

/** Computes the regions of rules; a rule whose condition is too large is left out, and reported. */
export function regionsOfRules<Rule extends LabelledCondition>(
  rules: readonly Rule[],
  analysing: Analysing,
  effective: (formula: Formula) => Formula = (formula) => formula,
): readonly RuleRegion<Rule>[] {
  const { found } = analysing;
  const { space } = found;
  const limitEach = limitedParts(analysing);
  return rules.flatMap((rule) => {
    for (const reason of rule.reasons) found.skip(rule.label, reason);
    const region = limitEach(rule.label, (limit) => {
      const formula = effective(rule.formula);
      return {
        rule,
        matched: regionOf(formula, "true", space, limit),
        errored: regionOf(formula, "errored", space, limit),
      };
    });
    return region === undefined ? [] : [region];
  });
}

/** Leaves out the boxes without any input. */
export const possibleBoxes = (
  boxes: readonly Box[],
  without: readonly Box[],
  { space, limit }: { readonly space: Space; readonly limit: WorkLimit },
): readonly Box[] =>
  boxes.filter(
    (box) =>
      (without.length === 0 && isUnrestricted(space)) ||
      findUncovered(domainsOf(box, space), [...space.impossible, ...without], limit) !== undefined,
  );

/** Whether there are two rules, and their conditions are true for the same inputs. */
export function areAlike([a, b, ...others]: readonly RuleRegion[]): boolean {
  return others.length === 0 && JSON.stringify(a?.matched) === JSON.stringify(b?.matched);
}

/** Whether every box that is not empty contains an input. */
const isUnrestricted = ({ impossible, bounds }: Space): boolean =>
  impossible.length === 0 && bounds.dimensions.length === 0;

/** Reports the rules whose condition is never true. `reasonElse` finds other reasons why a rule has no effect. */
export function reportUnreachable(
  regions: readonly RuleRegion[],
  analysing: Analysing,
  reasonElse: (position: number, limit: WorkLimit) => string | undefined = () => undefined,
): ReadonlySet<string> {
  const { found } = analysing;
  const { space } = found;
  const unreachable = new Set<string>();
  limited(analysing, "unreachable rules", (limit) => {
    for (const [position, { rule, matched }] of regions.entries()) {
      const isPossible = possibleBoxes(matched, [], { space, limit }).length > 0;
      const reason = isPossible ? reasonElse(position, limit) : contradictionText(rule, space, limit);
      if (reason === undefined) continue;
      unreachable.add(rule.label);
      found.addUnreachable({ rule: rule.label, reason, path: rule.path, isNeverTrue: !isPossible });
    }
  });
  return unreachable;
}

/** More gaps than this are not listed. */
const maxGaps = 200;

interface GapSearch {
  /** The regions of the rules. */
  readonly matched: readonly Box[];
  /** Where something cannot be evaluated. */
  readonly errored: readonly Box[];
  /** What is not a gap either. */
  readonly without?: readonly Box[];
  readonly isSilentUnexpected: boolean;
  /** Undefined: inputs for which something cannot be evaluated are no gaps. */
  readonly isErroredUnexpected: boolean | undefined;
  readonly confirm: Confirm;
}

/**
 * Reports the inputs that no rule matches: first those for which all conditions are false, then those for which some
 * cannot be evaluated, of which evaluation warns.
 */
export function reportGaps(search: GapSearch, analysing: Analysing): void {
  const { found, newLimit } = analysing;
  const { space } = found;
  const { matched, errored, without = [] } = search;
  const all = domainsOf(everything, space);
  let left = maxGaps;
  const report = (covered: readonly Box[], isUnexpected: boolean): readonly Box[] | undefined => {
    const limit = newLimit();
    const { boxes, isComplete } = complementOf(all, covered, { space, limit, most: left });
    const parts = boxes.flatMap((box) => splitIntervals(box, space));
    for (const box of parts.slice(0, left))
      found.addGap({ box, isUnexpected }, domainsOf(box, space), search.confirm);
    if (!isComplete || parts.length > left) found.skip("gaps", "not all of them are listed");
    left -= parts.length;
    return isComplete && left >= 0 ? boxes : undefined;
  };
  const silent = report([...matched, ...errored, ...without], search.isSilentUnexpected);
  if (silent === undefined || search.isErroredUnexpected === undefined) return;
  report([...matched, ...silent, ...without], search.isErroredUnexpected);
}
