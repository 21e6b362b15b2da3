import { findMasked } from "./masked.js";
import type { ScoredModel, ScoredModelRule } from "./model-decision.js";
import type { Analysing, RuleRegion } from "./rule-regions.js";
import {
  areAlike,
  limited,
  possibleBoxes,
  regionsOfRules,
  reportGaps,
  reportUnreachable,
} from "./rule-regions.js";
import type { Trial } from "./trial.js";
import { inputOf } from "../evaluate/evaluate.js";
import { compileRuleCondition } from "../evaluate/scored/evaluator.js";
import type { JsonObject } from "../model/json.js";
import type { EvaluatorDetail } from "../model/result.js";

/** Analyses a `scored` decision: the first matching rule of each evaluator votes. A gap is an input without any vote. */
export function analyzeScored(model: ScoredModel, analysing: Analysing): void {
  const { definition, evaluators } = model;
  const { found } = analysing;
  const all = evaluators.map((rules) => {
    const regions = regionsOfRules(rules, analysing);
    const unreachable = reportUnreachable(regions, analysing);
    reportMasked(regions, unreachable, analysing);
    return regions;
  });
  const mayVote = definition.evaluators.some((evaluator) => !("rules" in evaluator));
  const rules = evaluators.flat();
  if (mayVote || rules.length === 0) return;
  const regions = all.flat();
  if (regions.length < rules.length || rules.some(({ reasons }) => reasons.length > 0)) {
    found.skip(
      "evaluators",
      "inputs without a vote are not claimed, because not all conditions are analysed",
    );
    return;
  }
  reportGaps(
    {
      matched: regions.flatMap(({ matched }) => matched),
      errored: regions.flatMap(({ errored }) => errored),
      isSilentUnexpected: false,
      isErroredUnexpected: false,
      confirm: (input, trial) => trial.run(input).error?.code === "no_evaluations",
    },
    analysing,
  );
}

function reportMasked(
  regions: readonly RuleRegion<ScoredModelRule>[],
  unreachable: ReadonlySet<string>,
  analysing: Analysing,
): void {
  const { found } = analysing;
  const { space } = found;
  limited(analysing, "masked rules", (limit) => {
    const possible = regions.map(({ rule, matched }) =>
      unreachable.has(rule.label) ? [] : possibleBoxes(matched, [], { space, limit }),
    );
    for (const { rule: position, by, part } of findMasked(possible, { space, limit, without: () => [] })) {
      const region = regions[position];
      if (region === undefined) continue;
      const { rule: masked } = region;
      const { label, path } = masked;
      const masking = by.flatMap((each) => regions[each] ?? []);
      const names = masking.map(({ rule }) => rule.label);
      const isSame = areAlike([...masking, region]);
      found.addMasked({ rule: label, by: names, path, isSame }, part, (input, trial) => {
        const details = trial.run(input).evaluated?.evaluation_details as
          Readonly<Record<string, EvaluatorDetail>> | undefined;
        const voted = details?.[masked.evaluator]?.rule_id;
        return voted !== undefined && voted !== masked.rule.id && holds(masked, input, trial);
      });
    }
  });
}

function holds({ rule }: ScoredModelRule, context: JsonObject, trial: Trial): boolean {
  const scope = trial.scopeOf(context);
  return compileRuleCondition(rule).evaluate({ ...scope, input: inputOf(trial.prepared, scope) }).result;
}
