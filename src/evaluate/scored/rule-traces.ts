import { missingMessage } from "../../expression/failure.js";
import type { EvaluatorDetail, RuleTrace } from "../../model/result.js";

/** Returns the traces of all evaluated rules, one evaluator after the other. */
export function ruleTracesOf(details: Readonly<Record<string, EvaluatorDetail>>): readonly RuleTrace[] {
  return Object.entries(details).flatMap(([evaluator, { rules }]) =>
    rules.map((rule) => ({ evaluator, ...rule })),
  );
}

/** Returns the conditions that could not be tested: a value of the wrong type, or a missing one under `none`. */
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

/** Returns the rules whose expression could not be evaluated. */
export function erroredConditions({
  rules,
}: EvaluatorDetail): readonly { readonly rule_id: string; readonly error: string }[] {
  return rules.flatMap(({ rule_id, conditions }) =>
    conditions.flatMap((trace) => ("error" in trace ? [{ rule_id, error: trace.error }] : [])),
  );
}
