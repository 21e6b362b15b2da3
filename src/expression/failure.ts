import { DecisionError } from "../errors.js";
import type { Json } from "../model/json.js";

/**
 * The reason why an expression has no value. It is thrown while an expression is evaluated, but is not an
 * `Error`: capturing a stack trace for every missing path would cost more than the evaluation.
 */
export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Ends the evaluation of the expression. */
export function fail(message: string): never {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- see Failure
  throw new Failure(message);
}

/** Runs a part of an evaluation; returns the failure if there is one. */
export function catchFailure<T>(run: () => T): T | Failure {
  try {
    return run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

export const missingMessage = (path: string): string => `\`${path}\` is missing`;

/** Returns the path of a `missingMessage`; undefined for other messages. */
export const missingPath = (message: string): string | undefined =>
  /^`([^`]+)` is missing$/.exec(message)?.[1];

/** Returns the name of a value's type in messages and in the documentation of the language. */
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

/** The position of a syntax error; the `details` of an `expression_invalid` error. */
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

/** Returns the line with the error, and a caret under its position. */
export function renderCaret({ expression, at }: ExpressionLocation): string {
  const start = at === 0 ? 0 : expression.lastIndexOf("\n", at - 1) + 1;
  const [line = ""] = expression.slice(start).split("\n", 1);
  const from = Math.max(0, at - start - 60);
  const shown = line.slice(from, from + 100).replace(/[\t\p{C}]/gu, " ");
  const end = from + shown.length < line.length ? "…" : "";
  return `${from > 0 ? "…" : ""}${shown}${end}\n${" ".repeat(at - start - from + (from > 0 ? 1 : 0))}^`;
}

/** Returns the position of the error in the expression, if it is an `expression_invalid` error. */
export function expressionLocation(error: DecisionError): ExpressionLocation | undefined {
  return error.code === "expression_invalid" ? (error.details as ExpressionLocation | undefined) : undefined;
}
