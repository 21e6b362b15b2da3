import type { FieldCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { ConditionTrace, FieldTrace } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { pathGetter } from "../path.js";
import { missing } from "../walk.js";
import type { RuleOperator } from "./operator-entry.js";
import { ruleOperators } from "./rule-operators.js";

/** Answers, and adds a trace of each condition that it asked. */
export type Judge = (scope: Scope, traces: ConditionTrace[]) => boolean;

/** One condition on a field, which was found to be without fault; adds what it reads. */
export function compileField(condition: FieldCondition, negated: boolean, reads: Set<string>): Judge {
  const { field, op, value = null } = condition;
  const operator = operatorOf(op);
  const written = condition.value ?? (operator.valueless ? true : null);
  const get = pathGetter(field.split("."));
  const test = operator.prepare(written);
  const answerWhenMissing = operator.holdsWhenMissing ?? missing(field);
  const trace = tracer({ field, operator: op, expected: value }, negated);
  reads.add(field);
  for (const path of operator.readsBeside(written)) reads.add(path);
  return (scope, traces) => {
    const actual = get(scope);
    const isAsked = actual !== undefined || operator.asksAnyway === true;
    const answer = isAsked ? test(actual ?? null, scope) : answerWhenMissing;
    traces.push(trace(actual ?? null, answer));
    return answer === true;
  };
}

function operatorOf(op: string): RuleOperator {
  const operator = ruleOperators.get(op);
  if (operator === undefined) throw new Error(`the check let the operator \`${op}\` through`);
  return operator;
}

type Traced = Pick<FieldTrace, "field" | "operator" | "expected">;

function tracer(
  { field, operator, expected }: Traced,
  negated: boolean,
): (actual: Json, answer: boolean | string) => FieldTrace {
  return (actual, answer) => {
    const trace: { -readonly [Key in keyof FieldTrace]: FieldTrace[Key] } = {
      field,
      operator,
      expected,
      actual,
      result: answer === true,
    };
    if (typeof answer === "string") trace.note = answer;
    if (negated) trace.negated = true;
    return trace;
  };
}
