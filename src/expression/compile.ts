import { compileExpression } from "filtrex";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { expressionError } from "./expression-error.js";
import { Failure, fail } from "./failure.js";
import { operators } from "./operators.js";
import { parse } from "./parse.js";
import { pathGetter } from "./path.js";
import { writeProgram } from "./program.js";
import { readsOf } from "./reads.js";
import type { Node } from "./syntax.js";

/** An expression ready to run. */
export interface Expression {
  readonly text: string;
  /** The paths it refers to, in the order of their first mention. */
  readonly reads: readonly string[];
  readonly tree: Node;
  /** Its value, or why it has none. Never throws. */
  evaluate(scope: Scope): Json | Failure;
}

/** Checks an expression at once; hands it to filtrex when it first runs. */
export function compile(text: string): Expression {
  const tree = parse(text);
  let run: ((scope: Scope) => Json | Failure) | undefined;
  return {
    text,
    tree,
    reads: readsOf(tree),
    evaluate: (scope) =>
      (run ??= tree.kind === "path" ? readPath(tree.segments) : compileTree(text, tree))(scope),
  };
}

/** Most inputs are a path alone, which filtrex could only hand back to us. */
function readPath(segments: readonly string[]): (scope: Scope) => Json | Failure {
  const get = pathGetter(segments);
  return (scope) => {
    const value = get(scope);
    return value === undefined ? new Failure(missing(segments.join("."))) : value;
  };
}

const missing = (path: string): string => `\`${path}\` is missing`;

function compileTree(text: string, tree: Node): (scope: Scope) => Json | Failure {
  const { source, constants, functions, paths } = writeProgram(tree);
  const run = compileWithFiltrex(text, source, {
    constants,
    extraFunctions: functions,
    operators,
    customProp: (symbol: string, _get: unknown, scope: Scope, type: string) => {
      const path = paths.get(symbol);
      const value = path?.get(scope);
      if (value === undefined && type === "unescaped") fail(missing(path?.name ?? symbol));
      return value;
    },
  });
  return (scope) => answer(run(scope));
}

function compileWithFiltrex(text: string, source: string, options: object): (scope: Scope) => unknown {
  try {
    return compileExpression(source, options) as (scope: Scope) => unknown;
  } catch (error) {
    throw expressionError(text, 0, `the expression cannot be compiled: ${String(error)}`);
  }
}

/** filtrex returns what was thrown, and an Error is truthy: nothing of it may pass for a value. */
function answer(value: unknown): Json | Failure {
  if (value instanceof Failure) return value;
  if (value instanceof Error) return new Failure(value.message);
  if (value === undefined) return new Failure("the expression has no value");
  return value as Json;
}
