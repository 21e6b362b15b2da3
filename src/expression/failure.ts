import { DecisionError } from "../errors.js";
import type { Json } from "../model/json.js";

/**
 * Why an expression has no answer. It is thrown inside a running expression but is no `Error`:
 * taking a stack trace for each missing path would cost more than the evaluation.
 */
export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function fail(message: string): never {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- see Failure
  throw new Failure(message);
}

/** What a value is called in messages and in the documentation of the language. */
export function typeName(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    default:
      return "an object";
  }
}

/** Where in an expression it is wrong; `details` of an `expression_invalid` error. */
export interface ExpressionLocation {
  readonly expression: string;
  readonly at: number;
}

export function expressionError(
  expression: string,
  at: number,
  message: string,
  hint?: string,
): DecisionError {
  const details: ExpressionLocation = { expression, at };
  return new DecisionError("expression_invalid", message, { hint, details });
}

/** The line of an expression with a caret under the faulty place. */
export function renderCaret({ expression, at }: ExpressionLocation): string {
  const start = at === 0 ? 0 : expression.lastIndexOf("\n", at - 1) + 1;
  const end = expression.indexOf("\n", at);
  const line = expression.slice(start, end === -1 ? undefined : end);
  const from = Math.max(0, at - start - 60);
  const shown = line.slice(from, from + 100).replace(/[\t\p{C}]/gu, " ");
  return `${from > 0 ? "…" : ""}${shown}\n${" ".repeat(at - start - from + (from > 0 ? 1 : 0))}^`;
}

export function expressionLocation(error: DecisionError): ExpressionLocation | undefined {
  return error.code === "expression_invalid" ? (error.details as ExpressionLocation | undefined) : undefined;
}
