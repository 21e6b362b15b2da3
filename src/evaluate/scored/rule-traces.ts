import type { EvaluatorDetail, RuleTrace } from "../../model/result.js";

/** What came of every rule that was asked, one evaluator after the other. */
export function ruleTracesOf(details: Readonly<Record<string, EvaluatorDetail>>): readonly RuleTrace[] {
  return Object.entries(details).flatMap(([evaluator, { rules }]) =>
    rules.map((rule) => ({ evaluator, ...rule })),
  );
}
