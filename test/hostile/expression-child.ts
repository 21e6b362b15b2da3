import { DecisionError } from "../../src/errors.js";
import { compile } from "../../src/expression/compile.js";
import { Failure } from "../../src/expression/failure.js";
import { orders, workTime } from "./child-process.js";
import type { HostileExpression } from "./corpus.js";
import { hostileExpressions } from "./corpus.js";

export interface JudgedExpression {
  readonly index: number;
  readonly fate: "refused" | "errored" | "answered" | "crashed";
  readonly answer?: unknown;
  readonly message?: string;
  readonly milliseconds: number;
  /** What the expression left behind where it had no business. */
  readonly traces: readonly string[];
}

const untouched = new Set(Reflect.ownKeys(globalThis));
const ordinary = new Set(Reflect.ownKeys(Object.prototype));

function judge({
  text,
  context = {},
}: HostileExpression): Pick<JudgedExpression, "fate" | "answer" | "message"> {
  try {
    const answer = compile(text).evaluate({ context, input: undefined, facts: {}, system: {} });
    return answer instanceof Failure
      ? { fate: "errored", message: answer.message }
      : { fate: "answered", answer };
  } catch (error) {
    if (error instanceof DecisionError) return { fate: "refused", message: error.message };
    return {
      fate: "crashed",
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

function traces(): readonly string[] {
  const left = (object: object, before: ReadonlySet<PropertyKey>): readonly PropertyKey[] =>
    Reflect.ownKeys(object).filter((key) => !before.has(key));
  return [...left(globalThis, untouched), ...left(Object.prototype, ordinary)].map(String);
}

const { from, begin, say } = orders();
for (const [index, expression] of hostileExpressions.flatMap(({ expressions }) => expressions).entries()) {
  if (index < from) continue;
  begin(index);
  const startedAt = workTime();
  const judged = judge(expression);
  say({
    index,
    ...judged,
    milliseconds: workTime() - startedAt,
    traces: traces(),
  } satisfies JudgedExpression);
}
