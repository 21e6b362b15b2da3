import { missingMessage } from "../../expression/failure.js";
import type { EvaluatorDetail, RuleTrace } from "../../model/result.js";

/** What came of every rule that was asked, one evaluator after the other. */
export function ruleTracesOf(details: Readonly<Record<string, EvaluatorDetail>>): readonly RuleTrace[] {
  return Object.entries(details).flatMap(([evaluator, { rules }]) =>
    rules.map((rule) => ({ evaluator, ...rule })),
  );
}

/** Conditions whose answer is an accident: a value of the wrong type, or a missing one where it must not hold. */
export function suspectConditions({
  rules,
}: EvaluatorDetail): readonly { readonly rule_id: string; readonly error: string }[] {
  return rules.flatMap(({ rule_id, conditions }) =>
    conditions.flatMap((trace) => {
      if (!("note" in trace)) return [];
      const isMissing = trace.note === missingMessage(trace.field);
      return isMissing && !("negated" in trace) ? [] : [{ rule_id, error: trace.note }];
    }),
  );
}

/** The rules whose expression has no answer. */
export function erroredConditions({
  rules,
}: EvaluatorDetail): readonly { readonly rule_id: string; readonly error: string }[] {
  return rules.flatMap(({ rule_id, conditions }) =>
    conditions.flatMap((trace) => ("error" in trace ? [{ rule_id, error: trace.error }] : [])),
  );
}
