import type {
  ConditionDetail,
  ConditionTrace,
  EvaluationDetails,
  EvaluatorDetail,
  ExpressionTrace,
  FieldTrace,
  NamedCondition,
  PolicyDetail,
  Result,
  RollDetails,
} from "../model/result.js";
import {
  isListOfTexts,
  isMapping,
  isNumber,
  isText,
  isTruth,
  fieldsOf,
  itemsOf,
  maybe,
  shaped,
} from "./shape.js";

/** As much of the details as the type of decision has. */
export function soundDetails(type: Result["type"], details: unknown): EvaluationDetails {
  switch (type) {
    case "scored":
      return mapped(fieldsOf(details, isEvaluator), ({ rules, ...detail }) => ({
        ...detail,
        rules: itemsOf(rules, isRule).map((rule) => ({ ...rule, conditions: tracesOf(rule.conditions) })),
      }));
    case "policy":
      return mapped(fieldsOf(details, isPolicy), (detail) => ({
        ...detail,
        conditions: itemsOf(detail.conditions, isNamed),
      }));
    default:
      return isMapping(details) && isNumber(details["total_weight"])
        ? soundRoll(details)
        : fieldsOf(details, isCondition);
  }
}

function mapped<Detail>(
  details: Readonly<Record<string, Detail>>,
  change: (detail: Detail) => Detail,
): Readonly<Record<string, Detail>> {
  return Object.fromEntries(Object.entries(details).map(([name, detail]) => [name, change(detail)]));
}

function soundRoll({
  roll,
  total_weight,
  weights,
  conditions,
}: Readonly<Record<string, unknown>>): RollDetails {
  return {
    ...(isNumber(roll) && { roll }),
    total_weight: total_weight as number,
    weights: fieldsOf(weights, isNumber),
    ...(isMapping(conditions) && { conditions: fieldsOf(conditions, isCondition) }),
  };
}

const isCondition = shaped<ConditionDetail>({ condition: isText, result: isTruth, error: maybe(isText) });

const isPolicy = shaped<PolicyDetail>({
  version: isText,
  result: isTruth,
  left_out: maybe(isText),
  reason: maybe(isText),
  overridden_by: maybe(isText),
  overrides: maybe(isListOfTexts),
});

const isNamed = shaped<NamedCondition>({
  name: isText,
  expression: isText,
  result: isTruth,
  error: maybe(isText),
});

const isEvaluator = shaped<EvaluatorDetail>({ result: isTruth, error: maybe(isText) });

const isRule = shaped<EvaluatorDetail["rules"][number]>({ rule_id: isText });

const tracesOf = (value: unknown): readonly ConditionTrace[] =>
  itemsOf(value, (item): item is ConditionTrace => isExpression(item) || isField(item));

const isExpression = shaped<ExpressionTrace>({ expression: isText, result: isTruth, error: maybe(isText) });

const isField = shaped<FieldTrace>({
  field: isText,
  operator: isText,
  expected: (value) => value !== undefined,
  result: isTruth,
  note: maybe(isText),
});
