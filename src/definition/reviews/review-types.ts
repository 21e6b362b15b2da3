import type { CertainError } from "../../expression/certain-errors.js";
import { certainErrors, constantResult, isNeverBoolean } from "../../expression/certain-errors.js";
import { equal } from "../../expression/equal.js";
import { renderCaret } from "../../expression/failure.js";
import type { NodePositions } from "../../expression/parse.js";
import { parse } from "../../expression/parse.js";
import { compileCondition, compileTemplate, expressionsWithin } from "../../expression/template.js";
import type { Definition } from "../../model/definition.js";
import type { Finding } from "../diagnostics.js";
import { expressionsIn } from "../expressions.js";

/**
 * Finds expressions, or parts of them, that cannot be evaluated for any input, and conditions that have the same result,
 * or none, for every input. The latter are not reported where they follow from other `mistakes`.
 */
export function reviewTypes(definition: Definition, mistakes: readonly Finding[] = []): readonly Finding[] {
  return expressionsIn(definition).flatMap(({ path, text, compile }) => {
    const kind = compile === compileTemplate ? "template" : "expression";
    const isCondition = compile === compileCondition && !mistakes.some((each) => equal(each.path, path));
    return expressionsWithin(text, kind).flatMap((expression) =>
      errorsIn(expression.text, isCondition).map(({ at, message, hint }) => {
        const offset = expression.at + at;
        const excerpt = renderCaret({ expression: text, at: offset });
        return { path, offset, severity: "warning" as const, message, hint, excerpt };
      }),
    );
  });
}

/** Whether it follows from warnings about a condition that it never matches. */
export const hasTypeErrors = (condition: string): boolean => errorsIn(condition, true).length > 0;

interface LocatedError extends Pick<CertainError, "message" | "hint"> {
  readonly at: number;
}

function errorsIn(text: string, isCondition: boolean): readonly LocatedError[] {
  const positions: NodePositions = new Map();
  const tree = parse(text, positions);
  const errors = certainErrors(tree).map(({ part, message, hint }) => ({
    at: positions.get(part) ?? 0,
    message: `${message}, whatever the input is`,
    ...(hint !== undefined && { hint }),
  }));
  if (!isCondition) return errors;
  if (isNeverBoolean(tree)) {
    const message = "the condition is never true or false, so it never matches";
    return [{ at: 0, message, hint: "compare it with something, as in `a + b > 10`" }, ...errors];
  }
  const constant = constantResult(tree);
  if (constant === undefined) return errors;
  const message = `the condition reads no field, so it is always ${constant}`;
  const hint = /['"]/.test(text)
    ? "write fields without quotes, as in `order.status == 'paid'`"
    : `write \`${constant}\``;
  return [{ at: 0, message, hint }, ...errors];
}
