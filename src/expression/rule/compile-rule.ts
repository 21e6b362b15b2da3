import { ruleDiagnostics } from "./rule-diagnostics.js";
import type { RuleOperator } from "./rule-operator.js";
import { ruleOperators, describeConditionTrace } from "./rule-operators.js";
import { deepFreeze } from "../../digest/freeze-json.js";
import { DecisionError } from "../../errors.js";
import type { RuleCondition, FieldCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { ConditionTrace, ExpressionTrace, FieldTrace } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { Failure, typeName } from "../failure.js";
import { pathGetter } from "../path.js";
import { compileCondition } from "../template.js";
import { missingMessage } from "../walk.js";

/** A condition of a rule, ready to be judged. */
export interface CompiledRule {
  /** The paths it refers to, in the order of their first mention. */
  readonly reads: readonly string[];
  /** Each of its conditions as people read it, in the order of the traces. */
  texts(): readonly string[];
  /** Never throws. */
  evaluate(scope: Scope): RuleEvaluation;
}

interface RuleEvaluation {
  readonly result: boolean;
  /** One of every condition it is made of, whether it mattered in the end or not. */
  readonly traces: readonly ConditionTrace[];
}

/** Throws `definition_invalid` with the first of the faults that `ruleFaults` finds. */
export function compileRule(condition: RuleCondition): CompiledRule {
  const [fault] = ruleDiagnostics(condition);
  if (fault !== undefined) throw new DecisionError("definition_invalid", fault.message, { hint: fault.hint });
  const reads = new Set<string>();
  const judge = compileNode(condition, false, reads);
  let texts: readonly string[] | undefined;
  return {
    reads: [...reads],
    texts: () => (texts ??= textsOf(judge)),
    evaluate(scope) {
      const traces: ConditionTrace[] = [];
      return { result: judge(scope, traces), traces };
    },
  };
}

const emptyScope: Scope = { context: {}, input: undefined, facts: {}, system: {} };

/** Every condition leaves its trace, whatever it is asked about. */
function textsOf(judge: ConditionEvaluator): readonly string[] {
  const traces: ConditionTrace[] = [];
  judge(emptyScope, traces);
  return traces.map(describeConditionTrace);
}

/** The same of a rule's `when`. Throws `expression_invalid` where it is none. */
export function compileWhen(text: string): CompiledRule {
  const condition = compileCondition(text);
  const matched = toRuleEvaluation({ expression: text, result: true });
  const notMatched = toRuleEvaluation({ expression: text, result: false });
  return {
    reads: condition.reads,
    texts: () => [text],
    evaluate(scope) {
      const value = condition.evaluate(scope);
      if (typeof value === "boolean") return value ? matched : notMatched;
      return toRuleEvaluation({ expression: text, result: false, error: errorMessage(value) });
    },
  };
}

function toRuleEvaluation(trace: ExpressionTrace): RuleEvaluation {
  return deepFreeze({ result: trace.result, traces: [trace] });
}

function errorMessage(value: Json | Failure): string {
  if (value instanceof Failure) return value.message;
  return `a condition must be true or false, this one is ${typeName(value)}`;
}

function compileNode(condition: RuleCondition, negated: boolean, reads: Set<string>): ConditionEvaluator {
  const compileEach = (
    conditions: readonly RuleCondition[],
    within: boolean,
  ): readonly ConditionEvaluator[] => conditions.map((each) => compileNode(each, within, reads));
  if ("all" in condition) return every(compileEach(condition.all, negated));
  if ("any" in condition) return some(compileEach(condition.any, negated));
  if ("none" in condition) return not(some(compileEach(condition.none, !negated)));
  return compileField(condition, negated, reads);
}

/** Like `some`, it stops nowhere, so that the traces tell of all. */
function every(judges: readonly ConditionEvaluator[]): ConditionEvaluator {
  return (scope, traces) => {
    let result = true;
    for (const judge of judges) if (!judge(scope, traces)) result = false;
    return result;
  };
}

function some(judges: readonly ConditionEvaluator[]): ConditionEvaluator {
  return (scope, traces) => {
    let result = false;
    for (const judge of judges) if (judge(scope, traces)) result = true;
    return result;
  };
}

const not =
  (judge: ConditionEvaluator): ConditionEvaluator =>
  (scope, traces) =>
    !judge(scope, traces);

/** Answers, and adds a trace of each condition that it asked. */
type ConditionEvaluator = (scope: Scope, traces: ConditionTrace[]) => boolean;

/** One condition on a field, which was found to be without fault; adds what it reads. */
export function compileField(
  condition: FieldCondition,
  negated: boolean,
  reads: Set<string>,
): ConditionEvaluator {
  const { field, op, value = null } = condition;
  const operator = findOperator(op);
  const written = condition.value ?? (operator.valueless ? true : null);
  const get = pathGetter(field.split("."));
  const test = operator.prepare(written);
  const answerWhenMissing = operator.holdsWhenMissing ?? missingMessage(field);
  const trace = createTracer({ field, operator: op, expected: value }, negated);
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

function findOperator(op: string): RuleOperator {
  const operator = ruleOperators.get(op);
  if (operator === undefined) throw new Error(`the check let the operator \`${op}\` through`);
  return operator;
}

type TracedCondition = Pick<FieldTrace, "field" | "operator" | "expected">;

function createTracer(
  { field, operator, expected }: TracedCondition,
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
