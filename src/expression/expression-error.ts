import { DecisionError } from "../errors.js";

/** Where in an expression it is wrong; `details` of an `expression_invalid` error. */
export interface ExpressionPlace {
  readonly expression: string;
  readonly at: number;
}

export function expressionError(
  expression: string,
  at: number,
  message: string,
  hint?: string,
): DecisionError {
  const details: ExpressionPlace = { expression, at };
  return new DecisionError("expression_invalid", message, { hint, details });
}

/** The line of an expression with a caret under the faulty place. */
export function caret({ expression, at }: ExpressionPlace): string {
  const start = at === 0 ? 0 : expression.lastIndexOf("\n", at - 1) + 1;
  const end = expression.indexOf("\n", at);
  const line = expression.slice(start, end === -1 ? undefined : end);
  const from = Math.max(0, at - start - 60);
  const shown = line.slice(from, from + 100).replace(/[\t\p{C}]/gu, " ");
  return `${from > 0 ? "…" : ""}${shown}\n${" ".repeat(at - start - from + (from > 0 ? 1 : 0))}^`;
}

export function expressionPlace(error: DecisionError): ExpressionPlace | undefined {
  return error.code === "expression_invalid" ? (error.details as ExpressionPlace | undefined) : undefined;
}
