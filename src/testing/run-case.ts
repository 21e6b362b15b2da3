import type { Decision } from "../decide/decide.js";
import { assertAboutTool, makeSingleDecision } from "../decide/decide.js";
import type { ReadyDefinition } from "../decide/find.js";
import type { CallState, DecisionRequest } from "../decide/request.js";
import { DecisionError } from "../errors.js";
import type { AuthenticatedCaller } from "../model/record.js";
import type { TestCase } from "./test-cases.js";
import type { TestWorldOptions } from "./test-world.js";
import { testWorld } from "./test-world.js";

/** The outcome of a case: the decision, or the error that ended it. */
export type CaseAnswer =
  | { readonly decision: Decision; readonly error?: undefined }
  | { readonly decision?: undefined; readonly error: DecisionError };

/** Makes the decision of a case, by the same steps as `evaluate`. Nothing is fetched, read or written. */
export async function runCase(
  test: TestCase,
  definition: ReadyDefinition,
  options: TestWorldOptions,
): Promise<CaseAnswer> {
  try {
    assertAboutTool(definition, test.context);
    const decision = await makeSingleDecision(
      definition,
      requestOf(test),
      testWorld(test, definition, options),
      callOf(test),
    );
    return { decision };
  } catch (error) {
    if (error instanceof DecisionError) return { error };
    throw error;
  }
}

function requestOf({ decision, context, facts, strict, workflow_id, session_id }: TestCase): DecisionRequest {
  const { session, caller } = facts;
  const state = session?.state;
  return {
    decision_id: decision,
    // A call that does not send the state of its session gets that of an earlier one.
    context:
      state === undefined || Object.hasOwn(context, "session") ? context : { ...context, session: state },
    strict,
    dry_run: true,
    ...(workflow_id !== undefined && { workflow_id }),
    ...(session_id !== undefined && { session_id }),
    ...(caller !== undefined && { caller: { ...unknownCaller, ...caller } }),
  };
}

/** What a token says at least. */
const unknownCaller: AuthenticatedCaller = {
  subject: "test",
  issuer: "test",
  scopes: [],
  delegated: false,
  actors: [],
};

const callOf = ({ facts, context }: TestCase): CallState => ({
  enriched: new Map(),
  hasKeptState: facts.session?.state !== undefined && !Object.hasOwn(context, "session"),
});
