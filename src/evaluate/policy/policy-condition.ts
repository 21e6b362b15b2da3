import { deepFreeze } from "../../digest/freeze.js";
import { Failure, typeName } from "../../expression/failure.js";
import type { Template } from "../../expression/template.js";
import { compileCondition } from "../../expression/template.js";
import type { PolicyCondition } from "../../model/definition.js";
import type { LineageCondition } from "../../model/lineage.js";
import type { NamedCondition } from "../../model/result.js";
import type { Scope } from "../../model/scope.js";

/** What came of a condition, as the details and as the lineage tell it. */
export interface AskedCondition {
  readonly told: NamedCondition;
  readonly lineage: LineageCondition;
  /** What is said where nobody has written what to say; undefined: it holds. */
  readonly denial: string | undefined;
}

/** It answers with one of two, time and again. */
export interface PreparedCondition {
  readonly condition: Template;
  readonly holds: AskedCondition;
  readonly fails: AskedCondition;
}

export function prepareCondition({ name, expression }: PolicyCondition): PreparedCondition {
  const condition = compileCondition(expression);
  const outcome = (result: boolean): AskedCondition =>
    deepFreeze({
      told: { name, expression, result },
      lineage: { name, expression, result, inputs_used: condition.reads },
      denial: result ? undefined : `\`${name}\` does not hold: ${expression}`,
    });
  return { condition, holds: outcome(true), fails: outcome(false) };
}

/** Only `true` holds. */
export function askCondition({ condition, holds, fails }: PreparedCondition, scope: Scope): AskedCondition {
  const value = condition.evaluate(scope);
  if (value === true) return holds;
  if (value === false) return fails;
  const error =
    value instanceof Failure
      ? value.message
      : `a condition must be true or false, this one is ${typeName(value)}`;
  const denial = `\`${fails.told.name}\` could not be evaluated: ${error}`;
  return { told: { ...fails.told, error }, lineage: fails.lineage, denial };
}
