import type { Box } from "./box.js";
import { domainsOf, findUncovered } from "./cover.js";
import { regionOf } from "./formula.js";
import type { GateModel, GateModelRule } from "./model-decision.js";
import type { Analysing, RuleRegion } from "./rule-regions.js";
import {
  areAlike,
  limited,
  possibleBoxes,
  regionsOfRules,
  reportGaps,
  reportUnreachable,
} from "./rule-regions.js";
import { schemaBounds } from "./schema-bounds.js";
import type { Trial } from "./trial.js";
import { statusRank } from "../evaluate/gate/aggregation.js";
import type { GateRule } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { GateMetadata } from "../model/result.js";

/**
 * Analyses a `gate`. A gap is an input that its schema allows and that no rule matches: the gate is YELLOW then. A rule
 * is masked if it never decides: wherever it matches, another rule does that suppresses it or ranks higher.
 */
export function analyzeGate(model: GateModel, analysing: Analysing): void {
  const { definition, rules, values } = model;
  const { found, newLimit } = analysing;
  const { space } = found;
  const regions = regionsOfRules(rules, analysing);
  const unreachable = reportUnreachable(regions, analysing);
  reportMasked(regions, unreachable, analysing);
  if (regions.length < rules.length || rules.some(({ reasons }) => reasons.length > 0)) {
    found.skip("no rule", "gaps are not claimed, because not all conditions are analysed");
    return;
  }
  const limit = newLimit();
  const erroredValues = limit.within(() =>
    values.flatMap((formula) =>
      regionOf(formula, "errored", space, limit).filter((box) => isExact(box, analysing)),
    ),
  );
  if (erroredValues === undefined) {
    found.skip("no rule", "gaps are not claimed, because analysing the computed values takes too many steps");
    return;
  }
  reportGaps(
    {
      matched: regions.flatMap(({ matched }) => matched),
      errored: [...regions.flatMap(({ errored }) => errored), ...erroredValues],
      without: schemaBounds(definition.context_schema ?? {}, space),
      isSilentUnexpected: false,
      isErroredUnexpected: false,
      confirm: confirmGap,
    },
    analysing,
  );
}

const isExact = (box: Box, { found }: Analysing): boolean =>
  box.dimensions.every((index) => found.space.dimensions[index]?.type === "path");

function metadataOf(input: JsonObject, trial: Trial): GateMetadata | undefined {
  const outcome = trial.run(input).evaluated?.outcome;
  return outcome?.type === "gate" ? outcome.decision_metadata : undefined;
}

function confirmGap(input: JsonObject, trial: Trial): boolean | string {
  const metadata = metadataOf(input, trial);
  if (metadata?.matched_rules.length !== 0) return false;
  const isInvalid = metadata.errored_predicates.some(({ source }) => source === "context_schema");
  return isInvalid ? "no input was found that the context schema allows" : true;
}

function reportMasked(
  regions: readonly RuleRegion<GateModelRule>[],
  unreachable: ReadonlySet<string>,
  analysing: Analysing,
): void {
  const { found } = analysing;
  const { space } = found;
  const rules = regions.map(({ rule }) => rule.rule);
  limited(analysing, "masked rules", (limit) => {
    for (const region of regions) {
      const { rule: masked, matched } = region;
      if (unreachable.has(masked.label)) continue;
      const ranking = regions.filter(({ rule }) => alwaysOutranks(rule.rule, masked.rule, rules));
      const covers = (covering: readonly RuleRegion[]): boolean => {
        const boxes = [...covering.flatMap((each) => each.matched), ...space.impossible];
        return matched.every((box) => findUncovered(domainsOf(box, space), boxes, limit) === undefined);
      };
      if (ranking.length === 0 || !covers(ranking)) continue;
      const single = ranking.find((each) => covers([each]));
      const needed = ranking.reduceRight<readonly RuleRegion<GateModelRule>[]>((kept, each) => {
        const others = kept.filter((other) => other !== each);
        return covers(others) ? others : kept;
      }, ranking);
      const by = single === undefined ? needed : [single];
      const [box] = possibleBoxes(matched, [], { space, limit });
      if (box === undefined) continue;
      const { label, path } = masked;
      const isSame = areAlike([...by, region]);
      const names = by.map(({ rule }) => rule.label);
      const part = findUncovered(domainsOf(box, space), space.impossible, limit) ?? domainsOf(box, space);
      found.addMasked({ rule: label, by: names, path, isSame }, part, (input, trial) => {
        const metadata = metadataOf(input, trial);
        const decides = metadata?.aggregation.deciding_rules.includes(label) ?? true;
        return !decides && metadata?.matched_rules.includes(label) === true;
      });
    }
  });
}

/** Whether a rule never decides where the other one matches, whatever else matches there. */
export function alwaysOutranks(rule: GateRule, lower: GateRule, rules: readonly GateRule[]): boolean {
  if (rule.id === lower.id || !(ranksAbove(rule, lower) || suppresses(rule, lower))) return false;
  const suppressors = rules.filter((each) => each.id !== rule.id && suppresses(each, rule));
  // Suppression has no cycles, so this ends.
  return suppressors.every((each) => alwaysOutranks(each, lower, rules));
}

const suppresses = (rule: GateRule, other: GateRule): boolean =>
  other.tier !== "T1" && rule.suppresses?.includes(other.id) === true;

/** As rules are aggregated: T1 before the others, where the strictest status decides, else the highest severity. */
export function ranksAbove(rule: GateRule, lower: GateRule): boolean {
  if ((rule.tier === "T1") !== (lower.tier === "T1")) return rule.tier === "T1";
  const bySeverity = rule.severity - lower.severity;
  const byStatus = statusRank[rule.status] - statusRank[lower.status];
  const [first, second] = rule.tier === "T1" ? [byStatus, bySeverity] : [bySeverity, byStatus];
  return first > 0 || (first === 0 && second > 0);
}
