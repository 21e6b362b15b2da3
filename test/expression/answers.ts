import { expect } from "vitest";
import { DecisionError } from "../../src/errors.js";
import { compile } from "../../src/expression/compile.js";
import { expressionLocation, Failure } from "../../src/expression/failure.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Scope } from "../../src/model/scope.js";

/** A scope with this context and, unless given, nothing beside it. */
export function scopeOf(context: JsonObject, beside: Partial<Scope> = {}): Scope {
  return { context, input: undefined, facts: {}, system: {}, ...beside };
}

/** What an expression answers in a context: walked at first, then run by filtrex, and the same both times. */
export function answer(expression: string, context: JsonObject = {}): Json | Failure {
  const compiled = compile(expression);
  const walked = compiled.evaluate(scopeOf(context));
  expect(compiled.evaluate(scopeOf(context))).toEqual(walked);
  return walked;
}

/** Why an expression is errored in a context; an expression that has an answer fails the test. */
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

/** How something is refused when it is compiled; anything but `expression_invalid` fails the test. */
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
