import { expect } from "vitest";
import { DecisionError } from "../../src/errors.js";
import type { Expression } from "../../src/expression/compile.js";
import { compile, interpretedEvaluations } from "../../src/expression/compile.js";
import { expressionLocation, Failure } from "../../src/expression/failure.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Scope } from "../../src/model/scope.js";

/** Creates a scope with this context; everything else is empty by default. */
export function scopeOf(context: JsonObject, beside: Partial<Scope> = {}): Scope {
  return { context, input: undefined, facts: {}, system: {}, ...beside };
}

/** Returns the value of an expression: interpreted first, then compiled by filtrex; both must be equal. */
export function answer(expression: string, context: JsonObject = {}): Json | Failure {
  const [interpreted, compiled] = bothAnswers(compile(expression), scopeOf(context));
  expect(compiled).toEqual(interpreted);
  return interpreted;
}

/** Returns the first value of an expression, which is interpreted, and the first that filtrex computes. */
export function bothAnswers(
  expression: Pick<Expression, "evaluate">,
  scope: Scope,
): readonly [interpreted: Json | Failure, compiled: Json | Failure] {
  const interpreted = expression.evaluate(scope);
  for (let count = 1; count < interpretedEvaluations; count++) expression.evaluate(scope);
  return [interpreted, expression.evaluate(scope)];
}

/** Returns the reason why an expression is errored; fails the test if it has a value. */
export function whyErrored(expression: string, context: JsonObject = {}): string {
  const value = answer(expression, context);
  if (value instanceof Failure) return value.message;
  throw new Error(`\`${expression}\` is not errored, it answers ${JSON.stringify(value)}`);
}

export interface Refusal {
  readonly message: string;
  readonly hint: string | undefined;
  readonly expression: string;
  readonly at: number;
}

/** Returns the compile error; fails the test if it is not `expression_invalid`. */
export function refusalOf(text: string, compileText: (text: string) => unknown = compile): Refusal {
  try {
    compileText(text);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const place = expressionLocation(error);
    if (place === undefined) throw error;
    return { message: error.message, hint: error.hint, ...place };
  }
  throw new Error(`\`${text}\` compiles`);
}
