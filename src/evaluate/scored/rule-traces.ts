import type { EvaluatorDetail, RuleTrace } from "../../model/result.js";

/** What came of every rule that was asked, one evaluator after the other. */
export function ruleTracesOf(details: Readonly<Record<string, EvaluatorDetail>>): readonly RuleTrace[] {
  return Object.entries(details).flatMap(([evaluator, { rules }]) =>
    rules.map((rule) => ({ evaluator, ...rule })),
  );
}

/** The rules whose expression has no answer. */
export function erroredIn({
  rules,
}: EvaluatorDetail): readonly { readonly rule_id: string; readonly error: string }[] {
  return rules.flatMap(({ rule_id, conditions }) =>
    conditions.flatMap((trace) => ("error" in trace ? [{ rule_id, error: trace.error }] : [])),
  );
}
