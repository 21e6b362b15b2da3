import { evaluate, prepare } from "../../dist/index.js";

const system = { request_time: "2026-11-17T12:00:00.000000Z", request_id: "bench" };

/** A contestant that evaluates a definition of ours, with all that it tells, and gives `answerOf` its outcome. */
export function ours(definition, answerOf) {
  return {
    name: "agent-33, evaluate()",
    gives: "considers every rule; tells what came of each",
    isAsync: false,
    prepare() {
      const prepared = prepare(definition);
      return (context) => answerOf(evaluate(prepared, { context, facts: {}, system, input: undefined }));
    },
  };
}
