import { DecisionError } from "../../errors.js";
import { deepFreeze } from "../../digest/freeze.js";
import type { RuleCondition } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { ConditionTrace, ExpressionTrace } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";
import { Failure, typeName } from "../failure.js";
import { compileCondition } from "../template.js";
import type { Judge } from "./compile-field.js";
import { compileField } from "./compile-field.js";
import { ruleFaults } from "./rule-faults.js";
import { traceText } from "./trace-text.js";

/** A condition of a rule, ready to be judged. */
export interface CompiledRule {
  /** The paths it refers to, in the order of their first mention. */
  readonly reads: readonly string[];
  /** Each of its conditions as people read it, in the order of the traces. */
  texts(): readonly string[];
  /** Never throws. */
  judge(scope: Scope): Judgement;
}

export interface Judgement {
  readonly result: boolean;
  /** One of every condition it is made of, whether it mattered in the end or not. */
  readonly traces: readonly ConditionTrace[];
}

/** Throws `definition_invalid` with the first of the faults that `ruleFaults` finds. */
export function compileRule(condition: RuleCondition): CompiledRule {
  const [fault] = ruleFaults(condition);
  if (fault !== undefined) throw new DecisionError("definition_invalid", fault.message, { hint: fault.hint });
  const reads = new Set<string>();
  const judge = compileNode(condition, false, reads);
  let texts: readonly string[] | undefined;
  return {
    reads: [...reads],
    texts: () => (texts ??= textsOf(judge)),
    judge(scope) {
      const traces: ConditionTrace[] = [];
      return { result: judge(scope, traces), traces };
    },
  };
}

const nowhere: Scope = { context: {}, input: undefined, facts: {}, system: {} };

/** Every condition leaves its trace, whatever it is asked about. */
function textsOf(judge: Judge): readonly string[] {
  const traces: ConditionTrace[] = [];
  judge(nowhere, traces);
  return traces.map(traceText);
}

/** The same of a rule's `when`. Throws `expression_invalid` where it is none. */
export function compileWhen(text: string): CompiledRule {
  const condition = compileCondition(text);
  const matched = judgement({ expression: text, result: true });
  const notMatched = judgement({ expression: text, result: false });
  return {
    reads: condition.reads,
    texts: () => [text],
    judge(scope) {
      const value = condition.evaluate(scope);
      if (typeof value === "boolean") return value ? matched : notMatched;
      return judgement({ expression: text, result: false, error: whyErrored(value) });
    },
  };
}

function judgement(trace: ExpressionTrace): Judgement {
  return deepFreeze({ result: trace.result, traces: [trace] });
}

function whyErrored(value: Json | Failure): string {
  if (value instanceof Failure) return value.message;
  return `a condition must be true or false, this one is ${typeName(value)}`;
}

function compileNode(condition: RuleCondition, negated: boolean, reads: Set<string>): Judge {
  const compileEach = (conditions: readonly RuleCondition[], within: boolean): readonly Judge[] =>
    conditions.map((each) => compileNode(each, within, reads));
  if ("all" in condition) return every(compileEach(condition.all, negated));
  if ("any" in condition) return some(compileEach(condition.any, negated));
  if ("none" in condition) return not(some(compileEach(condition.none, !negated)));
  return compileField(condition, negated, reads);
}

/** Like `some`, it stops nowhere, so that the traces tell of all. */
function every(judges: readonly Judge[]): Judge {
  return (scope, traces) => {
    let result = true;
    for (const judge of judges) if (!judge(scope, traces)) result = false;
    return result;
  };
}

function some(judges: readonly Judge[]): Judge {
  return (scope, traces) => {
    let result = false;
    for (const judge of judges) if (judge(scope, traces)) result = true;
    return result;
  };
}

const not =
  (judge: Judge): Judge =>
  (scope, traces) =>
    !judge(scope, traces);
