import { contradictionText } from "./contradiction.js";
import type { Box } from "./box.js";
import { everything } from "./box.js";
import { complementOf, domainsOf, findUncovered } from "./cover.js";
import type { Confirm, Findings } from "./findings.js";
import type { Formula } from "./formula.js";
import { regionOf, WorkLimit } from "./formula.js";
import type { ModelCondition } from "./model-decision.js";
import { splitIntervals } from "./region-text.js";

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
  readonly steps: number;
}

/** Runs a search with a limit of its own, and says so if the limit is reached. */
export function limited({ found, steps }: Analysing, what: string, search: (limit: WorkLimit) => void): void {
  const limit = new WorkLimit(steps);
  const isDone = limit.within(() => {
    search(limit);
    return true;
  });
  if (isDone === undefined) found.skip(what, `finding all of them takes more than ${steps} steps`);
}

/** Computes the regions of rules; a rule whose condition is too large is left out, and reported. */
export function regionsOfRules<Rule extends LabelledCondition>(
  rules: readonly Rule[],
  { found, steps }: Analysing,
  effective: (formula: Formula) => Formula = (formula) => formula,
): readonly RuleRegion<Rule>[] {
  const { space } = found;
  return rules.flatMap((rule) => {
    for (const reason of rule.reasons) found.skip(rule.label, reason);
    const limit = new WorkLimit(steps);
    const formula = effective(rule.formula);
    const region = limit.within(() => ({
      rule,
      matched: regionOf(formula, "true", space, limit),
      errored: regionOf(formula, "errored", space, limit),
    }));
    if (region === undefined)
      found.skip(rule.label, `analysing its condition takes more than ${steps} steps`);
    return region === undefined ? [] : [region];
  });
}

/** Leaves out the boxes without any input. */
export const possibleBoxes = (
  boxes: readonly Box[],
  without: readonly Box[],
  { space, limit }: { readonly space: Findings["space"]; readonly limit: WorkLimit },
): readonly Box[] =>
  boxes.filter(
    (box) => findUncovered(domainsOf(box, space), [...space.impossible, ...without], limit) !== undefined,
  );

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
      found.addUnreachable({ rule: rule.label, reason, path: rule.path });
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
  const { found } = analysing;
  const { space } = found;
  const { matched, errored, without = [] } = search;
  const all = domainsOf(everything, space);
  limited(analysing, "gaps", (limit) => {
    const report = (covered: readonly Box[], isUnexpected: boolean): readonly Box[] | undefined => {
      const { boxes, isComplete } = complementOf(all, covered, { space, limit, most: maxGaps });
      for (const box of boxes.flatMap((each) => splitIntervals(each, space)))
        found.addGap({ box, isUnexpected }, domainsOf(box, space), search.confirm);
      if (!isComplete) found.skip("gaps", `there are more than ${maxGaps}`);
      return isComplete ? boxes : undefined;
    };
    const silent = report([...matched, ...errored, ...without], search.isSilentUnexpected);
    if (silent === undefined || search.isErroredUnexpected === undefined) return;
    report([...matched, ...silent, ...without], search.isErroredUnexpected);
  });
}
