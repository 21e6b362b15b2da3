import { ruleDiagnostics } from "./rule-diagnostics.js";
import type { RuleOperator } from "./rule-operator.js";
import { ruleOperators, describeConditionTrace } from "./rule-operators.js";
import { deepFreeze } from "../../digest/freeze-json.js";
import { DecisionError } from "../../errors.js";
import type { RuleCondition, FieldCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { ConditionTrace, ExpressionTrace, FieldTrace } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { missingMessage } from "../failure.js";
import { pathGetter } from "../path.js";
import { compileCondition, evaluateCondition } from "../template.js";

/** A compiled condition of a rule. */
export interface CompiledRule {
  /** The paths it reads, in the order of their first mention. */
  readonly reads: readonly string[];
  /** The same for the lineage: with the keys of `get(a, 'key')`. */
  readonly inputs: readonly string[];
  /** Returns its conditions as readable text, in the order of the traces. */
  texts(): readonly string[];
  /** Never throws. */
  evaluate(scope: Scope): RuleEvaluation;
}

interface RuleEvaluation {
  readonly result: boolean;
  /** One for each of its conditions, including those that did not affect the result. */
  readonly traces: readonly ConditionTrace[];
}

/** Compiles the `if` of a rule. Throws `definition_invalid` with the first of its `ruleDiagnostics`. */
export function compileRule(condition: RuleCondition): CompiledRule {
  const [first] = ruleDiagnostics(condition);
  if (first !== undefined) throw new DecisionError("definition_invalid", first.message, { hint: first.hint });
  const paths = new Set<string>();
  const run = compileNode(condition, false, paths);
  const reads = [...paths];
  let texts: readonly string[] | undefined;
  return {
    reads,
    inputs: reads,
    texts: () => (texts ??= textsOf(run)),
    evaluate(scope) {
      const traces: ConditionTrace[] = [];
      return { result: run(scope, traces), traces };
    },
  };
}

const emptyScope: Scope = { context: {}, input: undefined, facts: {}, system: {} };

/** Every evaluation leaves a trace of every condition, so any scope will do. */
function textsOf(run: ConditionEvaluator): readonly string[] {
  const traces: ConditionTrace[] = [];
  run(emptyScope, traces);
  return traces.map(describeConditionTrace);
}

/** Compiles the `when` of a rule. Throws `expression_invalid` if it is malformed. */
export function compileWhen(text: string): CompiledRule {
  const condition = compileCondition(text);
  const matched = toRuleEvaluation({ expression: text, result: true });
  const notMatched = toRuleEvaluation({ expression: text, result: false });
  return {
    reads: condition.reads,
    inputs: condition.inputs,
    texts: () => [text],
    evaluate(scope) {
      const result = evaluateCondition(condition, scope);
      if (typeof result === "boolean") return result ? matched : notMatched;
      return toRuleEvaluation({ expression: text, result: false, error: result.message });
    },
  };
}

function toRuleEvaluation(trace: ExpressionTrace): RuleEvaluation {
  return deepFreeze({ result: trace.result, traces: [trace] });
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

/** Like `some`, it evaluates all conditions, so the traces are complete. */
function every(conditions: readonly ConditionEvaluator[]): ConditionEvaluator {
  return (scope, traces) => {
    let result = true;
    for (const condition of conditions) if (!condition(scope, traces)) result = false;
    return result;
  };
}

function some(conditions: readonly ConditionEvaluator[]): ConditionEvaluator {
  return (scope, traces) => {
    let result = false;
    for (const condition of conditions) if (condition(scope, traces)) result = true;
    return result;
  };
}

const not =
  (condition: ConditionEvaluator): ConditionEvaluator =>
  (scope, traces) =>
    !condition(scope, traces);

/** Returns the result, and adds a trace for each condition. */
type ConditionEvaluator = (scope: Scope, traces: ConditionTrace[]) => boolean;

/** Compiles a valid condition on a field; adds the paths that it reads to `reads`. */
export function compileField(
  condition: FieldCondition,
  negated: boolean,
  reads: Set<string>,
): ConditionEvaluator {
  const { field, op, value = null } = condition;
  const operator = findOperator(op);
  const expected = condition.value ?? (operator.takesNoValue ? true : null);
  const get = pathGetter(field.split("."));
  const test = operator.prepare(expected);
  const resultWhenMissing = operator.trueWhenMissing ?? missingMessage(field);
  const trace = createTracer({ field, operator: op, expected: value }, negated);
  reads.add(field);
  for (const path of operator.extraReads(expected)) reads.add(path);
  return (scope, traces) => {
    const actual = get(scope);
    const isTested = actual !== undefined || operator.testsMissing === true;
    const result = isTested ? test(actual ?? null, scope) : resultWhenMissing;
    traces.push(trace(actual ?? null, result));
    return result === true;
  };
}

function findOperator(op: string): RuleOperator {
  const operator = ruleOperators().get(op);
  if (operator === undefined) throw new Error(`the check accepted the unknown operator \`${op}\``);
  return operator;
}

type TracedCondition = Pick<FieldTrace, "field" | "operator" | "expected">;

function createTracer(
  { field, operator, expected }: TracedCondition,
  negated: boolean,
): (actual: Json, result: boolean | string) => FieldTrace {
  return (actual, result) => {
    const trace: { -readonly [Key in keyof FieldTrace]: FieldTrace[Key] } = {
      field,
      operator,
      expected,
      actual,
      result: result === true,
    };
    if (typeof result === "string") trace.note = result;
    if (negated) trace.negated = true;
    return trace;
  };
}
