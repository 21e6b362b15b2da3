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
import { missing, walk } from "./walk.js";

/** An expression ready to run. */
export interface Expression {
  readonly text: string;
  /** The paths it refers to, in the order of their first mention. */
  readonly reads: readonly string[];
  readonly tree: Node;
  /** Its value, or why it has none. Never throws. */
  evaluate(scope: Scope): Json | Failure;
}

/** Checks an expression at once; hands it to filtrex when it runs for the second time. */
export function compile(text: string): Expression {
  const tree = parse(text);
  let run: Run | undefined;
  let runs = 0;
  return {
    text,
    tree,
    reads: readsOf(tree),
    evaluate(scope) {
      if (run !== undefined) return run(scope);
      if (tree.kind !== "path" && runs++ === 0) return walk(tree, scope);
      run = tree.kind === "path" ? readPath(tree.segments) : compileTree(text, tree);
      return run(scope);
    },
  };
}

type Run = (scope: Scope) => Json | Failure;

/** Most inputs are a path alone, which filtrex could only hand back to us. */
function readPath(segments: readonly string[]): Run {
  const get = pathGetter(segments);
  return (scope) => {
    const value = get(scope);
    return value === undefined ? new Failure(missing(segments.join("."))) : value;
  };
}

/** Exported for the tests, which hold it and `walk` to the same answers. */
export function compileTree(text: string, tree: Node): Run {
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
