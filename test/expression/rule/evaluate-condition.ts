import { compileRule } from "../../../src/expression/rule/compile-rule.js";
import type { RuleOperator } from "../../../src/expression/rule/rule-operator.js";
import { ruleOperators } from "../../../src/expression/rule/rule-operators.js";
import type { FieldCondition } from "../../../src/model/definition.js";
import type { Json, JsonObject } from "../../../src/model/json.js";
import type { FieldTrace } from "../../../src/model/result.js";
import { scopeOf } from "../answers.js";

export const requestTime = "2026-06-15T12:00:00.000000Z";

/** Evaluates a condition on a field; fails the test unless there is exactly one trace. */
export function traceOf(condition: FieldCondition, context: JsonObject): FieldTrace {
  const scope = scopeOf(context, { system: { request_time: requestTime } });
  const { result, traces } = compileRule(condition).evaluate(scope);
  const [trace] = traces;
  if (traces.length !== 1 || trace === undefined || "expression" in trace || trace.result !== result) {
    throw new Error(`one trace was expected of ${JSON.stringify(condition)}, got ${JSON.stringify(traces)}`);
  }
  return trace;
}

/** Returns the result of an operator: true, false, or the note of a false one. */
export function ask(op: string, actual: Json, value?: Json): boolean | string {
  const { result, note } = traceOf(withValue(op, value), { x: actual });
  if (result && note !== undefined) throw new Error(`\`${op}\` is true and has the note "${note}"`);
  return note ?? result;
}

/** Returns the result of an operator for a missing field. */
export function askMissing(op: string, value?: Json): boolean | string {
  const { result, note } = traceOf(withValue(op, value), {});
  return note ?? result;
}

export function checkValue(op: string, value: Json): string | undefined {
  return operatorNamed(op).checkValue(value);
}

export function operatorNamed(op: string): RuleOperator {
  const operator = ruleOperators().get(op);
  if (operator === undefined) throw new Error(`unknown operator ${op}`);
  return operator;
}

function withValue(op: string, value: Json | undefined): FieldCondition {
  return value === undefined ? { field: "x", op } : { field: "x", op, value };
}
