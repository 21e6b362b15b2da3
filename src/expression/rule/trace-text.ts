import type { Json } from "../../model/json.js";
import type { ConditionTrace, FieldTrace } from "../../model/result.js";
import type { RuleOperator } from "./operator-entry.js";
import { ruleOperators } from "./rule-operators.js";

const longestValue = 120;

/** A condition as people read it: `credit.score >= 700`. */
export function traceText(trace: ConditionTrace): string {
  if ("expression" in trace) return trace.expression;
  const { field, operator, expected, negated } = trace;
  const entry = ruleOperators.get(operator);
  const text = entry?.inWords?.(field, expected) ?? partsOf(trace, entry);
  return negated ? `not (${text})` : text;
}

function partsOf({ field, operator, expected }: FieldTrace, entry: RuleOperator | undefined): string {
  const words = [field, entry?.symbol ?? operator.replaceAll("_", " ")];
  if (!entry?.valueless) words.push(shown(expected));
  return words.join(" ");
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  if (text.length <= longestValue) return text;
  // Half a character that takes two units would be none.
  return `${text.slice(0, longestValue - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
